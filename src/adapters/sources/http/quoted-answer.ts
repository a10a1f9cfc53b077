/** In characters, which a model reads to learn why something failed. */
const LONGEST = 10_000;

/** What a server said, in a block of its own, and no more of it than helps. */
export function quotedAnswer(text: string): string {
  if (text.length <= LONGEST) return `It said:\n\n${text}`;
  const start = text.slice(0, LONGEST).replace(/[\ud800-\udbff]$/, '');
  return `It said:\n\n${start}\n\n[cut after ${LONGEST} of ${text.length} characters]`;
}
