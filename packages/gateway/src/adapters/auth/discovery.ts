import type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';
import { type CarefulFetch, Unfetched } from '@assay-mcp/kit/platform/careful-fetch';
import type { BearerChallenge } from '@assay-mcp/protocol/challenge';
import type { AuthSpec } from '../../core/server-spec.ts';
import {
  parseResourceMetadata,
  parseServerMetadata,
  readMtlsEndpoints,
  type ResourceMetadata,
  type ServerMetadata,
} from './authorization-metadata.ts';
import { isSameIssuer } from './credential-place.ts';
import { MetadataReader, quoteShort } from './metadata-reader.ts';
import { SignInFault } from './sign-in-answer.ts';

export interface DiscoveryRequest {
  readonly url: URL;
  readonly auth: AuthSpec;
  readonly challenge: BearerChallenge | undefined;
  readonly fetching: CarefulFetch;
}

/** Where to sign in to a server, and for what. */
export interface Discovered {
  /** The identifier of the authorization server as the server or the operator names it. */
  readonly authorizationServer: string;
  /** Undefined if there is none: its endpoints are then those of revision 2025-03-26. */
  readonly metadata: ServerMetadata | undefined;
  /** What `iss` must be in its response. Undefined if that is not known. */
  readonly issuer: string | undefined;
  readonly resource: ResourceMetadata | undefined;
  /** The addresses that had no usable document, each with the reason. */
  readonly misses: readonly string[];
}

/** Maximum number of authorization servers of one resource that are tried. */
const MAX_SERVERS = 4;

/**
 * Finds the authorization server of a server (RFC 9728, RFC 8414, OpenID Connect Discovery). What is not the expected
 * JSON document counts as absent. Throws SignInFault or Unfetched.
 */
export async function discover(request: DiscoveryRequest): Promise<Discovered> {
  const { auth, url, fetching } = request;
  const configured = getConfiguredEndpoints(auth);
  if (configured !== undefined) return configured;
  const reader = new MetadataReader(fetching);
  const resource = await readResource(request, reader);
  const named =
    auth.authorizationServer !== undefined ? [auth.authorizationServer] : selectServers(resource, auth);
  const isChosen = auth.authorizationServer !== undefined || auth.metadataUrl !== undefined;
  if (!isChosen) checkNamed(named, auth.issuer);
  // A server that names none must not replace the configured one by metadata of its own.
  const servers = named.length > 0 ? named : [auth.issuer ?? new URL('/', url).href];
  const found = await readFirst(servers.slice(0, MAX_SERVERS), { auth, reader });
  const metadata = found && selectEndpoints(found.metadata, auth);
  return {
    authorizationServer: found?.server ?? servers[0] ?? url.origin,
    metadata,
    issuer: metadata?.issuer,
    resource,
    misses: reader.misses,
  };
}

/** A client that authenticates with its certificate must use the addresses for that (RFC 8705, section 5). */
function selectEndpoints(metadata: ServerMetadata, { tokenAuthMethod }: AuthSpec): ServerMetadata {
  return tokenAuthMethod === undefined ? metadata : { ...metadata, ...readMtlsEndpoints(metadata) };
}

/** The endpoints that the operator configured; they need no discovery. */
function getConfiguredEndpoints(auth: AuthSpec): Discovered | undefined {
  const { authorizationEndpoint, tokenEndpoint } = auth;
  if (authorizationEndpoint === undefined || tokenEndpoint === undefined) return undefined;
  const issuer = auth.issuer ?? auth.authorizationServer;
  const metadata: AuthorizationServerMetadata = {
    issuer: issuer ?? tokenEndpoint,
    authorization_endpoint: authorizationEndpoint,
    token_endpoint: tokenEndpoint,
    response_types_supported: ['code'],
  };
  return { authorizationServer: issuer ?? tokenEndpoint, metadata, issuer, resource: undefined, misses: [] };
}

/** The authorization servers of the resource; only the configured one, if it is among them. */
function selectServers(resource: ResourceMetadata | undefined, { issuer }: AuthSpec): readonly string[] {
  const servers = resource?.authorizationServers ?? [];
  const named = servers.filter((one) => issuer !== undefined && isSameIssuer(one, issuer));
  return named.length > 0 ? named : servers;
}

/**
 * A document proves nothing about a text that its own address does not match, so `auth.issuer` alone does not let a
 * server name another place: that would send codes there (mix-up).
 */
