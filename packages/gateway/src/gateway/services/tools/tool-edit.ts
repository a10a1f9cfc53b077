import { SUGGESTED } from '../../../core/hints/suggest-hints.ts';
import type { AuditEvent } from '../../../core/audit-event.ts';
import { formatRisk } from '../../../core/hints/drift-text.ts';
import type { Confirm } from '../../../core/confirm.ts';
import { hashJson } from '@assay-mcp/kit/digest';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import type { ToolSettings } from '../../../api/tool.ts';
import { type Hint, HINTS, isContradiction, type DeclaredHints } from '@assay-mcp/kit/hint';
import {
  areTagsInForce,
  isCacheInForce,
  isConfirmInForce,
  isInForce,
  type CallChoice,
  type CurrentDefinition,
  type Override,
  type ToolRecord,
} from '../../../core/hints/tool-record.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { getDeclared } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import type { Edit, Lowering } from '../../catalog/record-edit.ts';
import type { RecordChange } from '../../ports/records.ts';

/** An operator's patch of one tool. Absent members stay. Null restores the server's value, or what the settings say. */
export interface ToolPatch extends Omit<ToolSettings, 'annotations' | 'confirm' | 'cacheMs'> {
  readonly annotations?: AnnotationPatch | undefined;
  readonly description?: string | null | undefined;
  readonly confirm?: Confirm | null | undefined;
  readonly cacheMs?: number | null | undefined;
}

export interface AnnotationPatch {
  /** Whether hints not named return to the server's values. */
  readonly replaces: boolean;
  readonly hints: Readonly<Partial<Record<Hint, boolean | null>>>;
  readonly title?: string | null | undefined;
}

export interface PatchOptions {
  readonly patch: ToolPatch;
  readonly author: string;
  readonly nowMs: number;
  /** The current definition. */
  readonly now: CurrentDefinition;
  /** Hints that the server declares. */
  readonly declared: DeclaredHints;
}

/**
 * Normalizes the patch of a listed tool: setting the server's own name or description restores it, and setting the
 * current one changes nothing. TOOL_EXISTS: another tool of the server has the name.
 */
export function normalizePatch(
  patch: ToolPatch,
  entry: Entry,
  entries: readonly Entry[],
): Result<ToolPatch, Refusal> {
  const name = patch.name === entry.name ? null : patch.name === entry.key ? undefined : patch.name;
  const isTaken = entries.some(
    ({ server, name: own, settings }) =>
      server === entry.server && own !== entry.name && (settings?.name ?? own) === name,
  );
  if (typeof name === 'string' && isTaken) return err({ code: 'TOOL_EXISTS', name });
  const isDeclared = patch.description === getDeclared(entry.definition).description;
  return ok({ ...patch, name, description: isDeclared ? null : patch.description });
}

/** The patched record, or the same object if nothing changes. Error: HINTS_CONTRADICT. */
export function applyPatch(record: ToolRecord, options: PatchOptions): Result<ToolRecord, Refusal> {
  const { patch, declared } = options;
  const overrides = overridesWith(record, options);
  // An earlier contradiction does not block a patch that sets neither hint to true.
  const isOld = contradicts(record.overrides, declared) && !asksForOne(patch);
  if (patch.annotations !== undefined && contradicts(overrides, declared) && !isOld)
    return err({ code: 'HINTS_CONTRADICT', tool: record.name });
  const isDisabled = patch.enabled === undefined ? record.isDisabled : !patch.enabled;
  const changed = withoutUndefined<ToolRecord>({
    ...record,
    overrides,
    title: titleWith(record, patch),
    publicName: patch.name === undefined ? record.publicName : (patch.name ?? undefined),
    description: descriptionWith(record, options),
    confirm: choiceWith(record.confirm, { ...options, given: patch.confirm, isInForce: isConfirmInForce }),
    cacheMs: choiceWith(record.cacheMs, { ...options, given: patch.cacheMs, isInForce: isCacheInForce }),
    tags: choiceWith(record.tags, { ...options, given: tagsIn(patch), isInForce: areTagsInForce }),
    isDisabled: isDisabled === true ? true : undefined,
  });
  return ok(isSame(record, changed) ? record : changed);
}

/** A change of a tool's record that joins another transaction. */
export interface ToolChange extends Pick<Edit<undefined>, 'lowers'> {
  readonly changes: readonly RecordChange<'tool'>[];
  readonly audit: readonly AuditEvent[];
}

