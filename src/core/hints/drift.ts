import { jsonChanges, type JsonChange } from '../json-changes.ts';
import type { Claim } from './claim.ts';
import { declaredIn, type Declared } from './declared.ts';
import { HINTS, isCautious } from './hint.ts';
import { resolveHints } from './resolve.ts';
import type { Drift } from './tool-word.ts';

/** One definition of a tool. */
export interface Definition {
  /** SHA-256 in canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** JSON text. */
  readonly text: string;
}

/** How a definition differs from the accepted one; undefined where it does not. */
export function driftOf(accepted: Definition, now: Definition, nowMs: number): Drift | undefined {
  if (accepted.digest === now.digest) return undefined;
  const changes = jsonChanges(accepted.text, now.text);
  return {
    digest: now.digest,
    sinceMs: nowMs,
    changes: boundedChanges(changes),
    dangers: dangersOf(accepted, now, changes),
  };
}

const REWRITTEN: readonly (readonly [member: string, danger: string])[] = [
  ['title', 'its title was rewritten'],
  ['description', 'its description was rewritten'],
  ['inputSchema', 'its input schema was rewritten'],
  ['outputSchema', 'its output schema was rewritten'],
];

function dangersOf(accepted: Definition, now: Definition, changes: readonly JsonChange[]): readonly string[] {
  const [before, after] = [declaredIn(accepted.text), declaredIn(now.text)];
  const touched = new Set(changes.map(({ path }) => memberOf(path)));
  // Where one of the texts is no JSON object, nobody can tell what changed.
  const isOpaque = touched.has('');
  const dangers = REWRITTEN.filter(([member]) => isOpaque || touched.has(member)).map(([, danger]) => danger);
  if (before.title !== after.title && !touched.has('title')) dangers.push('its title was rewritten');
  return [...saferHints(before, after), ...dangers];
}

/** Hints that, by the word of the source alone, look less dangerous than before. */
function saferHints(before: Declared, after: Declared): readonly string[] {
  const [was, is] = [resolveHints(claimsOf(before), ''), resolveHints(claimsOf(after), '')];
  return HINTS.filter(
    (hint) => isCautious(hint, was[hint].effective.value) && !isCautious(hint, is[hint].effective.value),
  ).map((hint) => `it looks safer: ${hint} is ${is[hint].effective.value} now`);
}

function claimsOf({ hints }: Declared): readonly Claim[] {
  return HINTS.flatMap((hint) => {
    const value = hints[hint];
    const claim = { hint, kind: 'declared', origin: '', atMs: 0, digest: '', mayLower: true } as const;
    return value === undefined ? [] : [{ ...claim, value }];
  });
}

function memberOf(path: string): string {
  return /^[\w$-]+/.exec(path)?.[0] ?? (path === '' ? '' : path);
}

/** Beyond these a change is shown as a whole, and a text as its beginning: both are kept for each tool. */
const MOST_CHANGES = 100;
const LONGEST_TEXT = 4_000;

function boundedChanges(changes: readonly JsonChange[]): readonly JsonChange[] {
  if (changes.length > MOST_CHANGES)
    return [...new Set(changes.map(({ path }) => memberOf(path)))]
      .slice(0, MOST_CHANGES)
      .map((path) => ({ path }));
  return changes.map(({ path, before, after }) => ({
    path,
    ...(before !== undefined && { before: beginning(before) }),
    ...(after !== undefined && { after: beginning(after) }),
  }));
}

function beginning(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}
