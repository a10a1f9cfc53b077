import type { Scope } from './subject.ts';

/** Assay as the server of an OAuth resource (RFC 9728), where tokens of an issuer are taken. */
export interface ProtectedResource {
  /** Who issues tokens, as its setting and the `iss` of tokens spell it. */
  readonly issuer: string;
  /** How clients reach Assay, without a slash at the end. The first is told to who comes by none of them. */
  readonly bases: readonly string[];
  /** The `aud` of tokens in the place of URLs of Assay's own; '': none. */
  readonly audience: string;
}

/** What a challenge tells of where a token is to be had. */
export interface Protection {
  readonly metadataUrl: string;
  readonly scope: Scope;
}

/** RFC 9728, section 3. */
export const METADATA_PATH = '/.well-known/oauth-protected-resource';

const ENDPOINT = /^\/mcp(?:\/all|\/configuration|\/(?:servers|toolsets)\/[^/]+)?$/;

/** The paths that a token with these audiences opens, each with all below it; none where it is not meant for Assay. */
export function opensFor(audiences: readonly string[], resource: ProtectedResource): readonly string[] {
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

/** What the 401 or 403 of a request tells: each MCP endpoint is a resource of its own, and all else is one. */
export function protectionOf(
  resource: ProtectedResource,
  { path, method, host }: { readonly path: string; readonly method: string; readonly host: string },
): Protection {
  const endpoint = ENDPOINT.test(path) ? path : '';
  const isRead = method === 'GET' || method === 'HEAD';
  const scope = endpoint === '' ? (isRead ? 'read' : 'admin') : 'mcp';
  const { origin, pathname } = new URL(baseFor(host, resource) + endpoint);
  return { metadataUrl: `${origin}${METADATA_PATH}${pathname === '/' ? '' : pathname}`, scope };
}

/** The metadata document at this path (RFC 9728, section 3.1); undefined where there is none. */
export function metadataAt(
  path: string,
  host: string,
  resource: ProtectedResource,
): Readonly<Record<string, unknown>> | undefined {
  if (path !== METADATA_PATH && !path.startsWith(`${METADATA_PATH}/`)) return undefined;
  const base = baseFor(host, resource);
  // Of a base that has a path, that path stands between the well-known one and the endpoint; a proxy may take it away.
  const prefix = new URL(base).pathname.replace(/\/$/, '');
  const given = path.slice(METADATA_PATH.length);
  const endpoint = isWithin(given, [prefix]) ? given.slice(prefix.length) : given;
  if (!isResource(endpoint)) return undefined;
  return {
    resource: base + endpoint,
    authorization_servers: [resource.issuer],
    // The least that makes it of use: clients that are told nothing else ask for all that stands here.
    scopes_supported: endpoint === '' ? ['read', 'admin', 'execute', 'mcp'] : ['mcp'],
    bearer_methods_supported: ['header'],
    resource_name: 'Assay',
  };
}

function isResource(path: string): boolean {
  return path === '' || ENDPOINT.test(path);
}

/** A machine of one's own has several names, and clients compare what they are told with the one that they know. */
function baseFor(host: string, { bases }: ProtectedResource): string {
  const asked = bases.find((base) => new URL(base).host === host.toLowerCase());
  return asked ?? bases[0] ?? `http://${host}`;
}

/** How clients reach what listens at this URL, where nobody says otherwise. */
export function basesOf(publicUrl: string, listeningUrl: string): readonly string[] {
  const { protocol, host, hostname, port, pathname } = new URL(publicUrl === '' ? listeningUrl : publicUrl);
  const base = `${protocol}//${host}${pathname}`.replace(/\/+$/, '');
  const isOwnMachine = publicUrl === '' && LOOPBACK_HOSTS.includes(hostname);
  if (!isOwnMachine) return [base];
  const suffix = port === '' ? '' : `:${port}`;
  const others = LOOPBACK_HOSTS.map((name) => `${protocol}//${name}${suffix}`);
  return [base, ...others.filter((other) => other !== base)];
}

const LOOPBACK_HOSTS: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];
