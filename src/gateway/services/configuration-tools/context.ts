import { setImmediate as breathe } from 'node:timers/promises';
import type { Refusal } from '../../../core/refusal.ts';
import type { Settings } from '../../../core/settings.ts';
import { mayModelChange, type Toolset } from '../../../core/toolset.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { CompileSchema } from '../../ports/compile-schema.ts';
import type { BuildSearch } from '../../ports/search.ts';
import { namespacedNameOf, type ToolRef } from '../../../core/tool-ref.ts';
import { isWhole, serverOfWhole } from '../../../core/whole-server.ts';
import { digestOf } from '../../catalog/definition-facts.ts';
import type { Listing } from '../../catalog/listing.ts';
import type { NoteService } from '../notes/note-service.ts';
import type { Equipping } from '../toolsets/equipping.ts';
import type { CurrentMode } from '../toolsets/mode.ts';
import { indexOf, nameIn, type ToolIndex } from '../toolsets/tool-index.ts';
import type { Toolsets } from '../toolsets/toolsets.ts';

/** Dependencies of the configuration tools. */
export interface ConfigurationContext {
  readonly catalog: Catalog;
  readonly toolsets: Toolsets;
  readonly notes: NoteService;
  readonly settings: Settings;
  /** Whether notes by models wait for an operator's review. */
  readonly reviewsNotes: boolean;
  readonly mode: CurrentMode;
  readonly equipping: Equipping;
  /** Whether all clients see the toolset that one of them equips. */
  readonly isEquippingShared: boolean;
  /** Number of tokens of a text for a large language model. */
  readonly countTokens: (text: string) => number;
  readonly buildSearch: BuildSearch;
  readonly compile: CompileSchema;
}

/**
 * All tools that the caller may know of, once every server has had a chance to list its own. Without a subject, for an
 * operator: all tools.
 */
export async function settledIndex(
  { catalog }: Pick<ConfigurationContext, 'catalog'>,
  subject: string | undefined,
): Promise<ToolIndex> {
  await catalog.listed(catalog.servers, 'tools');
  const view = subject === undefined ? catalog.all : catalog.all.forCaller(subject);
  return indexOf(view.listing('tools'));
}

/** The toolset without the tools that rules hide from the caller. */
export function visibleToolset(
  toolset: Toolset,
  { catalog }: Pick<ConfigurationContext, 'catalog'>,
  subject: string,
): Toolset {
  const all = catalog.all.listing('tools');
  const visible = catalog.all.forCaller(subject).listing('tools');
  if (visible === all) return toolset;
  const hidden = hiddenNames(all, visible);
  const isShown = ({ namespacedName }: { readonly namespacedName: string }): boolean =>
    !hidden.has(namespacedName);
  return {
    ...toolset,
    tools: toolset.tools.filter(isShown).map((tool) => {
      if (!isWhole(tool)) return tool;
      const server = serverOfWhole(tool);
      return { ...tool, except: tool.except.filter((name) => !hidden.has(namespacedNameOf(server, name))) };
    }),
    toolNotes: toolset.toolNotes.filter(isShown),
  };
}

/** Kept for each list: there can be many toolsets and callers. */
const HIDDEN_NAMES = new WeakMap<Listing, ReadonlySet<string>>();

/** The namespaced names that a list has and `visible`, which is part of it, has not. */
function hiddenNames(all: Listing, visible: Listing): ReadonlySet<string> {
  const known = HIDDEN_NAMES.get(visible);
  if (known !== undefined) return known;
  const shown = new Set([...visible.entries, ...visible.disabled].map(nameIn));
  const names = [...all.entries, ...all.disabled].map(nameIn).filter((name) => !shown.has(name));
  const hidden = new Set(names);
  HIDDEN_NAMES.set(visible, hidden);
  return hidden;
}

/** Checks whether a model acting for this subject may change a toolset. */
export function objectionTo(
  { settings }: Pick<ConfigurationContext, 'settings'>,
  subject: string,
): (toolset: Toolset) => Refusal | undefined {
  const rights = settings['toolsets.modelsMayChange'];
  return (toolset) =>
    mayModelChange(toolset, subject, rights)
      ? undefined
      : { code: 'TOOLSET_PROTECTED', toolset: rights === 'none' ? undefined : toolset.name };
}

const DIGESTED_AT_ONCE = 50;

/**
 * The index of all tools, with digests if the refs need them. Ten thousand digests take half a second, so it yields in
 * between.
 */
export async function indexFor(
  context: Pick<ConfigurationContext, 'catalog'>,
  refs: readonly ToolRef[],
  subject?: string,
): Promise<ToolIndex> {
  const index = await settledIndex(context, subject);
  if (refs.every(({ refId }) => refId === undefined)) return index;
  for (const [position, { definition }] of index.entries.entries()) {
    digestOf(definition);
    if (position % DIGESTED_AT_ONCE === DIGESTED_AT_ONCE - 1) await breathe();
  }
  return index;
}
