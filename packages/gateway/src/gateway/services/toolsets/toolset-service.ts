import type {
  MemberRef,
  NewToolset,
  ToolsetChanges,
  ToolsetReview,
  Toolset as ToolsetView,
} from '../../../api/toolset.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ToolRef } from '../../../core/tool-ref.ts';
import {
  mayModelChange,
  getToolNotes,
  removeToolsetTool,
  addToolsetTools,
  type ModelRights,
  type Toolset,
  type ToolsetTool,
} from '../../../core/toolset.ts';
import { includes, isKnown, isWhole, toWholeServer } from '../../../core/whole-server.ts';
import { type Entry, Listing } from '../../catalog/listing.ts';
import type { Equipping } from './equipping.ts';
import type { FindTools } from './find-tools.ts';
import { findToolNames, resolveToolRef, applyExceptions } from './holding.ts';
import { selectAcceptable, listNewReviews, listReviewable, listReviews, addAccepted } from './review.ts';
import { select, type SelectOptions } from './selection.ts';
import { getEntryName, getRefId, resolveAll, ToolIndex } from './tool-index.ts';
import {
  toReviewView,
  toToolsetView,
  type IncludedServers,
  type NewTool,
  type RemovedTool,
} from './toolset-view.ts';
import { findToolsetFault, type Changer, type Toolsets } from './toolsets.ts';
import { listUnserved, type Unserved } from './unserved.ts';

/** On whose behalf a toolset is changed: an operator, or the caller that a model works for. */
export interface ToolsetCaller {
  readonly subject: string;
  /** Gets the toolset as it is before. Its refusal prevents the change. */
  readonly objection?: (before: ToolsetView) => Refusal | undefined;
  /** If a model calls: what it may change, and for whom it equips. */
  readonly model?: { readonly rights: ModelRights; readonly equipping: Equipping };
}

interface ListedTools {
  readonly all: readonly Entry[];
  /** By name of the toolset. */
  readonly toolsets: ReadonlyMap<string, readonly Entry[]>;
}

/** No session is the caller's own. */
const NO_CLIENT = '';

type Changed<T = object> = Promise<Result<{ readonly view: ToolsetView } & T, Refusal>>;

/**
 * The use cases of toolsets. All may fail with STORE_UNAVAILABLE, and all but `create` with TOOLSET_UNKNOWN.
 * A refusal of one of several tools says which: see `PlacedRefusal`.
 */
export class ToolsetService {
  readonly #toolsets: Toolsets;
  readonly #find: FindTools;

  constructor(toolsets: Toolsets, find: FindTools) {
    this.#toolsets = toolsets;
    this.#find = find;
  }

