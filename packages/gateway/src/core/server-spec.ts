import type { TlsFiles } from '@assay-mcp/kit/tls-files';
import type { Command } from '@assay-mcp/sandbox/rights';
import type { EntryReference } from './secrets/value-reference.ts';
import type { FunctionModuleSpec, RestToolSpec } from './sources/custom-tools.ts';
import type { ResultLimits } from './result-limits.ts';
import type { OutputValidation } from './sources/output-validation.ts';
import type { OperationFilter } from './sources/operation-filter.ts';
import type { ToolFilter } from './tool-filter.ts';

/** How requests to a source leave. */
export interface ProxySpec {
  /** URL of the proxy, which may contain credentials; false: connect directly. Absent: that of the environment. */
  readonly proxy?: string | false;
  /** Whether the proxy may look up names that cannot be resolved here. */
  readonly proxyResolves?: boolean;
}

/** How to reach a source of tools. `auto` tries Streamable HTTP first, then the older HTTP+SSE. */
export type Transport =
  | ({ readonly kind: 'stdio' } & Command)
  | (ProxySpec & {
      readonly kind: 'http';
      readonly flavour: 'auto' | 'streamable' | 'sse';
      readonly url: URL;
      readonly headers: Readonly<Record<string, string>>;
      /** Sign-in settings; most servers need none. */
      readonly auth?: AuthSpec;
      /** Certificates for its origin and for the authorization servers that `auth` names. */
      readonly tls?: TlsFiles;
    })
  | {
      /** Assay's own code-search server, in a separate process like any other server. */
      readonly kind: 'codebase';
      readonly command: string;
      /** Its options. The script before them is looked for at each start. */
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      readonly cwd: string;
      /** Absolute paths of the folders that it may index and search. Absent: its working folder, and those indexed at a terminal. */
      readonly roots?: readonly string[];
    }
  | BuiltInTransport;

/** A source that is not an MCP server: Assay builds the tools itself. */
export type BuiltInTransport =
  | (ProxySpec & {
      readonly kind: 'openapi';
      /** An absolute path, a URL, or `upload:` and a hash of `text`. */
      readonly document: string;
      /** The document itself, if it was uploaded. */
      readonly text?: string | undefined;
      /** Overrides the server URL in the document. */
      readonly baseUrl?: string | undefined;
      readonly headers: Readonly<Record<string, string>>;
      /** By name of the security scheme. */
      readonly credentials: Readonly<Record<string, Credential>>;
      /** Which of its operations become tools. Undefined: all. */
      readonly operations?: OperationFilter | undefined;
      /** Maximum number of response bytes returned to a caller. */
      readonly maxBytes: number;
      readonly outputValidation: OutputValidation;
    })
  | {
      /** Tools created by operators. */
      readonly kind: 'local';
      readonly tools: readonly RestToolSpec[];
      readonly modules: readonly FunctionModuleSpec[];
    };

/** The tools and modules that operators create individually. */
export type CustomTools = Pick<TransportOf<'local'>, 'tools' | 'modules'>;

export type TransportOf<K extends Transport['kind']> = Extract<Transport, { readonly kind: K }>;

/** A key or token, or the credentials for basic authentication. */
export type Credential = string | { readonly username: string; readonly password: string };

/** Name of the source that holds all tools created by operators. */
export const CUSTOM_SERVER = 'local';

export const ASSERTION_ALGORITHMS = ['RS256', 'ES256', 'ES384'] as const;
export type AssertionAlgorithm = (typeof ASSERTION_ALGORITHMS)[number];

/** How Assay signs in to a server that requires it. Absent members are discovered. */
export interface AuthSpec {
  /** Issued by the authorization server, or the https URL of a client metadata document. */
  readonly clientId?: string;
  readonly clientSecret?: string;
  /**
   * URL of a client metadata document, which is the client id where the issuer supports that; false: none. Absent: that
   * of the gateway, if it has one.
   */
  readonly clientMetadataUrl?: string | false;
  /** Absent: as the credentials, the registration and the issuer's metadata say. */
  readonly tokenAuthMethod?: 'tls_client_auth';
  /** Absent: a person signs in with a browser. */
  readonly grant?: 'client_credentials';
  /** Absolute path of the key with which the client authenticates (RFC 7523), instead of a secret. */
  readonly privateKeyFile?: string;
  /** By default that of the key. */
  readonly algorithm?: AssertionAlgorithm;
  /** The `kid` of its assertions. */
  readonly keyId?: string;
  /** The `aud` of its assertions, instead of the issuer. */
  readonly assertionAudience?: string;
  /** The only issuer to sign in at. */
  readonly issuer?: string;
  /** The identifier of the authorization server, instead of those that the server names. */
  readonly authorizationServer?: string;
  /** Where its metadata is, if not at a well-known address. */
  readonly metadataUrl?: string;
  /** Both or neither: its endpoints; then nothing is looked up. */
  readonly authorizationEndpoint?: string;
  readonly tokenEndpoint?: string;
  /** The `resource` of all requests to it (RFC 8707); false: none. */
  readonly resource?: string | false;
  /** Added to the authorization request. */
  readonly parameters?: Readonly<Record<string, string>>;
  /** Sent exactly as written. */
  readonly redirectUri?: string;
  /** Replaces the scopes that the server names; separated by spaces. */
  readonly scope?: string;
  /** Whether each subject signs in separately. Absent: yes if clients need tokens. */
  readonly isPersonal?: boolean;
}

/** A source as configured: validated, with defaults. */
export interface ServerSpec {
  /** Its key under `mcpServers`. */
  readonly name: string;
  readonly transport: Transport;
  /** Maximum time in ms that a call may go without a result or progress. */
  readonly timeoutMs: number;
  /** Whether public names are prefixed with the server's name. */
  readonly prefix: boolean;
  /** Whether each client session has its own process or session of the server, or all clients share one. */
  readonly isolation: 'session' | 'shared';
  /** Whether its process also runs while nothing needs it. Undefined: no. */
  readonly keepAlive?: boolean | undefined;
  /** Time in ms for its process to end after its stdin closed, and again after SIGTERM. Undefined: see `getStopTimeoutMs`. */
  readonly stopTimeoutMs?: number | undefined;
  /** Whether its hints may lower caution. Undefined if not configured. */
  readonly trust?: boolean | undefined;
  /** The operator's tags of all its tools. */
  readonly tags?: readonly string[] | undefined;
  /** Which of its tools are offered. Undefined: all. */
  readonly toolFilter?: ToolFilter | undefined;
  /** Above these sizes results are cut. Undefined: never. */
  readonly resultLimits?: ResultLimits | undefined;
  /** Values that are read when it is connected; `transport` has them as they are written. Absent: none. */
  readonly references?: readonly EntryReference[] | undefined;
  /** True if it comes from the config file, absent if registered at runtime. Local tools have their own. */
  readonly isFromConfig?: true | undefined;
}

/** Default time limit of a call, in ms. */
export const DEFAULT_TIMEOUT_MS = 60_000;
