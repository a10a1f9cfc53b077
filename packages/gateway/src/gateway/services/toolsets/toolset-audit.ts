import type { AuditEvent } from '../../../core/audit-event.ts';
import { hashJson } from '@assay-mcp/kit/digest';
import { toToolsetJson, type ToolsetJson } from '../../../core/toolset-json.ts';
import type { Toolset } from '../../../core/toolset.ts';

/** The subject that made a change, and the time. */
export interface ChangeAuthor {
  readonly by: string;
  readonly atMs: number;
  /** Absent: an operator. */
  readonly peer?: 'model' | undefined;
}

/**
 * The audit event for a created or changed toolset. For a change, tools and notes that stay the same are omitted:
 * adding a note must not log a thousand tools.
 */
export function toSaveEvent(author: ChangeAuthor, former: Toolset | undefined, toolset: Toolset): AuditEvent {
  if (former === undefined)
    return { ...begin(author, 'toolset.create', toolset.name), after: auditedWhole(toolset) };
  const action = former.name === toolset.name ? 'toolset.update' : 'toolset.rename';
  const [before, after] = [toToolsetJson(former), toToolsetJson(toolset)];
  return {
    ...begin(author, action, toolset.name),
    before: { ...before, ...differing(before, after) },
    after: { ...after, ...differing(after, before) },
  };
}

export function toRemovalEvent(author: ChangeAuthor, name: string, former: Toolset | undefined): AuditEvent {
  const event = begin(author, 'toolset.delete', name);
  return former === undefined ? event : { ...event, before: auditedWhole(former) };
}

/** Undefined if the equipped toolset does not change. */
export function toEquipEvent(
  author: ChangeAuthor,
  former: string | undefined,
  name: string | undefined,
): AuditEvent | undefined {
  if (former === name) return undefined;
  const [action, target] = name === undefined ? (['unequip', former] as const) : (['equip', name] as const);
  return {
    ...begin(author, `toolset.${action}`, target ?? ''),
    ...(former !== undefined && { before: { equipped: former } }),
    ...(name !== undefined && { after: { equipped: name } }),
  };
}

function begin({ by, atMs, peer }: ChangeAuthor, action: string, name: string): AuditEvent {
  const target = { kind: 'toolset', id: name, name } as const;
  return { atMs, subject: by, action, target, ...(peer && { peer }) };
}

/** A toolset made by a model without its content, so that a model cannot fill the store by making and deleting them. */
function auditedWhole(toolset: Toolset): unknown {
  const audited = toToolsetJson(toolset);
  if (toolset.maker?.by !== 'model') return audited;
  const { tools, toolNotes, ...rest } = audited;
  const digest = hashJson(JSON.stringify(toolset));
  return { ...rest, toolCount: tools.length, notedToolCount: toolNotes.length, digest };
}

type Parts = Pick<ToolsetJson, 'tools' | 'toolNotes'>;

function differing(kept: Parts, other: Parts): Parts {
  return { tools: absentIn(other.tools, kept.tools), toolNotes: absentIn(other.toolNotes, kept.toolNotes) };
}

function absentIn<T>(others: readonly T[], all: readonly T[]): readonly T[] {
  const there = new Set(others.map((one) => JSON.stringify(one)));
  return all.filter((one) => !there.has(JSON.stringify(one)));
}
