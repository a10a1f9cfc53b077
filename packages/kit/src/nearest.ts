/** The known word closest to a mistyped one. Undefined if none is close enough. */
export function findNearest(word: string, known: readonly string[]): string | undefined {
  const limit = Math.max(2, Math.floor(word.length / 4));
  if (word.length > MAX_LENGTH) return undefined;
  let best: { readonly candidate: string; readonly distance: number } | undefined;
  for (const candidate of known) {
    const distance = countEdits(word.toLowerCase(), candidate.toLowerCase());
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { candidate, distance };
  }
  return best?.candidate;
}

/**
 * The known word that a wrong one stands for: the closest one, else one that it abbreviates or is part of it, as `args`
 * and `tool_arguments` are of `arguments`.
 */
export function findMeant(word: string, known: readonly string[]): string | undefined {
  const nearest = findNearest(word, known);
  if (nearest !== undefined || word.length > MAX_LENGTH) return nearest;
  const parts = word.toLowerCase().split(/[^a-z0-9]+/);
  return (
    known.find((candidate) => parts.includes(candidate.toLowerCase())) ??
    known.find((candidate) => isAbbreviated(parts.join(''), candidate.toLowerCase()))
  );
}

const MIN_ABBREVIATION_LENGTH = 3;

/** Whether the letters of the short form occur in the word in this order, beginning with its first. */
function isAbbreviated(short: string, word: string): boolean {
  if (short.length < MIN_ABBREVIATION_LENGTH || !word.startsWith(short.charAt(0))) return false;
  let at = 0;
  for (const letter of word) if (letter === short[at]) at += 1;
  return at === short.length;
}

/** Bounds the time, which grows with the length of both words. */
const MAX_LENGTH = 100;

/** Levenshtein distance. Its time grows with the length of both words. */
export function countEdits(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let at = 1; at <= from.length; at += 1) {
    const next = [at];
    for (let other = 1; other <= to.length; other += 1) {
      const replaced = (row[other - 1] ?? 0) + (from[at - 1] === to[other - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[other] ?? 0) + 1, (next[other - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