  /** Sorted. */
  async names(): Promise<Result<readonly string[], Refusal>> {
    const ready = await this.#toolsets.ready();
    return ready.ok ? ok(this.#toolsets.all.map(({ name }) => name)) : ready;
  }

  /** Those of these toolsets that there are. */
  views(names: readonly string[]): readonly ToolsetView[] {
    return names.flatMap((name) => {
      const toolset = this.#toolsets.find(name);
      return toolset === undefined ? [] : [this.#view(toolset)];
    });
  }

  /** The toolset that is equipped for all clients, as far as that is known. */
  get equipped(): ToolsetView | undefined {
    const { equipped } = this.#toolsets;
    return equipped && this.#view(equipped);
  }

  async view(name: string): Promise<Result<ToolsetView, Refusal>> {
    const toolset = await this.#stored(name);
    return toolset.ok ? ok(this.#view(toolset.value)) : toolset;
  }

  /**
   * A tool given by refId is pinned to its current definition. Errors: ARGUMENTS_INVALID, TOOLSET_EXISTS, TOOLSETS_FULL,
   * TOOLSETS_TOO_LARGE, TOOLSET_PROTECTED, TOOLSET_FULL, those of `resolveToolRef`.
   */
  async create({ tools: refs, ...given }: NewToolset, caller: ToolsetCaller): Changed {
    const { model, subject } = caller;
    // The model could neither annotate nor delete the new toolset.
    if (model?.rights === 'none') return err({ code: 'TOOLSET_PROTECTED', toolset: undefined });
    const fault = findToolsetFault(given);
    if (fault !== undefined) return err(fault);
    const { name, description, equip = false } = given;
    const free = await this.#unused(name);
    if (!free.ok) return free;
    const found = await this.#resolve(refs, model && subject);
    if (!found.ok) return found;
    const maker = model && ({ by: 'model', subject } as const);
    const toolset = addToolsetTools({ ...EMPTY, name, description, maker }, found.value);
    return toolset.ok ? this.#create(toolset.value, { caller, equip }) : toolset;
  }

  /**
   * Renames, describes or replaces the tools. A tool that is in the toolset and is given unchanged is kept, whether its
   * server is running or not. Errors: those of `create`.
   */
  async change(name: string, changes: ToolsetChanges, caller: ToolsetCaller): Changed {
    const fault = findToolsetFault(changes);
    if (fault !== undefined) return err(fault);
    const { tools: refs = [] } = changes;
    const found = refs.length === 0 ? NOTHING : await this.#find({ refs });
    if (!found.ok) return found;
    return this.#change(name, caller, (before) => {
      const { description = before.description, name: to = before.name } = changes;
      const changed = {
        ...before,
        name: to,
        description: description === '' ? undefined : (description ?? undefined),
      };
      if (changes.tools === undefined) return ok(changed);
      const tools = resolveAll(refs, (ref) => {
        const tool = keptBy(before, ref) ?? resolveToolRef(ref, found.value);
        return tool.ok ? ok(applyExceptions(tool.value, ref)) : tool;
      });
      return tools.ok ? addToolsetTools({ ...changed, tools: [] }, tools.value) : tools;
    });
  }

  /** Errors: those of `create`. */
  async add(
    name: string,
    refs: readonly MemberRef[],
    caller: ToolsetCaller,
  ): Changed<{
    readonly added: ToolsetView['tools'];
    /** Names of tools that are no longer pinned. */
    readonly released: readonly string[];
  }> {
    // Looked up first, so that servers are not started in vain.
    const there = await this.#stored(name);
    if (!there.ok) return there;
    const tools = await this.#resolve(refs);
    if (!tools.ok) return tools;
    const changed = await this.#change(name, caller, (toolset) => addToolsetTools(toolset, tools.value));
    if (!changed.ok) return changed;
    const { before, view } = changed.value;
    const was = new Set(before.tools.map(({ namespacedName }) => namespacedName));
    const free = new Set(tools.value.flatMap(({ held, namespacedName }) => (held ? [] : [namespacedName])));
    const released = before.tools.filter(({ held, namespacedName }) => held && free.has(namespacedName));
    return ok({
      view,
      added: view.tools.filter(({ namespacedName }) => !was.has(namespacedName)),
      released: released.map(({ namespacedName }) => namespacedName),
    });
  }

  /** Removes tools by namespaced name; their notes are kept. TOOL_NOT_IN_TOOLSET */
  async remove(
    name: string,
    tools: readonly string[],
    caller: ToolsetCaller,
  ): Changed<{ readonly removed: readonly RemovedTool[] }> {
    const names = [...new Set(tools)];
    const changed = await this.#change(name, caller, (toolset) =>
      names.reduce<Result<Toolset, Refusal>>(
        (left, tool) => (left.ok ? removeToolsetTool(left.value, tool) : left),
        ok(toolset),
      ),
    );
    if (!changed.ok) return changed;
    const { before, view } = changed.value;
    const removed = names.map((namespacedName) => ({
      namespacedName,
      isUnconfirmed: isUnconfirmed(before, namespacedName),
      notes: getToolNotes(before, namespacedName).length,
    }));
    return ok({ view, removed });
  }

