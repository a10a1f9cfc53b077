import type { FunctionModuleSpec } from './sources/function-module.ts';
import type { RestToolSpec } from './sources/rest-tool.ts';

/** How a source of tools is reached. `auto` tries Streamable HTTP first, then the older HTTP+SSE. */
export type Transport =
  | {
      readonly kind: 'stdio';
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      /** Whether its entry names the folder; else it is where Assay runs, which differs from start to start. */
      readonly isCwdGiven?: boolean;
    }
  | {
      readonly kind: 'http';
      readonly flavour: 'auto' | 'streamable' | 'sse';
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
      /** What the config says of signing in there; most servers need nothing of it. */
      readonly auth?: AuthSpec;
    }
  | BuiltInTransport;

/** Where Assay makes tools of what is no MCP server. */
export type BuiltInTransport =
  | {
      readonly kind: 'openapi';
      /** An absolute path or a URL. */
      readonly document: string;
      /** Where its operations are, in the place of what it says itself. */
      readonly baseUrl?: string | undefined;
      readonly headers: Readonly<Record<string, string>>;
      /** By the name of the security scheme. */
      readonly credentials: Readonly<Record<string, Credential>>;
      /** Most bytes of an answer that a caller gets. */
      readonly maxBytes: number;
    }
  | {
      /** What operators make themselves. */
      readonly kind: 'local';
      readonly tools: readonly RestToolSpec[];
      readonly modules: readonly FunctionModuleSpec[];
    };

/** A key or token, or who signs in by basic authentication. */
export type Credential = string | { readonly username: string; readonly password: string };

/** The name of the source of all tools that operators make themselves. */
export const LOCAL_SOURCE = 'local';

/** Whether Assay makes the tools of a source itself, so that it knows them through and through. */
export function isBuiltIn(transport: Transport): transport is BuiltInTransport {
  return transport.kind === 'openapi' || transport.kind === 'local';
}

/** How Assay signs in at a server that asks for it. Absent members are found out by discovery. */
export interface AuthSpec {
  /** As the authorization server gave it; one that is an https URL is that of a client metadata document. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /** Scopes in place of those that the server names, with spaces between them. */
  readonly scope?: string;
  /** Whether each subject signs in for itself; absent: where clients need tokens they do. */
  readonly isPersonal?: boolean;
}

/** One downstream MCP server as the config describes it, checked, defaults filled in. */
export interface ServerSpec {
  /** The key under `mcpServers`. */
  readonly name: string;
  readonly transport: Transport;
  /** Longest time in ms that one call may stay without a result or progress. */
  readonly timeoutMs: number;
  /** Whether public names carry the server's name in front. */
  readonly prefix: boolean;
  /** Whether each client session has a process or a session of the server for itself, or all clients share one. */
  readonly isolation: 'session' | 'shared';
  /** Whether its hints may lower caution, as the config has it; undefined: the config does not say. */
  readonly trust?: boolean | undefined;
  /** Whether the config file has it; otherwise an operator registered it while Assay ran. Of tools, each says it itself. */
  readonly isFromConfig?: true | undefined;
}

/** Where the config says nothing: a process costs much, a session over HTTP little. */
export function defaultIsolation({ kind }: Transport): ServerSpec['isolation'] {
  return kind === 'http' ? 'session' : 'shared';
}

/** Time limit of a call where the config says nothing, in ms. */
export const DEFAULT_TIMEOUT_MS = 60_000;

/** Whether two entries are alike in all that an operator can write. */
export function isSameServer(one: ServerSpec, other: ServerSpec): boolean {
  return (
    one.name === other.name &&
    one.timeoutMs === other.timeoutMs &&
    one.prefix === other.prefix &&
    one.isolation === other.isolation &&
    one.trust === other.trust &&
    one.isFromConfig === other.isFromConfig &&
    isSameWay(one.transport, other.transport)
  );
}

/** Whether both are reached in the same way, so that a connection to one is one to the other. */
export function isSameTransport(one: ServerSpec, other: ServerSpec): boolean {
  const isLocal = one.transport.kind === 'local' && other.transport.kind === 'local';
  // One tool more or less must not cost the calls of the others.
  // A connection that one may have is not for the other.
  return isLocal || (one.isFromConfig === other.isFromConfig && isSameWay(one.transport, other.transport));
}

function isSameWay(one: Transport, other: Transport): boolean {
  return one === other || JSON.stringify(wayOf(one)) === JSON.stringify(wayOf(other));
}

/** As JSON that does not depend on the order of keys. */
function wayOf(transport: Transport): unknown {
  const { kind } = transport;
  if (isBuiltIn(transport)) return transport;
  if (kind === 'stdio')
    return [kind, transport.command, transport.args, sorted(transport.env), transport.cwd];
  return [kind, transport.flavour, transport.url.href, sorted(transport.headers), authOf(transport.auth)];
}

function authOf({ clientId, clientSecret, scope, isPersonal }: AuthSpec = {}): unknown {
  return [clientId, clientSecret, scope, isPersonal];
}

function sorted(members: Readonly<Record<string, string>>): unknown {
  return Object.entries(members).sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Whether the config says itself what to send as Authorization; then nobody is asked to sign in. */
export function hasOwnAuthorization({ transport }: ServerSpec): boolean {
  if (transport.kind !== 'http') return false;
  return Object.keys(transport.headers).some((name) => name.toLowerCase() === 'authorization');
}
