import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { toolsetJson } from '../../../core/toolset-json.ts';
import { TOOLSET_LIMITS, type Toolset } from '../../../core/toolset.ts';
import type { Commit, Committed } from '../../ports/commit.ts';
import type { StoredToolset, ToolsetNews } from '../../ports/toolsets.ts';
import { deedOfEquipping, deedOfRemoval, deedOfSaving, type Doing } from './toolset-audit.ts';

/** The toolsets as last read. */
export interface ToolsetState {
  readonly stored: ReadonlyMap<string, StoredToolset>;
  readonly equipped: string | undefined;
  readonly equippings: number | undefined;
}

export const NOTHING: Commit = { changes: [], expectedRevisions: [], audit: [] };

export function joined(...commits: readonly Commit[]): Commit {
  return {
    changes: commits.flatMap(({ changes }) => changes),
    expectedRevisions: commits.flatMap(({ expectedRevisions }) => expectedRevisions),
    audit: commits.flatMap(({ audit }) => audit),
  };
}

/** Keeps toolsets as new ones, or in the place of those of their names. TOOLSET_EXISTS, TOOLSETS_FULL */
export function savingOf(
  { stored }: ToolsetState,
  toolsets: readonly Toolset[],
  { doing, replaces }: { readonly doing: Doing; readonly replaces: boolean },
): Result<Commit, Refusal> {
  const commits: Commit[] = [];
  let count = stored.size;
  const limit = TOOLSET_LIMITS.toolsets;
  for (const toolset of toolsets) {
    const { name } = toolset;
    const there = stored.get(name);
    if (there !== undefined && !replaces) return err({ code: 'TOOLSET_EXISTS', name });
    if (there === undefined && count >= limit) return err({ code: 'TOOLSETS_FULL', limit });
    if (there === undefined) count += 1;
    if (isSame(toolset, there?.toolset)) continue;
    commits.push({
      changes: [{ kind: 'toolset', toolset, replaces: there && name }],
      expectedRevisions: [{ kind: 'toolset', name, revision: there?.revision }],
      audit: [deedOfSaving(doing, there?.toolset, toolset)],
    });
  }
  return ok(joined(...commits));
}

/** Puts a toolset, which may have another name, in the place of one that is there. TOOLSET_EXISTS */
export function changeOf(
  { stored }: ToolsetState,
  there: StoredToolset,
  { toolset, doing }: { readonly toolset: Toolset; readonly doing: Doing },
): Result<Commit, Refusal> {
  if (isSame(toolset, there.toolset)) return ok(NOTHING);
  const { name } = there.toolset;
  const isRenamed = toolset.name !== name;
  if (isRenamed && stored.has(toolset.name)) return err({ code: 'TOOLSET_EXISTS', name: toolset.name });
  const made = { ...toolset, changedMs: doing.atMs };
  return ok({
    changes: [{ kind: 'toolset', toolset: made, replaces: name }],
    expectedRevisions: [
      { kind: 'toolset', name, revision: there.revision },
      ...(isRenamed ? [{ kind: 'toolset', name: toolset.name, revision: undefined } as const] : []),
    ],
    audit: [deedOfSaving(doing, there.toolset, made)],
  });
}

export function removalOf(state: ToolsetState, { toolset, revision }: StoredToolset, doing: Doing): Commit {
  const { name } = toolset;
  return {
    changes: [{ kind: 'toolset removal', name }],
    // Whether it is equipped is part of what an objection looked at.
    expectedRevisions: [{ kind: 'toolset', name, revision }, ...equippingsIn(state)],
    audit: [deedOfRemoval(doing, name, toolset)],
  };
}

export function equippingOf(state: ToolsetState, name: string | undefined, doing: Doing): Commit {
  const audit = deedOfEquipping(doing, state.equipped, name);
  return {
    changes: [{ kind: 'equipped', name }],
    // So that the audit entry names what was equipped before.
    expectedRevisions: equippingsIn(state),
    audit: audit === undefined ? [] : [audit],
  };
}

/** What a commit made of the toolsets, as a read of the store would tell it. */
export function newsOf(state: ToolsetState, { changes }: Commit, { toolsets }: Committed): ToolsetNews {
  const names = new Set(state.stored.keys());
  let { equipped, equippings = 0 } = state;
  for (const change of changes) {
    if (change.kind === 'toolset') {
      if (change.replaces !== undefined) names.delete(change.replaces);
      names.add(change.toolset.name);
      if (equipped !== undefined && equipped === change.replaces) equipped = change.toolset.name;
    } else if (change.kind === 'toolset removal') {
      names.delete(change.name);
      if (equipped === change.name) [equipped, equippings] = [undefined, equippings + 1];
    } else if (change.kind === 'equipped') [equipped, equippings] = [change.name, equippings + 1];
  }
  return { names: [...names].sort(), changed: toolsets, equipped, equippings };
}

function equippingsIn({ equippings }: ToolsetState): Commit['expectedRevisions'] {
  return equippings === undefined ? [] : [{ kind: 'equipped', equippings }];
}

/** By all that an export holds, whose members have one order. */
function isSame(toolset: Toolset, there: Toolset | undefined): boolean {
  if (toolset === there || there === undefined) return toolset === there;
  return JSON.stringify(toolsetJson(toolset)) === JSON.stringify(toolsetJson(there));
}
