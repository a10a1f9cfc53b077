import { setImmediate } from 'node:timers/promises';
import type { Refusal } from '../../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { Settings } from '../../../core/settings.ts';
import type { ToolRef } from '../../../core/tool-ref.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { getDigest } from '../../catalog/definition-facts.ts';
import type { SelectOptions } from './selection.ts';
import { getToolIndex, type ToolIndex } from './tool-index.ts';

/** Looks up tools of all servers, of which toolsets select some. */
export type FindTools = (needed: NeededTools) => Promise<Result<SelectOptions, Refusal>>;

export interface NeededTools {
  /** Waits for the servers of these. Empty: the tools that are known now. */
  readonly refs: readonly ToolRef[];
  /** Whether stored tool lists are too old. Those of a running gateway are current. */
  readonly isFresh?: boolean;
  /** Finds only tools that this caller may know of. Absent: all. */
  readonly subject?: string | undefined;
}

/** Finds the tools of a running gateway. */
export function findToolsIn(catalog: Catalog, settings: Pick<Settings, 'toolsets.changed'>): FindTools {
  const showsChanged = settings['toolsets.changed'] === 'show';
  return async ({ refs, isFresh = false, subject }) => {
    const isKnown = isFresh || refs.length === 0;
    const index = isKnown
      ? getToolIndex(catalog.all.listing('tools'))
      : await prepareToolIndex({ catalog }, refs, subject);
    return ok({ index, servers: catalog.servers, showsChanged });
  };
}

/**
 * All tools that the caller may know of, once every server has had a chance to list its own. Without a subject, for an
 * operator: all tools.
 */
export async function waitForToolIndex(
  { catalog }: { readonly catalog: Catalog },
  subject: string | undefined,
): Promise<ToolIndex> {
  await catalog.listed(catalog.servers, 'tools');
  const view = subject === undefined ? catalog.all : catalog.all.forCaller(subject);
  return getToolIndex(view.listing('tools'));
}

const DIGESTED_AT_ONCE = 50;

/**
 * The index of all tools, with digests if the refs need them. Ten thousand digests take half a second, so it yields in
 * between.
 */
export async function prepareToolIndex(
  context: { readonly catalog: Catalog },
  refs: readonly ToolRef[],
  subject?: string,
): Promise<ToolIndex> {
  const index = await waitForToolIndex(context, subject);
  if (refs.every(({ refId }) => refId === undefined)) return index;
  for (const [position, { definition }] of index.entries.entries()) {
    getDigest(definition);
    if (position % DIGESTED_AT_ONCE === DIGESTED_AT_ONCE - 1) await setImmediate();
  }
  return index;
}
