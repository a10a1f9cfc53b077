import { setImmediate as breathe } from 'node:timers/promises';
import type { Refusal } from '../../../core/refusal.ts';
import type { Settings } from '../../../core/settings.ts';
import { mayModelChange, type Toolset } from '../../../core/toolset.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { CompileSchema } from '../../ports/compile-schema.ts';
import type { BuildSearch } from '../../ports/search.ts';
import type { ToolRef } from '../../../core/tool-ref.ts';
import { digestOf } from '../../catalog/definition-facts.ts';
import type { CurrentMode } from '../toolsets/mode.ts';
import { indexOf, type ToolIndex } from '../toolsets/tool-index.ts';
import type { Toolsets } from '../toolsets/toolsets.ts';

/** Dependencies of the configuration tools. */
export interface ConfigurationContext {
  readonly catalog: Catalog;
  readonly toolsets: Toolsets;
  readonly settings: Settings;
  /** Whether notes by models wait for an operator's review. */
  readonly reviewsNotes: boolean;
  /** Whether each client of the equipped toolset has a mode of its own. */
  readonly hasOwnModes: boolean;
  readonly mode: CurrentMode;
  /** Number of tokens of a text for a large language model. */
  readonly countTokens: (text: string) => number;
  readonly buildSearch: BuildSearch;
  readonly compile: CompileSchema;
  readonly nowMs: () => number;
}

/** All tools, once every server has had a chance to list its own. */
export async function settledIndex({ catalog }: Pick<ConfigurationContext, 'catalog'>): Promise<ToolIndex> {
  await catalog.listed(catalog.servers, 'tools');
  return indexOf(catalog.all.listing('tools'));
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
): Promise<ToolIndex> {
  const index = await settledIndex(context);
  if (refs.every(({ refId }) => refId === undefined)) return index;
  for (const [position, { definition }] of index.entries.entries()) {
    digestOf(definition);
    if (position % DIGESTED_AT_ONCE === DIGESTED_AT_ONCE - 1) await breathe();
  }
  return index;
}
