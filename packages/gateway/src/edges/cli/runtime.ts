import type { Setting } from '../../api/preference.ts';
import type { ServerStatus } from '../../api/status.ts';
import type {
  AppOptions,
  DiagnosticsOptions,
  ServeOptions,
  StdioOptions,
} from '../../core/command-options.ts';
import type { Cause } from '../../core/cause.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { CodebaseRequest } from '@assay-mcp/kit/platform/terminal/codebase-command';
import type { Refusal, RefusalCode } from '../../core/refusal.ts';
import type { CompanionName } from '../../core/refusals/config-refusals.ts';
import type { Diagnosis } from '../../core/finding.ts';
import type {
  AddedServer,
  AddRequest,
  ConnectReport,
  ConnectRequest,
  FoundClient,
  ImportReport,
  ImportRequest,
  MoveReport,
  MoveRequest,
  UndoRequest,
} from '../../core/client-configs.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { VerifierProgram } from '@assay-mcp/kit/verification/verifier';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { SignInLink } from '../../gateway/services/sign-in-links.ts';
import type { ToolsetViews } from '../../gateway/services/configuration-tools/toolset-views.ts';
import type { ShownCredential, SignInRequest, SignOutReport } from '../../gateway/ports/credentials.ts';
import type { CountTokens } from '../../gateway/ports/telemetry.ts';
import type { ToolsetService } from '../../gateway/services/toolsets/toolset-service.ts';
import type { Toolset } from '../../api/toolset.ts';
import type { Toolsets } from '../../gateway/services/toolsets/toolsets.ts';
import type { Verifications } from '../../gateway/services/verification/verifications.ts';
import type { Api } from './api.ts';
import type { SandboxPort } from './sandbox.ts';
import type { StorePorts } from './store-ports.ts';

export interface CallRequest {
  /** A public or a namespaced name. */
  readonly name: string;
  readonly args: JsonObject;
  /** Receives progress as text. */
  readonly onProgress: (text: string) => void;
  /** Called with the id of the approval that the call waits for. */
  readonly onWaiting?: (approvalId: string) => void;
}

export type CallAnswer =
  | { readonly kind: 'result'; readonly result: JsonObject }
  | { readonly kind: 'error'; readonly error: JsonObject }
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly message: string };

export interface OpenServe {
  readonly catalog: Catalog;
  /** Resolves when it should end, because a command asked for it or nobody needs it. */
  readonly ended: Promise<unknown>;
  /** The config file that was read. */
  readonly configPath: string;
  /** The file that keeps the log. */
  readonly logPath: string;
  readonly close: () => Promise<void>;
  /** Origin and port of the HTTP server. */
  readonly url: string;
  /** Whether every client must send a token. */
  readonly needsToken: boolean;
  /** File with a token for the REST API. Undefined beyond loopback or with ASSAY_TOKEN. */
  readonly adminTokenPath: string | undefined;
  /** Creates a one-time link to the admin pages. */
  readonly signInLink: () => Promise<Result<SignInLink, Refusal>>;
  /** The toolset that `/mcp` serves. */
  readonly equipped: () => Pick<Toolset, 'name' | 'tools'> | undefined;
  /** With no toolset equipped: whether `/mcp` serves only the configuration tools, instead of those and all others. */
  readonly hasModes: boolean;
}

/** The log that `serve` keeps in the home. */
export interface OpenLog {
  readonly path: string;
  /** All lines that are kept. */
  readonly lines: readonly LogLine[];
  /** Calls back with each line that follows, until a signal arrives. */
  readonly follow: (onLine: (line: LogLine) => void) => Promise<void>;
  readonly close: () => Promise<void>;
}

export interface LogLine {
  /** The server that it is about. */
  readonly server: string | undefined;
  readonly json: string;
  /** The line for people. */
  readonly text: string;
}