/** Describes the disabling of a tool. Undefined if the change does not disable it. */
export function findDisabling(before: ToolRecord, after: ToolRecord, name: string): Lowering | undefined {
  if (after.isDisabled !== true || before.isDisabled === true) return undefined;
  return {
    record: { kind: 'tool', id: before.id, body: { ...before, isDisabled: true } },
    kind: 'tool',
    name,
  };
}

function contradicts(overrides: ToolRecord['overrides'], declared: DeclaredHints): boolean {
  const current = HINTS.map((hint) => [hint, overrides[hint]?.value ?? declared[hint]]);
  return isContradiction(Object.fromEntries(current) as DeclaredHints); // every hint was visited
}

function asksForOne({ annotations }: ToolPatch): boolean {
  return annotations?.hints.readOnlyHint === true || annotations?.hints.destructiveHint === true;
}

function overridesWith(record: ToolRecord, options: PatchOptions): ToolRecord['overrides'] {
  const { annotations } = options.patch;
  if (annotations === undefined) return record.overrides;
  const before = annotations.replaces ? {} : record.overrides;
  const kept = Object.entries(before).filter(([hint]) => annotations.hints[hint as Hint] === undefined);
  const given = HINTS.flatMap((hint) => {
    const value = annotations.hints[hint];
    if (typeof value !== 'boolean') return [];
    const current = record.overrides[hint];
    const isCounting = current !== undefined && isInForce(hint, current, options.now);
    return [[hint, overrideWith(value, isCounting ? current : undefined, options)] as const];
  });
  return Object.fromEntries([...kept, ...given]);
}

/** Repeating an override that is in force changes nothing. */
function overrideWith(value: boolean, current: Override | undefined, options: PatchOptions): Override {
  const { author, nowMs: atMs, now, patch } = options;
  const { reason } = patch;
  const isRepeated = current?.value === value && (reason === undefined || current.reason === reason);
  if (isRepeated) return current;
  const { digest, aspects } = now;
  // A suggestion was made from all words of the definition, so it holds for no other text.
  const seen = reason === SUGGESTED ? {} : { seen: aspects() };
  return { value, author, atMs, digest, ...seen, ...(reason !== undefined && { reason }) };
}

function titleWith(record: ToolRecord, { title, annotations }: ToolPatch): string | undefined {
  const requested = title === undefined ? annotations?.title : title;
  return requested === undefined ? record.title : (requested ?? undefined);
}

function descriptionWith(
  { description }: ToolRecord,
  { patch, now }: PatchOptions,
): ToolRecord['description'] {
  if (patch.description === undefined || patch.description === description?.text) return description;
  return patch.description === null ? undefined : { text: patch.description, seen: now.aspects().prose };
}

interface GivenChoice<T> extends Pick<PatchOptions, 'now'> {
  readonly given: T | null | undefined;
  readonly isInForce: (choice: CallChoice<T>, now: CurrentDefinition) => boolean;
}

/** Repeating a choice that is in force changes nothing. */
function choiceWith<T>(
  before: CallChoice<T> | undefined,
  { given, now, isInForce }: GivenChoice<T>,
): CallChoice<T> | undefined {
  if (given === undefined) return before;
  if (given === null) return undefined;
  const isRepeated = before?.value === given && isInForce(before, now);
  return isRepeated ? before : { value: given, digest: now.digest, seen: now.aspects() };
}

function tagsIn({ tags }: ToolPatch): readonly string[] | null | undefined {
  if (tags === undefined || tags === null) return tags;
  return tags.length === 0 ? null : [...new Set(tags)];
}

function isSame(one: ToolRecord, other: ToolRecord): boolean {
  return hashJson(JSON.stringify(one)) === hashJson(JSON.stringify(other));
}

/** What an operator set for a tool, for the audit log. */
export function toAuditedTool({
  overrides,
  title,
  publicName,
  description,
  confirm,
  cacheMs,
  tags,
  isDisabled,
  drift,
}: ToolRecord): Readonly<Record<string, unknown>> {
  const hints = Object.fromEntries(Object.entries(overrides).map(([hint, { value }]) => [hint, value]));
  return withoutUndefined({
    annotations: hints,
    title,
    name: publicName,
    description: description?.text,
    confirm: confirm?.value,
    cacheMs: cacheMs?.value,
    tags: tags?.value,
    enabled: isDisabled !== true,
    drift: drift?.risks.map(formatRisk),
  });
}
