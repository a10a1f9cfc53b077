import { isMembers } from '../../../core/canonical-json.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { Operation } from './operations.ts';
import type { Documents, Located } from './documents.ts';

/** Why an operation has no server; one that only lacks a base can be helped by the operator. */
export interface NoServer {
  readonly lacksBase: boolean;
  readonly why: string;
}

export interface ServerOptions {
  readonly documents: Documents;
  /** Takes the place of all servers. */
  readonly baseUrl?: string | undefined;
}

/** Where requests go, and where that stands: the URL of a document; undefined: the operator said it. */
export interface ServerPlace {
  readonly url: URL;
  readonly at: string | undefined;
}

/** Where requests of an operation go: its own servers count before those of its path, and those before the document's. */
export function serverOf(
  operation: Operation,
  { documents, baseUrl }: ServerOptions,
): Result<ServerPlace, NoServer> {
  const { root } = documents;
  if (baseUrl !== undefined) {
    const base = webUrl(baseUrl);
    return base === undefined
      ? err({ lacksBase: false, why: 'baseUrl is no URL of http or https' })
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
  return err({ lacksBase: false, why: `its server ${named} is no URL of http or https without a password` });
}

/** A URL that requests can go to; a password in it would be shown wherever the URL is. */
function webUrl(text: string, at?: string): URL | undefined {
  if (!URL.canParse(text, at)) return undefined;
  const url = new URL(text, at);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  if (!isWeb || url.username !== '' || url.password !== '') return undefined;
  url.hash = '';
  return url;
}
