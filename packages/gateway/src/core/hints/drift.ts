import { parseExactJson, hasDuplicateKeys } from '@assay-mcp/kit/canonical-json';
import { compareJsonTexts, type JsonChange } from '../json-changes.ts';
import { readAspectParts, type DefinitionSource, type Parts } from './aspects.ts';
import { type Hint, HINTS, isCautious } from '@assay-mcp/kit/hint';
import { FACTS_MEMBER } from './tool-facts.ts';
import { shorten } from '@assay-mcp/kit/shorten';

/** The record of a tool: its definition, plus Assay's facts about a tool that it builds. */
export interface Definition {
  /** SHA-256 of the canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** JSON text from `serializeDeclared`. */
  readonly text: string;
}

/** How a definition differs from the accepted one. */
export interface Drift {
  /** SHA-256 of the current definition. */
  readonly digest: string;
  readonly sinceMs: number;
  readonly changes: readonly JsonChange[];
  /** Why the change needs a review; empty if it is harmless. */
  readonly risks: readonly DriftRisk[];
}

/** A reason to review a change. Hint values are the resolved ones, from the source's claims alone. */
export type DriftRisk =
  | { readonly code: 'hint_raised' | 'hint_lowered'; readonly hint: Hint; readonly value: boolean }
  | { readonly code: Exclude<RiskCode, 'hint_raised' | 'hint_lowered'> };

export type RiskCode = DangerCode | ProseCode | 'meta';

/**
 * The tool may behave differently from the accepted one, or claims to. `unreadable`: one of the definitions is not a
 * JSON object. `ambiguous`: readers would disagree on its meaning.
 */
type DangerCode =
  | 'hint_raised'
  | 'hint_lowered'
  | 'hint_like'
  | 'input_schema'
  | 'name'
  | 'request'
  | 'target'
  | 'unreadable'
  | 'ambiguous';

/** The text that people and models read changed. It may be misleading, but says nothing about behaviour. */
type ProseCode = 'title' | 'description' | 'schema_text' | 'icons' | 'output_schema';

/** Whether a change of prose suspends overrides that lower caution or is only shown: the setting `drift.prose`. */
export type ProsePolicy = 'flag' | 'suspend';

/** `dangerous` suspends overrides that lower caution, `review` asks for a review, `harmless` is only shown. */
export type DriftSeverity = 'dangerous' | 'review' | 'harmless';

const PARTS: readonly (readonly [keyof Parts, Exclude<RiskCode, 'hint_raised' | 'hint_lowered'>])[] = [
  ['hintLike', 'hint_like'],
  ['name', 'name'],
  ['inputSchema', 'input_schema'],
  ['request', 'request'],
  ['target', 'target'],
  ['title', 'title'],
  ['description', 'description'],
  ['schemaText', 'schema_text'],
  ['icons', 'icons'],
  ['outputSchema', 'output_schema'],
  ['meta', 'meta'],
];
const PROSE: ReadonlySet<RiskCode> = new Set<ProseCode>([
  'title',
  'description',
  'schema_text',
  'icons',
  'output_schema',
]);

/**
 * Compares a definition with the accepted one. Undefined if they are equal or differ only in a target that the operator
 * chose.
 */
export function compareDefinitions(
  accepted: Definition,
  now: Definition,
  { nowMs, ...source }: DefinitionSource & { readonly nowMs: number },
): Drift | undefined {
  if (accepted.digest === now.digest) return undefined;
  const changes = compareJsonTexts(accepted.text, now.text);
  const risks = hasDuplicateKeys(now.text, parseExactJson(now.text))
    ? [{ code: 'ambiguous' } as const]
    : risksOf(readAspectParts(accepted.text, source), readAspectParts(now.text, source));
  if (source.isTargetChosen === true && changes.every(({ path }) => path === TARGET)) return undefined;
  return { digest: now.digest, sinceMs: nowMs, changes: boundedChanges(changes), risks };
}

const TARGET = `${FACTS_MEMBER}.target`;

function risksOf(before: Parts | undefined, after: Parts | undefined): readonly DriftRisk[] {
  if (before === undefined || after === undefined) return [{ code: 'unreadable' }];
  const hints = HINTS.filter((hint) => before.hints[hint] !== after.hints[hint]).map((hint): DriftRisk => {
    const value = after.hints[hint];
    return { code: isCautious(hint, value) ? 'hint_raised' : 'hint_lowered', hint, value };
  });
  const others = PARTS.filter(([part]) => before[part] !== after[part]).map(([, code]) => ({ code }));
  return [...hints, ...others];
}

export function isProse({ code }: DriftRisk): boolean {
  return PROSE.has(code);
}

/** Whether only text that people and models read has changed. */
export function isProseAlone({ risks }: Drift): boolean {
  return risks.length > 0 && risks.every(isProse);
}

export function isDangerous(risk: DriftRisk, prose: ProsePolicy): boolean {
  return isProse(risk) ? prose === 'suspend' : risk.code !== 'meta';
}

export function computeSeverity({ risks }: Drift, prose: ProsePolicy): DriftSeverity {
  if (risks.length === 0) return 'harmless';
  return risks.some((risk) => isDangerous(risk, prose)) ? 'dangerous' : 'review';
}

const UNKNOWN: ReadonlySet<RiskCode> = new Set(['unreadable', 'ambiguous']);

/** Whether the source states a hint less cautiously than in the accepted definition. */
export function isLowered({ risks }: Drift, hint: Hint): boolean {
  return risks.some((risk) => UNKNOWN.has(risk.code) || (risk.code === 'hint_lowered' && risk.hint === hint));
}

/** Hints that the source states more cautiously than in the accepted definition. */
export function listRaisedHints({ risks }: Drift): readonly Hint[] {
  return risks.flatMap((risk) => (risk.code === 'hint_raised' ? [risk.hint] : []));
}

/** Drift is stored for each tool. Beyond these limits only the changed members are listed, and texts are truncated. */
const DRIFT_LIMITS: {
  readonly changes: 100;
  readonly pathLength: 500;
  readonly textLength: 4_000;
  /** Of all texts of a tool together. Further changes are listed without their texts. */
  readonly textsLength: 65_536;
} = { changes: 100, pathLength: 500, textLength: 4_000, textsLength: 65_536 };

function boundedChanges(changes: readonly JsonChange[]): readonly JsonChange[] {
  const { changes: limit, pathLength, textLength, textsLength } = DRIFT_LIMITS;
  if (changes.length > limit) {
    const members = new Set(changes.map(({ path }) => shorten(memberOf(path), pathLength)));
    return [...members].slice(0, limit).map((path) => ({ path }));
  }
  let room: number = textsLength;
  return changes.map((change) => {
    const path = shorten(change.path, pathLength);
    const before = change.before && shorten(change.before, textLength);
    const after = change.after && shorten(change.after, textLength);
    const length = (before?.length ?? 0) + (after?.length ?? 0);
    if (length > room) return { path };
    room -= length;
    return { path, ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  });
}

function memberOf(path: string): string {
  return /^[\w$-]+/.exec(path)?.[0] ?? path;
}
