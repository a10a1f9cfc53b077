import type { ViewOptions } from '../../core/command-options.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { View } from '../catalog/view.ts';
import type { CountTokens } from '../ports/telemetry.ts';
import { sumToolTokens } from './configuration-tools/token-cost.ts';
import type { ToolsetViews } from './configuration-tools/toolset-views.ts';
import type { Toolsets } from './toolsets/toolsets.ts';

/** What a client would list, as far as that is known without starting a server. */
export interface SeenByClient {
  readonly view: 'all' | 'toolset' | 'equipped' | 'search';
  /** Undefined with all tools or the search, or if no toolset is equipped. */
  readonly toolset: string | undefined;
  /** Number of servers' tools; with the search, of those it can find. */
  readonly tools: number;
  /** What the listed tools cost a model. */
  readonly tokens: number;
  /** Names of Assay's own tools among the listed ones. */
  readonly configurationTools: readonly string[];
  /** Servers of the view whose tools were never read. */
  readonly unread: readonly string[];
}

interface Seeing {
  readonly catalog: Catalog;
  readonly toolsets: Toolsets;
  readonly views: ToolsetViews;
  readonly countTokens: CountTokens;
}

/** Undefined if there is no such toolset. */
export function computeSeenByClient(
  { catalog, toolsets, views, countTokens }: Seeing,
  { all = false, toolset, search = false }: ViewOptions,
): SeenByClient | undefined {
  if (search)
    return {
      ...seenIn(catalog.all),
      view: 'search',
      toolset: undefined,
      configurationTools: ownIn(views.search),
      tokens: tokensIn(views.search, countTokens),
    };
  const view = all ? catalog.all : toolset === undefined ? views.current : views.of(toolset);
  if (view === undefined) return undefined;
  return {
    view: all ? 'all' : toolset === undefined ? 'equipped' : 'toolset',
    toolset: all ? undefined : (toolset ?? toolsets.equipped?.name),
    configurationTools: ownIn(view),
    tokens: tokensIn(view, countTokens),
    ...seenIn(view),
  };
}

function seenIn(view: View): Pick<SeenByClient, 'tools' | 'unread'> {
  const unread = view.servers.filter(({ lists }) => !lists.isKnown('tools'));
  return { tools: view.listing('tools').entries.length, unread: unread.map(({ spec }) => spec.name) };
}

function tokensIn(view: View, countTokens: CountTokens): number {
  const { own, entries } = view.listing('tools');
  return sumToolTokens([...own, ...entries], countTokens);
}

function ownIn(view: View): readonly string[] {
  return view.listing('tools').own.map(({ key }) => key);
}
