import type { ViewOptions } from '../../core/command-options.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { View } from '../catalog/view.ts';
import type { ToolsetViews } from './configuration-tools/toolset-views.ts';
import type { Toolsets } from './toolsets/toolsets.ts';

/** What a client would list, as far as that is known without starting a server. */
export interface SeenByClient {
  readonly view: 'all' | 'toolset' | 'equipped' | 'search';
  /** Undefined with all tools or the search, or if no toolset is equipped. */
  readonly toolset: string | undefined;
  /** Number of servers' tools; with the search, of those it can find. */
  readonly tools: number;
  /** Names of Assay's own tools among the listed ones. */
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
export function computeSeenByClient(
  { catalog, toolsets, views }: Seeing,
  { all = false, toolset, search = false }: ViewOptions,
): SeenByClient | undefined {
  if (search)
    return {
      ...seenIn(catalog.all),
      view: 'search',
      toolset: undefined,
      configurationTools: ownIn(views.search),
    };
  const view = all ? catalog.all : toolset === undefined ? views.current : views.of(toolset);
  if (view === undefined) return undefined;
  return {
    view: all ? 'all' : toolset === undefined ? 'equipped' : 'toolset',
    toolset: all ? undefined : (toolset ?? toolsets.equipped?.name),
    configurationTools: ownIn(view),
    ...seenIn(view),
  };
}

function seenIn(view: View): Pick<SeenByClient, 'tools' | 'unread'> {
  const unread = view.servers.filter(({ lists }) => !lists.isKnown('tools'));
  return { tools: view.listing('tools').entries.length, unread: unread.map(({ spec }) => spec.name) };
}

function ownIn(view: View): readonly string[] {
  return view.listing('tools').own.map(({ key }) => key);
}
