import { setImmediate as breathe } from 'node:timers/promises';
import type { Refusal } from '../../../core/refusal.ts';
import type { Settings } from '../../../core/settings.ts';
import { mayModelChange, type Toolset } from '../../../core/toolset.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import type { CompileSchema } from '../../ports/compile-schema.ts';
import type { CountTokens } from '../../ports/count-tokens.ts';
import type { ToolRef } from '../../../core/tool-ref.ts';
import { digestOf } from '../../catalog/definition-facts.ts';
import type { ProcessMode } from '../toolsets/mode.ts';
import { indexOf, type ToolIndex } from '../toolsets/tool-index.ts';
import type { Toolsets } from '../toolsets/toolsets.ts';

/** What the configuration tools work on. */
export interface ConfigurationContext {
  readonly catalog: Catalog;
  readonly toolsets: Toolsets;
  readonly settings: Settings;
  /** Whether a model's note waits for an operator. */
  readonly reviewsNotes: boolean;
  readonly mode: ProcessMode;
  readonly countTokens: CountTokens;
  readonly compile: CompileSchema;
  readonly nowMs: () => number;
}

/** All tools that there are, when every server had its chance to list its own. */
export async function settledIndex({ catalog }: Pick<ConfigurationContext, 'catalog'>): Promise<ToolIndex> {
  await catalog.listed(catalog.servers, 'tools');
  return indexOf(catalog.all.listing('tools'));
}

/** Why a model that works for this subject may not change a toolset. */
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

/** The same for who looks for these refs. To digest ten thousand definitions takes half a second, and holds nobody up. */
export async function indexFor(
  context: Pick<ConfigurationContext, 'catalog'>,
  refs: readonly ToolRef[],
): Promise<ToolIndex> {
  const index = await settledIndex(context);
  if (refs.every(({ refId }) => refId === undefined)) return index;
  for (const [place, { definition }] of index.entries.entries()) {
    digestOf(definition);
    if (place % DIGESTED_AT_ONCE === DIGESTED_AT_ONCE - 1) await breathe();
  }
  return index;
}