/** The catalog with its cached lists, and the toolsets, to show what a client sees. No server has been started. */
export interface OpenOnboarding {
  readonly catalog: Catalog;
  readonly toolsets: Toolsets;
  readonly toolsetService: ToolsetService;
  readonly views: ToolsetViews;
  readonly countTokens: CountTokens;
  /** With no toolset equipped: whether `/mcp` serves only the configuration tools. */
  readonly hasModes: boolean;
  /** Resolves when each of these servers is ready or has failed; reports each as it happens. */
  readonly startServers: (
    names: readonly string[],
    onSettled: (status: ServerStatus) => void,
  ) => Promise<readonly ServerStatus[]>;
  readonly close: () => Promise<void>;
}

/** What commands that run programs here or compare paths of this machine use of a catalog. */
export interface OpenServices {
  readonly verifications: Pick<Verifications, 'server' | 'record' | 'recorded'>;
  readonly serverSpecs: () => readonly ServerSpec[];
  /** The roots that a server declares. Undefined if it has no sandbox. */
  readonly roots: (spec: ServerSpec) => Promise<Result<RootsReview | undefined, Cause>>;
  readonly close: () => Promise<void>;
}

/** Real paths of the roots of a server. */
export interface RootsReview {
  /** As they were when its entry was first read. */
  readonly stored: readonly string[];
  readonly now: readonly string[];
  /** Stores those of now. */
  readonly accept: () => Promise<Result<unknown, Cause>>;
}

/** A client whose config file is known. */
export interface KnownClient {
  readonly id: string;
  readonly label: string;
}

/** The interface that the commands for other clients need. */
export interface ClientConfigPorts {
  /** The command that runs this program: it is not in PATH if npx runs it. */
  readonly programName: 'assay' | 'npx assay-mcp';
  /** The clients whose config files are known. */
  readonly clients: readonly KnownClient[];
  /** Writes a server into Assay's config file. */
  addServer(request: AddRequest, options: AppOptions): Promise<Result<AddedServer, Refusal>>;
  /** Removes a server from Assay's config file. */
  removeServer(name: string, options: AppOptions): Promise<Result<{ readonly path: string }, Refusal>>;
  importServers(request: ImportRequest, options: AppOptions): Promise<Result<ImportReport, Refusal>>;
  connectClient(request: ConnectRequest, options: AppOptions): Promise<Result<ConnectReport, Refusal>>;
  moveServers(request: MoveRequest, options: AppOptions): Promise<Result<MoveReport, Refusal>>;
  /** What `undoConnect` can undo. */
  listConnections(options: AppOptions): Promise<readonly Pick<UndoRequest, 'client' | 'project'>[]>;
  undoConnect(request: UndoRequest, options: AppOptions): Promise<Result<ConnectReport, Refusal>>;
  /** What identifies the command or origin of each server in Assay's config file. CONFIG_UNREADABLE, CONFIG_INVALID */
  readIdentities(options: AppOptions): Promise<Result<ReadonlyMap<string, string>, Refusal>>;
  /** Whether Assay's config file exists. */
  hasConfig(options: AppOptions): Promise<boolean>;
  findClients(options: AppOptions): Promise<readonly FoundClient[]>;
  openOnboarding(options: AppOptions): Promise<Result<OpenOnboarding, Refusal>>;
  /** Opens nothing before the first request. `note` receives a line that says why a running gateway is not used. */
  openApi(options: AppOptions, note: (text: string) => void): Promise<Api>;
}

/** The commands of code search. */
interface CodebaseCommands {
  /** `calledAs`: the command, for messages. Resolves with the exit code. */
  readonly runRequest: (request: CodebaseRequest, calledAs: string) => Promise<number>;
}

/** A guide that comes with the program. */
export interface Guide {
  /** In lower case, such as `policy`. */
  readonly topic: string;
  readonly title: string;
  readonly path: string;
  /** Markdown. */
  readonly text: string;
}

/** All settings with the source of each. */
export interface ShownSettings {
  readonly settings: readonly Setting[];
  /** Sentences about stored settings without effect. */
  readonly warnings: readonly string[];
}

export type ServiceAction = 'install' | 'remove';

