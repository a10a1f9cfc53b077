import type { Catalog } from '../../gateway/catalog.ts';
import type { ToolsetViews } from '../../gateway/toolsets/toolset-views.ts';
import type { View } from '../../gateway/view.ts';
import { decoded } from './request-path.ts';

/** What the MCP endpoints show. */
export interface Endpoints {
  readonly catalog: Catalog;
  readonly views: ToolsetViews;
}

/** What an MCP endpoint shows; undefined for a path that is none. */
export function viewAt({ catalog, views }: Endpoints, path: string): View | undefined {
  if (path === '/mcp') return views.current;
  if (path === '/mcp/all') return catalog.all;
  if (path === '/mcp/configuration') return views.menu;
  const [, kind, name] = /^\/mcp\/(servers|toolsets)\/([^/]+)$/.exec(path) ?? [];
  if (name === undefined) return undefined;
  return kind === 'servers' ? catalog.of(decoded(name)) : views.of(decoded(name));
}

/** The paths that a client may have meant. */
export function knownPaths({ catalog, views }: Endpoints): readonly string[] {
  const servers = catalog.servers.map(({ spec }) => `/mcp/servers/${encodeURIComponent(spec.name)}`);
  const toolsets = views.names.map((name) => `/mcp/toolsets/${name}`);
  const fixed = ['/mcp', '/mcp/all', '/mcp/configuration'];
  return [...fixed, ...servers, ...toolsets, '/health', '/metrics'];
}
