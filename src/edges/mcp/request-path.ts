import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Identity } from '../../core/subject.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { ToolsetViews } from '../../gateway/services/configuration-tools/toolset-views.ts';
import type { View } from '../../gateway/catalog/view.ts';

/**
 * The target of a request in its one form, which is what guards and what routes: a path and its query, without dot
 * segments, and with nothing encoded that need not be (RFC 3986, section 6.2.2). The error says what is ambiguous: readers
 * such as a proxy and Assay could take it for different paths.
 */
export function readTarget({
  url = '',
  headers,
}: Pick<IncomingMessage, 'url' | 'headers'>): Result<string, string> {
  if (PLAIN.test(url)) return ok(url);
  const target = url.startsWith('/') ? ok(url) : withoutOrigin(url, headers.host ?? '');
  if (!target.ok) return target;
  if (!/^[!-~]*$/.test(target.value)) return err('it holds characters that must be percent-encoded');
  if (target.value.includes('#')) return err('it holds a fragment ("#")');
  const query = target.value.indexOf('?');
  const path = query < 0 ? target.value : target.value.slice(0, query);
  const fault = pathFault(path);
  if (fault !== undefined) return err(fault);
  const normal = path.replace(/%[\da-f]{2}/gi, unencoded);
  const steps = normal.slice(1).split('/');
  if (steps.some((step) => step === '.' || step === '..')) return err('its path holds a "." or ".." segment');
  if (steps.slice(0, -1).includes('')) return err('its path holds an empty segment ("//")');
  return ok(query < 0 ? normal : normal + target.value.slice(query));
}

/** Nothing in it could be written otherwise. */
const PLAIN = /^(?:\/[\w-]+)+$/;

/** A server must take a URL where it is its own (RFC 9112, section 3.2.2); a path of another host is none of ours. */
function withoutOrigin(url: string, host: string): Result<string, string> {
  const [, authority, rest = ''] = /^https?:\/\/([^/?#]*)(.*)$/i.exec(url) ?? [];
  if (authority === undefined) return err('it does not start with "/"');
  if (authority.toLowerCase() !== host.toLowerCase())
    return err('its URL names another host than the Host header');
  return ok(rest.startsWith('/') ? rest : `/${rest}`);
}

function pathFault(path: string): string | undefined {
  if (path.includes('\\')) return 'its path holds a backslash';
  if (/%(?![\da-f]{2})/i.test(path)) return 'its path holds a "%" that encodes nothing';
  try {
    decodeURIComponent(path);
    return undefined;
  } catch {
    return 'its path is not UTF-8';
  }
}

function unencoded(octet: string): string {
  const character = String.fromCharCode(Number.parseInt(octet.slice(1), 16));
  return /[\w.~-]/.test(character) ? character : octet.toUpperCase();
}

/** The path of a request whose target was read, without its query; a slash at its end means nothing. */
export function pathOf({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const query = url.indexOf('?');
  const bare = query < 0 ? url : url.slice(0, query);
  return bare.length > 1 && bare.endsWith('/') ? bare.slice(0, -1) : bare;
}

/** One part of a path; as it is where it is not well encoded. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** What the MCP endpoints show. */
interface Endpoints {
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

/** What answers at all paths that are none of this door's. */
export interface OtherPaths {
  /** Who comes, or why nobody does: what needs no token is its own matter. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: Result<Identity, Refusal>,
  ): Promise<void>;
  /** Ends what would last. */
  close(): void;
}