function checkNamed(servers: readonly string[], issuer: string | undefined): void {
  const [first] = servers;
  if (issuer === undefined || first === undefined || isSameIssuer(first, issuer)) return;
  throw new SignInFault(
    `the server names the issuer ${quoteShort(first)}, and "auth.issuer" of its entry is ${quoteShort(issuer)}; nothing was sent there. If you trust both, also set "auth.authorizationServer" to ${quoteShort(first)}`,
  );
}

/** The address in the challenge comes first, then the one for the path of the server, then the root. */
async function readResource(
  { url, auth, challenge }: DiscoveryRequest,
  reader: MetadataReader,
): Promise<ResourceMetadata | undefined> {
  const path = url.pathname.replace(/\/$/, '');
  const addresses = [
    ...(challenge?.resourceMetadata === undefined ? [] : [challenge.resourceMetadata.href]),
    `${url.origin}${RESOURCE_PATH}${path}${url.search}`,
    `${url.origin}${RESOURCE_PATH}`,
  ];
  for (const address of new Set(addresses)) {
    const found = await reader.read(address, parseResourceMetadata);
    if (found === undefined) continue;
    checkResource(found.resource, { url, auth, address });
    return found;
  }
  return undefined;
}

const RESOURCE_PATH = '/.well-known/oauth-protected-resource';

/** Otherwise a server could ask for tokens that are meant for another one. */
function checkResource(
  resource: string,
  { url, auth, address }: { readonly url: URL; readonly auth: AuthSpec; readonly address: string },
): void {
  if (auth.resource !== undefined || isResourceOf(resource, url)) return;
  throw new SignInFault(
    `its metadata at ${quoteShort(address)} is for the resource ${quoteShort(resource)}, not for ${quoteShort(url.href)}; if that is right, set "auth.resource" to ${quoteShort(resource)}`,
  );
}

/** Same origin, and the path or a prefix of it. */
function isResourceOf(resource: string, url: URL): boolean {
  const named = URL.parse(resource);
  if (named?.origin !== url.origin) return false;
  const [outer, inner] = [named.pathname, url.pathname].map((path) =>
    path.endsWith('/') ? path : `${path}/`,
  );
  return inner?.startsWith(outer ?? '') === true;
}

interface Found {
  readonly server: string;
  readonly metadata: ServerMetadata;
}

/** The first authorization server whose document can be read. */
async function readFirst(
  servers: readonly string[],
  { auth, reader }: { readonly auth: AuthSpec; readonly reader: MetadataReader },
): Promise<Found | undefined> {
  let failure: Unfetched | undefined;
  for (const server of servers)
    try {
      const metadata = await readServer(server, auth, reader);
      if (metadata !== undefined) return { server, metadata };
    } catch (error) {
      if (!(error instanceof Unfetched)) throw error;
      failure ??= error;
    }
  if (failure !== undefined) throw failure;
  return undefined;
}

async function readServer(
  server: string,
  auth: AuthSpec,
  reader: MetadataReader,
): Promise<ServerMetadata | undefined> {
  const addresses = auth.metadataUrl === undefined ? listAddresses(server) : [auth.metadataUrl];
  for (const address of addresses) {
    const metadata = await reader.read(address, parseServerMetadata, true);
    if (metadata === undefined) continue;
    checkIssuer(metadata.issuer, { server, auth, address });
    return metadata;
  }
  return undefined;
}

/**
 * The document must name the identifier with which it was found (RFC 8414, section 3.3), except for one slash at the
 * end: real servers and issuers disagree about that. Another text is accepted only from the operator.
 */
function checkIssuer(
  issuer: string,
  { server, auth, address }: { readonly server: string; readonly auth: AuthSpec; readonly address: string },
): void {
  const isPlaceKnown = auth.authorizationServer !== undefined || auth.metadataUrl !== undefined;
  const expected = isPlaceKnown ? (auth.issuer ?? auth.authorizationServer) : server;
  if (expected === undefined || isSameIssuer(issuer, expected)) return;
  throw new SignInFault(
    `the document at ${quoteShort(address)} says that its issuer is ${quoteShort(issuer)}, and ${quoteShort(expected)} was expected; if you trust it, set "auth.authorizationServer" to ${quoteShort(server)} and "auth.issuer" to ${quoteShort(issuer)}`,
  );
}

/** In the order of the specification. */
function listAddresses(server: string): readonly string[] {
  const { origin, pathname } = new URL(server);
  const path = pathname.replace(/\/$/, '');
  const [oauth, openid] = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];
  return path === ''
    ? [`${origin}${oauth}`, `${origin}${openid}`]
    : [`${origin}${oauth}${path}`, `${origin}${openid}${path}`, `${origin}${path}${openid}`];
}
