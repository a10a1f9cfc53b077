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

/** What is not an MCP server, so that Assay builds the tools itself. */
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

export type TransportOf<K extends Transport['kind']> = Extract<Transport, { readonly kind: K }>;

/** A key or token, or who signs in by basic authentication. */
export type Credential = string | { readonly username: string; readonly password: string };

/** The name of the source of all tools that operators make themselves. */
export const LOCAL_SOURCE = 'local';

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

/** A source as the config describes it, checked, defaults filled in. */
export interface ServerSpec {
  /** Its key under `mcpServers`. */
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

/** Time limit of a call where the config says nothing, in ms. */
export const DEFAULT_TIMEOUT_MS = 60_000;
