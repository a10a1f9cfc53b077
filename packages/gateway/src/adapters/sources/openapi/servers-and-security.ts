import { isMembers } from '@assay-mcp/kit/canonical-json';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Credential } from '../../../core/server-spec.ts';
import type { Secret } from '../http/request-plan.ts';
import { type Documents, type Located, findMemberAt } from './documents.ts';
import type { Operation } from './operations.ts';

/** Why an operation has no server; the operator can fix one that lacks a base URL. */
export interface NoServer {
  readonly lacksBase: boolean;
  readonly why: string;
}

interface ServerOptions {
  readonly documents: Documents;
  /** Replaces all servers. */
  readonly baseUrl?: string | undefined;
}

/** Where requests go. `at` is the URL of the document that says so; undefined if the operator does. */
export interface RequestTarget {
  readonly url: URL;
  readonly at: string | undefined;
}

/** The server of an operation: its own servers override those of its path, and those the document's. */
export function resolveOperationServer(
  operation: Operation,
  { documents, baseUrl }: ServerOptions,
): Result<RequestTarget, NoServer> {
  const { root } = documents;
  if (baseUrl !== undefined) {
    const base = webUrl(baseUrl);
    return base === undefined
      ? err({ lacksBase: false, why: 'baseUrl is not an http or https URL' })
      : ok({ url: base, at: undefined });
  }
  const owners: readonly Located[] = [operation.located, operation.item, root];
  const servers = owners.map(serversAt).find((some) => some.length > 0) ?? [{ url: '/', at: root.at }];
  let first: NoServer | undefined;
  for (const server of servers) {
    const url = urlOf(server);
    if (url.ok) return ok({ url: url.value, at: server.at });
    first ??= url.error;
  }
  return err(first ?? { lacksBase: true, why: 'it has no server' });
}

interface Server {
  readonly url: string;
  readonly at: string;
  readonly variables?: unknown;
}

function serversAt({ value, at }: Located): readonly Server[] {
  const servers = isMembers(value) ? value['servers'] : undefined;
  if (!Array.isArray(servers)) return [];
  return servers.flatMap((server: unknown) => {
    if (!isMembers(server) || typeof server['url'] !== 'string') return [];
    return [{ url: server['url'], at, variables: server['variables'] }];
  });
}

function urlOf({ url, at, variables }: Server): Result<URL, NoServer> {
  let missing: string | undefined;
  const filled = url.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const variable = isMembers(variables) && Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isMembers(variable) ? variable['default'] : undefined;
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    missing ??= name;
    return '';
  });
  const named = JSON.stringify(url);
  if (missing !== undefined)
    return err({ lacksBase: true, why: `its server ${named} has no default for "${missing}": give baseUrl` });
  if (webUrl(at) === undefined && !URL.canParse(filled))
    return err({ lacksBase: true, why: `its server ${named} is relative to a file: give baseUrl` });
  const found = webUrl(filled, at);
  if (found !== undefined) return ok(found);
  return err({ lacksBase: false, why: `its server ${named} is not an http or https URL without a password` });
}

