import { EQUIPPED_ID } from '../../../core/record.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { toToolsetJson } from '../../../core/toolset-json.ts';
import { TOOLSET_LIMITS, type Toolset } from '../../../core/toolset.ts';
import type { Edit } from '../../catalog/record-edit.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { RecordChange, RecordKey } from '../../ports/records.ts';
import type { SessionToolset } from '../../ports/session-toolsets.ts';
import { toEquipEvent, toRemovalEvent, toSaveEvent, type ChangeAuthor } from './toolset-audit.ts';

/** What to write, computed from the current toolsets. */
export type ToolsetEdit = Required<Pick<Edit<undefined>, 'changes' | 'expected' | 'audit'>> &
  Pick<Edit<undefined>, 'sessionToolsets'>;

export const EQUIPPED: RecordKey<'equipped'> = { kind: 'equipped', id: EQUIPPED_ID };

export function toToolsetKey(name: string): RecordKey<'toolset'> {
  return { kind: 'toolset', id: name };
}

export function mergeEdits(...edits: readonly ToolsetEdit[]): ToolsetEdit {
  return {
    changes: edits.flatMap(({ changes }) => changes),
    expected: edits.flatMap(({ expected }) => expected ?? []),
    audit: edits.flatMap(({ audit }) => audit ?? []),
    sessionToolsets: edits.find(({ sessionToolsets }) => sessionToolsets !== undefined)?.sessionToolsets,
  };
}

/** TOOLSET_EXISTS, TOOLSETS_FULL */
export function buildCreateEdit(
  records: RecordReplica,
  toolset: Toolset,
  author: ChangeAuthor,
): Result<ToolsetEdit, Refusal> {
  const { name } = toolset;
  if (records.get('toolset', name) !== undefined) return err({ code: 'TOOLSET_EXISTS', name });
  const limit = TOOLSET_LIMITS.toolsets;
  if (records.all('toolset').length >= limit) return err({ code: 'TOOLSETS_FULL', limit });
  return ok({
    changes: [toSaveChange(toolset)],
    expected: [],
    audit: [toSaveEvent(author, undefined, toolset)],
  });
}

/** Replaces an existing toolset, possibly under a new name. TOOLSET_EXISTS */
export function buildChangeEdit(
  records: RecordReplica,
  there: Toolset,
  { toolset, author }: { readonly toolset: Toolset; readonly author: ChangeAuthor },
): Result<ToolsetEdit, Refusal> {
  if (isSame(toolset, there)) return ok({ changes: [], expected: [toToolsetKey(there.name)], audit: [] });
  const made = { ...toolset, changedMs: author.atMs };
  const audit = [toSaveEvent(author, there, made)];
  if (made.name === there.name) return ok({ changes: [toSaveChange(made)], expected: [], audit });
  if (records.get('toolset', made.name) !== undefined)
    return err({ code: 'TOOLSET_EXISTS', name: made.name });
  const equipped = records.get(EQUIPPED.kind, EQUIPPED.id);
  // Renaming does not count as equipping: the same toolset stays equipped.
  const followed: readonly RecordChange[] =
    equipped?.toolset === there.name ? [{ ...EQUIPPED, body: { ...equipped, toolset: made.name } }] : [];
  return ok({
    changes: [removed(there.name), toSaveChange(made), ...followed],
    expected: followed.length > 0 ? [] : [EQUIPPED],
    audit,
    sessionToolsets: { kind: 'rename', from: there.name, to: made.name },
  });
}

/** `by`: see `SessionToolsetChange`. */
export function buildRemovalEdit(
  records: RecordReplica,
  { name }: Toolset,
  { author, by }: { readonly author: ChangeAuthor; readonly by: string | undefined },
): ToolsetEdit {
  const equipped = records.get(EQUIPPED.kind, EQUIPPED.id);
  const isEquipped = equipped?.toolset === name;
  return {
    changes: [removed(name), ...(isEquipped ? [toEquipChange(records, undefined)] : [])],
    // An objection may depend on whether the toolset is equipped, so that must not change meanwhile.
    expected: isEquipped ? [] : [EQUIPPED],
    audit: [toRemovalEvent(author, name, records.get('toolset', name))],
    sessionToolsets: { kind: 'remove', toolset: name, ...(by !== undefined && { by }), nowMs: author.atMs },
  };
}

export function buildEquipEdit(
  records: RecordReplica,
  name: string | undefined,
  author: ChangeAuthor,
): ToolsetEdit {
  const event = toEquipEvent(author, records.get(EQUIPPED.kind, EQUIPPED.id)?.toolset, name);
  return {
    changes: [toEquipChange(records, name)],
    expected: name === undefined ? [] : [toToolsetKey(name)],
    audit: event === undefined ? [] : [event],
  };
}

/** Equips a toolset for one session. */
export function buildSessionEquipEdit(session: SessionToolset, nowMs: number): ToolsetEdit {
  const { toolset } = session;
  return {
    changes: [],
    expected: toolset === undefined ? [] : [toToolsetKey(toolset)],
    audit: [],
    sessionToolsets: { kind: 'equip', session, nowMs },
  };
}

/** Equips a toolset, or none if undefined. */
export function toEquipChange(records: RecordReplica, name: string | undefined): RecordChange<'equipped'> {
  const equippings = (records.get(EQUIPPED.kind, EQUIPPED.id)?.equippings ?? 0) + 1;
  return { ...EQUIPPED, body: { ...(name !== undefined && { toolset: name }), equippings } };
}

function toSaveChange(toolset: Toolset): RecordChange<'toolset'> {
  return { ...toToolsetKey(toolset.name), body: toolset };
}

function removed(name: string): RecordChange<'toolset'> {
  return { ...toToolsetKey(name), body: undefined };
}

/** Members of the JSON have a fixed order. */
function isSame(toolset: Toolset, there: Toolset): boolean {
  return toolset === there || JSON.stringify(toToolsetJson(toolset)) === JSON.stringify(toToolsetJson(there));
}
