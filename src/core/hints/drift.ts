import { hasTwins } from '../canonical-json.ts';
import { jsonChanges, type JsonChange } from '../json-changes.ts';
import type { Claim } from './claim.ts';
import { declaredIn } from './declared.ts';
import { HINTS, isCautious } from './hint.ts';
import { inferFromMethod } from './infer.ts';
import { resolveHints } from './resolve.ts';
import type { Drift } from './tool-word.ts';

/** One definition of a tool. */
export interface Definition {
  /** SHA-256 in canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** JSON text. */
  readonly text: string;
}

/** When it was, and of whom: of a tool that Assay makes itself its request counts too. */
export interface Seen {
  readonly nowMs: number;
  readonly isMade: boolean;
}

/** How a definition differs from the accepted one; undefined where it does not. */
export function driftOf(accepted: Definition, now: Definition, seen: Seen): Drift | undefined {
  if (accepted.digest === now.digest) return undefined;
  const changes = jsonChanges(accepted.text, now.text);
  return {
    digest: now.digest,
    sinceMs: seen.nowMs,
    changes: boundedChanges(changes),
    dangers: [
      ...saferHints(accepted, now, seen),
      ...(seen.isMade && changes.some(({ path }) => isOfMaking(path)) ? [ANOTHER_DOING] : []),
      ...rewritten(accepted, now, changes),
      ...(hasTwins(now.text) ? [AMBIGUOUS] : []),
    ],
  };
}

/** What a tool that Assay makes does may be another thing under the same words. */
export const ANOTHER_DOING: string = 'it sends another request, or is of another module';

/** Clients do not get such a definition, and an operator should know why. */
const AMBIGUOUS = 'an object in it holds the same key twice, so that readers may understand it differently';

/** Whether a change is one of what Assay itself says of how a tool is made. */
function isOfMaking(path: string): boolean {
  return path === '_meta' || /^_meta\W+assay\//.test(path);
}

const REWRITTEN: readonly (readonly [member: string, danger: string])[] = [
  ['title', 'its title was rewritten'],
  ['description', 'its description was rewritten'],
  ['inputSchema', 'its input schema was rewritten'],
  ['outputSchema', 'its output schema was rewritten'],
];

function rewritten(accepted: Definition, now: Definition, changes: readonly JsonChange[]): readonly string[] {
  const [before, after] = [declaredIn(accepted.text), declaredIn(now.text)];
  const touched = new Set(changes.map(({ path }) => memberOf(path)));
  // Where one of the texts is no JSON object, nobody can tell what changed.
  const isOpaque = touched.has('');
  const dangers = REWRITTEN.filter(([member]) => isOpaque || touched.has(member)).map(([, danger]) => danger);
  if (before.title !== after.title && !touched.has('title')) dangers.push('its title was rewritten');
  return dangers;
}

/** Hints that, by the word of the source alone, look less dangerous than before. */
function saferHints(before: Definition, after: Definition, { isMade }: Seen): readonly string[] {
  const [was, is] = [resolveHints(claimsIn(before, isMade), ''), resolveHints(claimsIn(after, isMade), '')];
  return HINTS.filter(
    (hint) => isCautious(hint, was[hint].effective.value) && !isCautious(hint, is[hint].effective.value),
  ).map((hint) => `it looks safer: ${hint} is ${is[hint].effective.value} now`);
}

function claimsIn({ text }: Definition, isMade: boolean): readonly Claim[] {
  const { hints, method } = declaredIn(text);
  const inferred = isMade && method !== undefined ? inferFromMethod(method)?.hints : undefined;
  return HINTS.flatMap((hint) => {
    const claim = { hint, origin: '', atMs: 0, digest: '', mayLower: true };
    const [declared, followed] = [hints[hint], inferred?.[hint]];
    return [
      ...(declared === undefined ? [] : [{ ...claim, kind: 'declared' as const, value: declared }]),
      ...(followed === undefined ? [] : [{ ...claim, kind: 'inferred' as const, value: followed }]),
    ];
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