/** An http(s) URL without a password, which would be shown wherever the URL is. */
function webUrl(text: string, at?: string): URL | undefined {
  if (!URL.canParse(text, at)) return undefined;
  const url = new URL(text, at);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  if (!isWeb || url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  return url;
}

interface SecurityOptions {
  readonly documents: Documents;
  readonly credentials: Readonly<Record<string, Credential>>;
  /** The operator's headers for all requests; a scheme that uses one of them needs no credential. */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Secrets of the first security alternative of an operation that is complete; empty if it needs none. The error is a
 * sentence that names what is missing and where to set it.
 */
export function resolveOperationSecrets(
  operation: Operation,
  options: SecurityOptions,
): Result<readonly Secret[], string> {
  const { root } = options.documents;
  const general = isMembers(root.value) ? root.value['security'] : undefined;
  const security = operation.members['security'] ?? general;
  // An alternative that is not in a list is a common mistake; it must not cause calls without a secret.
  const alternatives = (Array.isArray(security) ? security : [security]).filter(isMembers);
  if (alternatives.length === 0) return ok([]);
  const lacks: string[] = [];
  for (const alternative of alternatives) {
    const parts = Object.keys(alternative).map((scheme) => secretsFor(scheme, options));
    const missing = parts.flatMap((part) => (part.ok ? [] : [part.error]));
    if (missing.length === 0) return ok(parts.flatMap((part) => (part.ok ? part.value : [])));
    lacks.push(missing.join(' and '));
  }
  return err(
    `The call was not made: it needs ${[...new Set(lacks)].join(', or ')}. An operator gives it in "credentials" of this source.`,
  );
}

/** The error is a phrase that names the scheme. */
function secretsFor(name: string, options: SecurityOptions): Result<readonly Secret[], string> {
  const { documents, credentials, headers } = options;
  const scheme = schemeNamed(name, documents);
  const shown = JSON.stringify(name);
  if (scheme === undefined) return err(`the scheme ${shown}, which the document does not define`);
  const credential = Object.hasOwn(credentials, name) ? credentials[name] : undefined;
  const given = Object.keys(headers).map((header) => header.toLowerCase());
  const made = secretOf(scheme, credential);
  if (made.kind === 'unknown') return err(`the scheme ${shown} (${made.what}), which is not supported`);
  if (made.kind === 'secret' && credential !== undefined) return ok([made.secret]);
  if (made.header !== undefined && given.includes(made.header.toLowerCase())) return ok([]);
  return err(`${made.kind === 'missing' ? made.what : 'a credential'} for the scheme ${shown}`);
}

function schemeNamed(name: string, documents: Documents): Readonly<Record<string, unknown>> | undefined {
  const components = findMemberAt(documents.root, 'components');
  const schemes = components && findMemberAt(components, 'securitySchemes');
  const scheme = schemes && findMemberAt(schemes, name);
  const end = scheme && documents.follow(scheme);
  return end?.ok === true && isMembers(end.value.value) ? end.value.value : undefined;
}

type Made =
  | { readonly kind: 'secret'; readonly secret: Secret; readonly header?: string | undefined }
  | { readonly kind: 'missing'; readonly what: string; readonly header?: string | undefined }
  | { readonly kind: 'unknown'; readonly what: string };

function secretOf(scheme: Readonly<Record<string, unknown>>, credential: Credential | undefined): Made {
  const { type, name, in: location } = scheme;
  if (type === 'apiKey' && typeof name === 'string' && isLocation(location)) {
    const header = location === 'header' ? name : undefined;
    if (typeof credential !== 'string') return { kind: 'missing', what: 'a key', header };
    return { kind: 'secret', secret: { location, name, value: credential.trim() }, header };
  }
  const kind = type === 'http' ? String(scheme['scheme']).toLowerCase() : type;
  if (kind === 'basic') return basic(credential);
  if (kind === 'bearer' || kind === 'oauth2' || kind === 'openIdConnect') return bearer(credential);
  return {
    kind: 'unknown',
    what: [type, scheme['scheme']].filter((one) => typeof one === 'string').join(' '),
  };
}

function basic(credential: Credential | undefined): Made {
  const header = 'Authorization';
  if (credential === undefined) return { kind: 'missing', what: 'a username and a password', header };
  const pair =
    typeof credential === 'string' ? credential.trim() : `${credential.username}:${credential.password}`;
  const value = `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
  return { kind: 'secret', secret: { location: 'header', name: header, value }, header };
}

/** Accepts a token with or without the `Bearer` prefix. */
function bearer(credential: Credential | undefined): Made {
  const header = 'Authorization';
  if (typeof credential !== 'string') return { kind: 'missing', what: 'a token', header };
  const value = `Bearer ${credential.trim().replace(/^bearer\s+/i, '')}`;
  return { kind: 'secret', secret: { location: 'header', name: header, value }, header };
}

function isLocation(location: unknown): location is Secret['location'] {
  return location === 'header' || location === 'query' || location === 'cookie';
}

/**
 * A document's author chooses its servers and could redirect secrets of one API to another. So secrets are sent only to
 * servers named by the operator or a local file, or to the document's own origin.
 */
export function withholdSecrets(
  secrets: Result<readonly Secret[], string>,
  { url, at }: RequestTarget,
  { documents, headers }: SecurityOptions,
): Result<readonly Secret[], string> {
  const isOwn =
    at === undefined || at.startsWith('file:') || url.origin === new URL(documents.root.at).origin;
  const hasNone = secrets.ok && secrets.value.length === 0 && Object.keys(headers).length === 0;
  if (isOwn || hasNone || !secrets.ok) return secrets;
  return err(
    `The call was not made: the document sends it to ${url.origin}, a different origin, and the credentials and headers of this source are not for that origin. To allow this, an operator can set "baseUrl".`,
  );
}
