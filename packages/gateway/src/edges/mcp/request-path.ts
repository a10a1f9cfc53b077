import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Identity } from '../../core/subject.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { PageSessions } from '../../gateway/ports/page-sessions.ts';
import type { ToolsetViews } from '../../gateway/services/configuration-tools/toolset-views.ts';
import type { View } from '../../gateway/catalog/view.ts';

/**
 * The normalized target of a request, used for authorization and for routing: path and query, without dot segments or
 * needless percent-encoding (RFC 3986, section 6.2.2). The error names the ambiguity that a proxy and Assay could read
 * as different paths.
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

/** Paths that are already normal. */
const PLAIN = /^(?:\/[\w-]+)+$/;

/** A server must accept an absolute URL for its own host (RFC 9112, section 3.2.2); other hosts are refused. */
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

/** The path of a normalized target, without its query and a trailing slash. */
export function getRequestPath({ url = '/' }: Pick<IncomingMessage, 'url'>): string {
  const query = url.indexOf('?');
  const bare = query < 0 ? url : url.slice(0, query);
  return bare.length > 1 && bare.endsWith('/') ? bare.slice(0, -1) : bare;
}

/** Decodes a path segment; returns it unchanged if it is malformed. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The views behind the MCP endpoints. */
interface Endpoints {
  readonly catalog: Catalog;
  readonly views: ToolsetViews;
}

/** Whether a path belongs to the MCP server, which also has `/health` and `/metrics`. All others are those of the REST API. */
export function isMcpPath(path: string, hasSse: boolean): boolean {
  return OWN.test(path) || (hasSse && isSsePath(path));
}

const OWN = /^\/(?:mcp|health|metrics)(?:\/|$)/;

/** Whether a path of the MCP server belongs to its endpoints, known or not. */
export function isEndpointPath(path: string): boolean {
  return ENDPOINTS.test(path);
}

const ENDPOINTS = /^\/(?:mcp|sse)(?:\/|$)/;

/** Whether a path belongs to the older transport, where each endpoint has `/sse` in place of `/mcp`. */
export function isSsePath(path: string): boolean {
  return SSE.test(path);
}

const SSE = /^\/sse(?=\/|$)/;

/** The view of an MCP endpoint. Undefined for other paths. */
export function findViewAt({ catalog, views }: Endpoints, asked: string): View | undefined {
  const path = asked.replace(SSE, '/mcp');
  if (path === '/mcp') return views.current;
  if (path === '/mcp/all') return catalog.all;
  if (path === '/mcp/configuration') return views.configuration;
  if (path === '/mcp/search') return views.search;
  const [, kind, name] = /^\/mcp\/(servers|toolsets)\/([^/]+)$/.exec(path) ?? [];
  if (name === undefined) return undefined;
  return kind === 'servers' ? catalog.of(decoded(name)) : views.of(decoded(name));
}

/** The valid paths, listed in the refusal of an unknown one. */
export function listKnownPaths({ catalog, views }: Endpoints): readonly string[] {
  const servers = catalog.servers.map(({ spec }) => `/mcp/servers/${encodeURIComponent(spec.name)}`);
  const toolsets = views.names.map((name) => `/mcp/toolsets/${name}`);
  const fixed = ['/mcp', '/mcp/all', '/mcp/configuration', '/mcp/search'];
  return [...fixed, ...servers, ...toolsets, '/health', '/metrics', '/live', '/ready'];
}

/** The REST API and the admin pages: all paths that do not belong to the MCP server. */
export interface RestHandler {
  /** Admits browsers that have signed in. */
  readonly sessions: Pick<PageSessions, 'admit'>;
  /** `admitted` may be a refusal: the handler decides which paths need no token. */
  answer(
    request: IncomingMessage,
    response: ServerResponse,
    admitted: Result<Identity, Refusal>,
  ): Promise<void>;
  /** Ends long-lived responses. */
  close(): void;
}
