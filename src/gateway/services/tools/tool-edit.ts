import { riskText } from '../../../core/hints/drift-text.ts';
import { digestOfJson } from '../../../core/digest.ts';
import { type Hint, HINTS, isContradiction, type SaidHints } from '../../../core/hints/hint.ts';
import {
  isInForce,
  type Circumstances,
  type Override,
  type ToolWord,
} from '../../../core/hints/tool-word.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { WordChange } from '../../ports/words.ts';
import type { Lowering } from '../../catalog/words.ts';

/** What an operator wants of one tool; absent: it stays. Null returns a hint, or the title, to what its server says. */
export interface ToolPatch {
  readonly annotations?: AnnotationPatch | undefined;
  readonly title?: string | null | undefined;
  readonly enabled?: boolean | undefined;
  /** Why, for who reads it later. */
  readonly reason?: string | undefined;
}

export interface AnnotationPatch {
  /** Whether what is not named returns to what its server says. */
  readonly replaces: boolean;
  readonly hints: Readonly<Partial<Record<Hint, boolean | null>>>;
  readonly title?: string | null | undefined;
}

export interface Wishing {
  readonly wish: ToolPatch;
  /** Who wishes it. */
  readonly author: string;
  readonly nowMs: number;
  /** The definition as it is now. */
  readonly now: Circumstances;
  /** What its server says. */
  readonly declared: SaidHints;
}

/** The word with what is wished; the same word where nothing changes. HINTS_CONTRADICT */
export function withPatch(word: ToolWord, wishing: Wishing): Result<ToolWord, Refusal> {
  const { wish, declared } = wishing;
  const overrides = overridesWith(word, wishing);
  // What a server says by itself is no fault of who takes his own words back.
  const isOld = contradicts(word.overrides, declared) && !asksForOne(wish);
  if (wish.annotations !== undefined && contradicts(overrides, declared) && !isOld)
    return err({ code: 'HINTS_CONTRADICT', tool: word.name });
  const { title: _, isDisabled: __, ...rest } = word;
  const title = titleWith(word, wish);
  const isDisabled = wish.enabled === undefined ? word.isDisabled : !wish.enabled;
  const changed: ToolWord = {
    ...rest,
    overrides,
    ...(title !== undefined && { title }),
    ...(isDisabled === true && { isDisabled }),
  };
  return ok(isSame(word, changed) ? word : changed);
}

/** How what is said of a tool joins another change. */
export interface Saying {
  readonly also: readonly WordChange[];
  readonly lowers?: Lowering | undefined;
}

/** That a change disables a tool; undefined where it does not. */
export function disablingOf(before: ToolWord, after: ToolWord, name: string): Lowering | undefined {
  if (after.isDisabled !== true || before.isDisabled === true) return undefined;
  return { word: { kind: 'tool', id: before.id, body: { ...before, isDisabled: true } }, kind: 'tool', name };
}

function contradicts(overrides: ToolWord['overrides'], declared: SaidHints): boolean {
  const said = HINTS.map((hint) => [hint, overrides[hint]?.value ?? declared[hint]]);
  return isContradiction(Object.fromEntries(said) as SaidHints); // every hint was visited
}

function asksForOne({ annotations }: ToolPatch): boolean {
  return annotations?.hints.readOnlyHint === true || annotations?.hints.destructiveHint === true;
}

function overridesWith(word: ToolWord, wishing: Wishing): ToolWord['overrides'] {
  const { annotations } = wishing.wish;
  if (annotations === undefined) return word.overrides;
  const before = annotations.replaces ? {} : word.overrides;
  const kept = Object.entries(before).filter(([hint]) => annotations.hints[hint as Hint] === undefined);
  const given = HINTS.flatMap((hint) => {
    const value = annotations.hints[hint];
    if (typeof value !== 'boolean') return [];
    const said = word.overrides[hint];
    const isCounting = said !== undefined && isInForce(hint, said, wishing.now);
    return [[hint, overrideWith(value, isCounting ? said : undefined, wishing)] as const];
  });
  return Object.fromEntries([...kept, ...given]);
}

/** Who says again what is said already, and counts, changes nothing. */
function overrideWith(value: boolean, said: Override | undefined, wishing: Wishing): Override {
  const { author, nowMs: atMs, now, wish } = wishing;
  const { reason } = wish;
  const isSaid = said?.value === value && (reason === undefined || said.reason === reason);
  if (isSaid) return said;
  const { digest, aspects } = now;
  return { value, author, atMs, digest, seen: aspects(), ...(reason !== undefined && { reason }) };
}

function titleWith(word: ToolWord, { title, annotations }: ToolPatch): string | undefined {
  const wished = title === undefined ? annotations?.title : title;
  return wished === undefined ? word.title : (wished ?? undefined);
}

function isSame(one: ToolWord, other: ToolWord): boolean {
  return digestOfJson(JSON.stringify(one)) === digestOfJson(JSON.stringify(other));
}

/** What an operator says of a tool, as it is recorded. */
export function saidIn({ overrides, title, isDisabled, drift }: ToolWord): Readonly<Record<string, unknown>> {
  const hints = Object.fromEntries(Object.entries(overrides).map(([hint, { value }]) => [hint, value]));
  return {
    annotations: hints,
    ...(title !== undefined && { title }),
    enabled: isDisabled !== true,
    ...(drift !== undefined && { drift: drift.risks.map(riskText) }),
  };
}