/** The service that runs the gateway of a home and config permanently. */
export interface FoundService {
  readonly name: string;
  readonly file: { readonly path: string; readonly text: string };
  /** Commands, each as words. */
  readonly install: readonly (readonly string[])[];
  readonly remove: readonly (readonly string[])[];
  /** Run after the file was removed. */
  readonly removed: readonly (readonly string[])[];
  readonly note: string;
  readonly isInstalled: boolean;
  /** The process of the `assay serve` that runs with this home and config, which may be the service itself. */
  readonly servedBy: number | undefined;
  /** Whether this program is in a cache of npx. */
  readonly isShortLived: boolean;
  /** The error is a sentence. */
  apply(action: ServiceAction): Promise<Result<undefined, string>>;
}

/** The interface that the command line needs from the rest of the program. */
export interface Runtime extends ClientConfigPorts, SandboxPort, StorePorts {
  readonly version: string;
  /** The command that starts this program: an executable and its first arguments. */
  readonly ownCommand: readonly string[];
  /** Calls a tool. `note` receives a line that says why a running gateway is not used. */
  callTool(
    options: AppOptions,
    request: CallRequest,
    note: (text: string) => void,
  ): Promise<Result<CallAnswer, Refusal>>;
  /** All guides, sorted by topic. */
  readGuides(): Promise<readonly Guide[]>;
  openServe(options: ServeOptions): Promise<Result<OpenServe, Refusal>>;
  /** Ends the gateway of this home and config. Undefined if none runs. GATEWAY_RUNNING: it has not ended in time. */
  stopGateway(options: AppOptions): Promise<Result<{ readonly pid: number } | undefined, Refusal>>;
  /** The error is a sentence. */
  findService(options: AppOptions & { readonly port?: number }): Promise<Result<FoundService, string>>;
  openLog(options: AppOptions): Promise<Result<OpenLog, Refusal>>;
  openServices(options: AppOptions): Promise<Result<OpenServices, Refusal>>;
  /** The text of a file. FILE_UNREADABLE */
  readFile(path: string): Promise<Result<string, Refusal>>;
  /** Passes on the lines of a file until `take` returns false. FILE_UNREADABLE */
  readLines(path: string, take: (line: string) => boolean): Promise<Result<undefined, Refusal>>;
  /** Writes a file atomically, readable only by this user. FILE_UNWRITABLE */
  writeFile(path: string, text: string): Promise<Result<undefined, Refusal>>;
  readSettings(options: AppOptions): Promise<Result<ShownSettings, Refusal>>;
  /** Serves MCP on stdin and stdout until the client closes its side or a signal arrives. Resolves with the exit code. */
  runStdio(options: StdioOptions): Promise<number>;
  /** Signs the user at the terminal in to a remote server. */
  signIn(request: SignInRequest, options: AppOptions): Promise<Result<ShownCredential, Refusal>>;
  /** All sign-ins, without secrets. */
  signIns(options: AppOptions): Promise<Result<readonly ShownCredential[], Refusal>>;
  signOut(
    who: Pick<SignInRequest, 'server' | 'subject'>,
    options: AppOptions,
  ): Promise<Result<SignOutReport, Refusal>>;
  /** Whether the user at the terminal would see an opened browser. */
  hasBrowser(): boolean;
  /** Opens an address in the user's browser. False if that could not be attempted. */
  openBrowser(address: string): Promise<boolean>;
  /** Checks everything a start needs. Changes nothing. */
  examine(options: DiagnosticsOptions): Promise<Diagnosis>;
  /** PACKAGE_MISSING, PACKAGE_INCOMPATIBLE, PATH_UNSAFE */
  openCodebase(options: AppOptions): Promise<Result<CodebaseCommands, Refusal>>;
  /** PACKAGE_MISSING, PACKAGE_INCOMPATIBLE, PATH_UNSAFE */
  openVerifier(options: AppOptions): Promise<Result<VerifierProgram, Refusal>>;
  /** Installs a missing package from npm; undefined if this build was not released. PACKAGE_NOT_FETCHED */
  findFetch(
    name: CompanionName,
    options: AppOptions,
  ): Promise<(() => Promise<Result<undefined, Refusal>>) | undefined>;
  /** Resolves at the first SIGINT, SIGTERM or SIGHUP. */
  untilStopped(): Promise<void>;
}
