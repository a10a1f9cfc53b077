import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { type Toolset, type ToolsetTool, withTools } from '../../../core/toolset.ts';
import type { Toolsets } from './toolsets.ts';

/** The members that each imported server adds, by server. */
export type ImportedMembers = ReadonlyMap<string, readonly ToolsetTool[]>;

export interface ImportedToolset {
  readonly name: string;
  readonly change: 'created' | 'extended' | 'same';
  /** Number of members added. */
  readonly added: number;
  /** Number of members now. */
  readonly members: number;
  /** The toolset that is equipped now. */
  readonly equipped: string | undefined;
}

/**
 * Saves imported members as a toolset. Equips it unless another one is equipped, whose clients would lose their tools.
 * An existing toolset gets only servers of which it has no tools, so that tools removed by an operator stay removed.
 * Errors: TOOLSET_FULL, TOOLSETS_FULL, STORE_UNAVAILABLE.
 */
export async function saveImported(
  toolsets: Toolsets,
  { name, members, by }: { readonly name: string; readonly members: ImportedMembers; readonly by: string },
): Promise<Result<ImportedToolset, Refusal>> {
  const equip = toolsets.equipped === undefined;
  if (toolsets.find(name) === undefined) {
    const full = withTools({ ...EMPTY, name }, [...members.values()].flat());
    const created = full.ok ? await toolsets.create(full.value, { by, equip }) : full;
    // Another process may have created it meanwhile.
    if (created.ok || created.error.code !== 'TOOLSET_EXISTS')
      return created.ok ? ok(outcome(toolsets, created.value, undefined)) : err(created.error);
  }
  const extended = await toolsets.change(
    name,
    (toolset) => {
      const after = withTools(toolset, newMembers(toolset, members));
      return after.ok ? ok({ toolset: after.value, value: { before: toolset, after: after.value } }) : after;
    },
    by,
  );
  if (!extended.ok) return extended;
  const equipped = equip ? await toolsets.equip(name, by) : ok(undefined);
  if (!equipped.ok) return equipped;
  const { before, after } = extended.value;
  return ok(outcome(toolsets, after, before));
}

const EMPTY = { tools: [], toolNotes: [], createdMs: 0, changedMs: 0 };

function newMembers({ tools }: Toolset, members: ImportedMembers): readonly ToolsetTool[] {
  const isIn = (server: string): boolean =>
    tools.some(({ namespacedName }) => namespacedName.startsWith(`${server}.`));
  return [...members].flatMap(([server, brought]) => (isIn(server) ? [] : brought));
}

function outcome(toolsets: Toolsets, after: Toolset, before: Toolset | undefined): ImportedToolset {
  const added = after.tools.length - (before?.tools.length ?? 0);
  return {
    name: after.name,
    change: before === undefined ? 'created' : added === 0 ? 'same' : 'extended',
    added,
    members: after.tools.length,
    equipped: toolsets.equipped?.name,
  };
}
