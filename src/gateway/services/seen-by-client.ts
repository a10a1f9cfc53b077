import type { ViewOptions } from '../../core/command-options.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ToolsetViews } from './configuration-tools/toolset-views.ts';
import type { Toolsets } from './toolsets/toolsets.ts';

/** What a client lists, as far as it is known without starting a server. */
export interface SeenByClient {
  readonly view: 'all' | 'toolset' | 'equipped';
  /** Undefined with all tools, or if no toolset is equipped. */
  readonly toolset: string | undefined;
  /** Number of tools of servers. */
  readonly tools: number;
  /** Names of the configuration tools among the listed ones. */
  readonly configurationTools: readonly string[];
  /** Servers of the view whose tools were never read. */
  readonly unread: readonly string[];
}

interface Seeing {
  readonly catalog: Catalog;
  readonly toolsets: Toolsets;
  readonly views: ToolsetViews;
}

/** Undefined if there is no such toolset. */
export function seenByClient(
  { catalog, toolsets, views }: Seeing,
  { all = false, toolset }: ViewOptions,
): SeenByClient | undefined {
  const view = all ? catalog.all : toolset === undefined ? views.current : views.of(toolset);
  if (view === undefined) return undefined;
  const { entries, own } = view.listing('tools');
  const unread = view.servers.filter(({ lists }) => !lists.isKnown('tools'));
  return {
    view: all ? 'all' : toolset === undefined ? 'equipped' : 'toolset',
    toolset: all ? undefined : (toolset ?? toolsets.equipped?.name),
    tools: entries.length,
    configurationTools: own.map(({ key }) => key),
    unread: unread.map(({ spec }) => spec.name),
  };
}