  /**
   * Resolves with the number of sessions that had equipped it. `unlessEquipped`: refuses if there are any; for a model,
   * those of others always count. TOOLSET_PROTECTED, TOOLSET_EQUIPPED
   */
  delete(
    name: string,
    {
      subject,
      model,
      objection,
      unlessEquipped = false,
    }: ToolsetCaller & { readonly unlessEquipped?: boolean },
  ): Promise<Result<number, Refusal>> {
    if (model !== undefined) return model.equipping.remove(name, subject, checkRights(model.rights, subject));
    return this.#toolsets.remove(name, subject, {
      objection: (before) => objection?.(this.#view(before)),
      ...(unlessEquipped && { unlessEquippedBesides: NO_CLIENT }),
    });
  }

  /** Undefined unequips. */
  equip(name: string | undefined, { subject, model }: ToolsetCaller): Promise<Result<undefined, Refusal>> {
    return model === undefined ? this.#toolsets.equip(name, subject) : model.equipping.equip(name, subject);
  }

  /** The tools of all servers and those that each toolset shows, as far as they are known without starting a server. */
  async listed(): Promise<Result<ListedTools, Refusal>> {
    const ready = await this.#toolsets.ready();
    const found = ready.ok ? await this.#find({ refs: [] }) : ready;
    if (!found.ok) return found;
    const toolsets = this.#toolsets.all.map(
      (toolset) => [toolset.name, select(toolset, found.value).entries] as const,
    );
    return ok({ all: found.value.index.entries, toolsets: new Map(toolsets) });
  }

  /** The tools that clients cannot use now, in the order of the toolset. */
  async unserved(name: string): Promise<Result<readonly Unserved[], Refusal>> {
    const selected = await this.#selecting(name);
    return selected.ok ? ok(listUnserved(selected.value.toolset, selected.value)) : selected;
  }

  /** Tools of whole servers that appeared since an operator accepted those of the server. */
  async newTools(name: string): Promise<Result<readonly NewTool[], Refusal>> {
    const selected = await this.#selecting(name);
    return selected.ok ? ok(newIn(selected.value.toolset, selected.value)) : selected;
  }

  /** How tools differ from what an operator accepted. */
  async review(name: string): Promise<Result<ToolsetReview, Refusal>> {
    const toolset = await this.#stored(name);
    if (!toolset.ok) return toolset;
    const refs = listReviewable(toolset.value);
    if (refs.length === 0) return ok({ toolset: name, isReviewable: false, tools: [] });
    const found = await this.#find({ refs, isFresh: true });
    if (!found.ok) return found;
    const reviews = [
      ...listReviews(toolset.value, found.value),
      ...listNewReviews(toolset.value, found.value),
    ];
    // Tools of whole servers.
    const dangerous = listUnserved(toolset.value, found.value).flatMap(({ tool, reason }) =>
      reason === 'definition_dangerous' ? [{ namespacedName: tool, state: 'withheld', reason } as const] : [],
    );
    return ok({ toolset: name, isReviewable: true, tools: [...reviews.map(toReviewView), ...dangerous] });
  }

  /**
   * Accepts new tools and pins changed ones to their current definitions; without refs, all. With `isNewOnly`, pinned
   * tools stay as they are. TOOL_NOT_IN_TOOLSET, ARGUMENTS_INVALID if a tool is not pinned, those of `resolveToolRef`.
   */
  async accept(
    name: string,
    {
      refs,
      isNewOnly = false,
    }: { readonly refs?: readonly ToolRef[] | undefined; readonly isNewOnly?: boolean },
    caller: ToolsetCaller,
  ): Changed<{
    /** Namespaced names. */
    readonly accepted: readonly string[];
    readonly new: readonly NewTool[];
  }> {
    const there = await this.#stored(name);
    if (!there.ok) return there;
    const found = await this.#find({ refs: refs ?? listReviewable(there.value), isFresh: true });
    if (!found.ok) return found;
    let accepted: readonly string[] = [];
    const changed = await this.#change(name, caller, (toolset) => {
      const acceptable = selectAcceptable(toolset, found.value, { refs, isNewOnly });
      if (!acceptable.ok) return acceptable;
      const { pinned, fresh } = acceptable.value;
      accepted = [...pinned.map(({ namespacedName }) => namespacedName), ...fresh.map(getEntryName)];
      const held = addToolsetTools(toolset, pinned);
      return held.ok ? ok(addAccepted(held.value, fresh)) : held;
    });
    if (!changed.ok) return changed;
    const { after, view } = changed.value;
    return ok({ view, accepted, new: newIn(after, found.value) });
  }

  /**
   * Saves imported servers as a toolset. Equips it unless another one is equipped, whose clients would lose their tools.
   * An existing toolset gets only servers of which it has no tools, so that tools removed by an operator stay removed.
   * Errors: TOOLSET_FULL, TOOLSETS_FULL.
   */
  async include(
    name: string,
    servers: readonly string[],
    caller: ToolsetCaller,
  ): Promise<Result<IncludedServers, Refusal>> {
    const found = await this.#find({ refs: [] });
    if (!found.ok) return found;
    const members = servers.map((server) =>
      toWholeServer(server, findToolNames(found.value.servers, server)),
    );
    const equip = this.#toolsets.equipped === undefined;
    const free = await this.#unused(name);
    const full = free.ok ? addToolsetTools({ ...EMPTY, name }, members) : free;
    const created = full.ok ? await this.#create(full.value, { caller, equip }) : full;
    // Another process may have created it meanwhile.
    if (created.ok || created.error.code !== 'TOOLSET_EXISTS') {
      return created.ok ? ok(this.#included(created.value.view, undefined)) : created;
    }
    const extended = await this.#change(name, caller, (toolset) =>
      addToolsetTools(toolset, newMembers(toolset, members)),
    );
    if (!extended.ok) return extended;
    const equipped = equip ? await this.equip(name, caller) : ok(undefined);
    return equipped.ok ? ok(this.#included(extended.value.view, extended.value.before)) : equipped;
  }

  #included({ name, tools }: ToolsetView, before: Toolset | undefined): IncludedServers {
    const added = tools.length - (before?.tools.length ?? 0);
    const change = before === undefined ? 'created' : added === 0 ? 'same' : 'extended';
    return { name, change, added, members: tools.length, equipped: this.#toolsets.equipped?.name };
  }

  #view(toolset: Toolset): ToolsetView {
    return toToolsetView(toolset, this.#toolsets.equipped);
  }

  async #stored(name: string): Promise<Result<Toolset, Refusal>> {
    const ready = await this.#toolsets.ready();
    if (!ready.ok) return ready;
    const toolset = this.#toolsets.find(name);
    return toolset === undefined ? err(this.#toolsets.unknown(name)) : ok(toolset);
  }

  /** TOOLSET_EXISTS, by the store as it is now. */
  async #unused(name: string): Promise<Result<undefined, Refusal>> {
    const ready = await this.#toolsets.ready();
    if (!ready.ok || this.#toolsets.find(name) === undefined) return ready;
    const read = await this.#toolsets.readAgain();
    if (!read.ok) return read;
    return this.#toolsets.find(name) === undefined ? ok(undefined) : err({ code: 'TOOLSET_EXISTS', name });
  }

  async #selecting(name: string): Promise<Result<SelectOptions & { readonly toolset: Toolset }, Refusal>> {
    const toolset = await this.#stored(name);
    if (!toolset.ok) return toolset;
    const found = await this.#find({ refs: [] });
    return found.ok ? ok({ ...found.value, toolset: toolset.value }) : found;
  }

  async #resolve(
    refs: readonly MemberRef[],
    subject?: string,
  ): Promise<Result<readonly ToolsetTool[], Refusal>> {
    if (refs.length === 0) return ok([]);
    const found = await this.#find({ refs, subject });
    if (!found.ok) return found;
    return resolveAll(refs, (ref) => {
      const tool = resolveToolRef(ref, found.value);
      return tool.ok ? ok(applyExceptions(tool.value, ref)) : tool;
    });
  }

  async #create(
    toolset: Toolset,
    { caller, equip }: { readonly caller: ToolsetCaller; readonly equip: boolean },
  ): Changed {
    const { subject, model } = caller;
    const created =
      model === undefined
        ? await this.#toolsets.create(toolset, { by: subject, equip })
        : await model.equipping.create(toolset, { by: subject, equip });
    return created.ok ? ok({ view: this.#view(created.value) }) : created;
  }

  async #change(
    name: string,
    { subject, model, objection }: ToolsetCaller,
    changing: (toolset: Toolset) => Result<Toolset, Refusal>,
  ): Changed<{ readonly before: Toolset; readonly after: Toolset }> {
    const refusalOf = (before: Toolset): Refusal | undefined =>
      model === undefined ? objection?.(this.#view(before)) : checkRights(model.rights, subject)(before);
    const by: Changer = model === undefined ? subject : { model: subject };
    const changed = await this.#toolsets.change(
      name,
      (before) => {
        const refusal = refusalOf(before);
        const after = refusal === undefined ? changing(before) : err(refusal);
        return after.ok ? ok({ toolset: after.value, value: { before, after: after.value } }) : after;
      },
      by,
    );
    if (!changed.ok) return changed;
    const { before } = changed.value;
    // Only the stored toolset has the time of the change.
    const after = this.#toolsets.find(changed.value.after.name) ?? changed.value.after;
    return ok({ before, after, view: this.#view(after) });
  }
}

/** Checks whether a model acting for this subject may change a toolset. */
export function checkRights(rights: ModelRights, subject: string): (toolset: Toolset) => Refusal | undefined {
  return (toolset) =>
    mayModelChange(toolset, subject, rights)
      ? undefined
      : { code: 'TOOLSET_PROTECTED', toolset: rights === 'none' ? undefined : toolset.name };
}

/** What is found without refs. */
const NOTHING = ok({
  index: new ToolIndex(new Listing({ kind: 'tools', entries: [] })),
  servers: [],
  showsChanged: false,
});

const EMPTY = { tools: [], toolNotes: [], createdMs: 0, changedMs: 0 };

/** The tool already in the toolset under this ref. */
function keptBy(
  { tools }: Toolset,
  { namespacedName, refId }: ToolRef,
): Result<ToolsetTool, never> | undefined {
  const kept = tools.find(
    (tool) => (namespacedName ?? tool.namespacedName) === tool.namespacedName && refId === tool.held?.refId,
  );
  return kept && ok(kept);
}

function newMembers({ tools }: Toolset, members: readonly ToolsetTool[]): readonly ToolsetTool[] {
  const startOf = ({ namespacedName }: ToolsetTool): string => namespacedName.slice(0, -1);
  return members.filter((member) =>
    tools.every(({ namespacedName }) => !namespacedName.startsWith(startOf(member))),
  );
}

function newIn(toolset: Toolset, options: SelectOptions): readonly NewTool[] {
  return select(toolset, options).fresh.map((entry) => ({
    namespacedName: getEntryName(entry),
    refId: getRefId(entry),
  }));
}

function isUnconfirmed({ tools }: Toolset, name: string): boolean {
  return (
    tools.every(({ namespacedName }) => namespacedName !== name) &&
    tools.some((tool) => isWhole(tool) && includes(tool, name) && !isKnown(tool, name))
  );
}
