import type { Scope } from './subject.ts';

/** Assay as an OAuth protected resource (RFC 9728) that accepts tokens of an issuer. */
export interface ProtectedResource {
  /** The issuer, exactly as in its setting and in the `iss` of tokens. */
  readonly issuer: string;
  /** Base URLs of Assay, without a trailing slash. The first is used for requests that match none of them. */
  readonly bases: readonly string[];
  /** Required `aud` of tokens, instead of Assay's own URLs; empty if not set. */
  readonly audience: string;
}

/** The part of a challenge that tells clients where to get a token. */
export interface Protection {
  readonly metadataUrl: string;
  readonly scope: Scope;
}

/** RFC 9728, section 3. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

const ENDPOINT = /^\/(?:mcp|sse)(?:\/all|\/configuration|\/search|\/(?:servers|toolsets)\/[^/]+)?$/;

/** The paths, with everything below them, that a token with these audiences grants. Empty if not meant for Assay. */
export function listGrantedPaths(
  audiences: readonly string[],
  resource: ProtectedResource,
): readonly string[] {
  const { audience, bases } = resource;
  if (audience !== '') return audiences.includes(audience) ? [''] : [];
  return audiences.flatMap((one) => {
    const bare = one.replace(/\/$/, '');
    const base = bases.find((each) => bare === each || bare.startsWith(`${each}/`));
    const path = base === undefined ? undefined : bare.slice(base.length);
    return path !== undefined && isResource(path) ? [path] : [];
  });
}

export function isWithin(path: string, opened: readonly string[]): boolean {
  return opened.some((each) => path === each || path.startsWith(`${each}/`));
}

/** Protection for a 401 or 403 response: each MCP endpoint is its own resource, everything else is one resource. */
export function computeProtection(
  resource: ProtectedResource,
  { path, method, host }: { readonly path: string; readonly method: string; readonly host: string },
): Protection {
  const endpoint = ENDPOINT.test(path) ? path : '';
  const isRead = method === 'GET' || method === 'HEAD';
  const scope = endpoint === '' ? (isRead ? 'read' : 'admin') : 'mcp';
  const { origin, pathname } = new URL(baseFor(host, resource) + endpoint);
  return { metadataUrl: `${origin}${METADATA_PATH}${pathname === '/' ? '' : pathname}`, scope };
}

/** The metadata document at this path (RFC 9728, section 3.1). Undefined if there is none. */
export function findMetadata(
  path: string,
  host: string,
  resource: ProtectedResource,
): Readonly<Record<string, unknown>> | undefined {
  if (path !== METADATA_PATH && !path.startsWith(`${METADATA_PATH}/`)) return undefined;
  const base = baseFor(host, resource);
  // If the base has a path, it comes between the well-known path and the endpoint; a proxy may strip it.
  const prefix = new URL(base).pathname.replace(/\/$/, '');
  const given = path.slice(METADATA_PATH.length);
  const endpoint = isWithin(given, [prefix]) ? given.slice(prefix.length) : given;
  if (!isResource(endpoint)) return undefined;
  return {
    resource: base + endpoint,
    authorization_servers: [resource.issuer],
    // The minimum: clients without other guidance request all scopes listed here.
    scopes_supported: endpoint === '' ? ['read', 'admin', 'execute', 'mcp'] : ['mcp'],
    bearer_methods_supported: ['header'],
    resource_name: 'Assay',
  };
}

function isResource(path: string): boolean {
  return path === '' || ENDPOINT.test(path);
}

/** A local machine has several names, and clients compare the announced URL with the one they used. */
function baseFor(host: string, { bases }: ProtectedResource): string {
  const asked = bases.find((base) => new URL(base).host === host.toLowerCase());
  return asked ?? bases[0] ?? `http://${host}`;
}

/** Base URLs for a listener, unless a public URL is configured. */
export function computeBaseUrls(publicUrl: string, listeningUrl: string): readonly string[] {
  const { protocol, host, hostname, port, pathname } = new URL(publicUrl === '' ? listeningUrl : publicUrl);
  const base = `${protocol}//${host}${pathname}`.replace(/\/+$/, '');
  const isOwnMachine = publicUrl === '' && LOOPBACK_HOSTS.includes(hostname);
  if (!isOwnMachine) return [base];
  const suffix = port === '' ? '' : `:${port}`;
  const others = LOOPBACK_HOSTS.map((name) => `${protocol}//${name}${suffix}`);
  return [base, ...others.filter((other) => other !== base)];
}

const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];
