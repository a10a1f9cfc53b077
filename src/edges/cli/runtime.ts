import type {
  AppOptions,
  DiagnosticsOptions,
  ServeOptions,
  StdioOptions,
} from '../../core/command-options.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Diagnosis } from '../../core/finding.ts';
import type {
  ConnectReport,
  ConnectRequest,
  ImportReport,
  ImportRequest,
  UndoRequest,
} from '../../core/client-configs.ts';
import type { Result } from '../../core/result.ts';
import type { LintLevels } from '../../core/hints/lint.ts';
import type { Resolved } from '../../core/resolve-settings.ts';
import type { SettingKey } from '../../core/settings.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Toolset } from '../../core/toolset.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { InstructionsReview } from '../../gateway/catalog/instructions-review.ts';
import type { BundleService } from '../../gateway/services/bundles/bundle-service.ts';
import type { GatewayView } from '../../gateway/services/servers/gateway-view.ts';
import type { DocumentInput } from '../../gateway/services/servers/import-document.ts';
import type { ServerService } from '../../gateway/services/servers/server-service.ts';
import type { ToolService } from '../../gateway/services/tools/tool-service.ts';
import type { CustomToolService } from '../../gateway/services/sources/custom-tool-service.ts';
import type { FunctionModuleService } from '../../gateway/services/sources/function-module-service.ts';
import type { Mint } from '../../gateway/ports/link.ts';
import type { ShownCredential, SignInRequest, SignOutReport } from '../../gateway/ports/credentials.ts';
import type { Store } from '../../gateway/ports/store.ts';
import type { SelectOptions } from '../../gateway/services/toolsets/selection.ts';
import type { ToolIndex } from '../../gateway/services/toolsets/tool-index.ts';
import type { Toolsets } from '../../gateway/services/toolsets/toolsets.ts';

/** A catalog whose servers are starting. */
export interface OpenCatalog {
  readonly catalog: Catalog;
  /** The config file that was read. */
  readonly configPath: string;
  readonly close: () => Promise<void>;
}

/** The same with what is needed to judge tools. */
export interface OpenTools extends OpenCatalog {
  readonly lintLevels: LintLevels;
  /** Whether toolsets serve tools whose definition has changed. */
  readonly showsChanged: boolean;
}

export interface OpenServe extends OpenCatalog {
  /** Origin and port of the HTTP server. */
  readonly url: string;
  /** Whether every client must bring a token. */
  readonly needsToken: boolean;
  /** The file that holds a token for the REST API; undefined: those who made tokens know them. */
  readonly adminTokenPath: string | undefined;
  /** The toolset whose tools `/mcp` shows. */
  readonly equipped: () => Toolset | undefined;
  /** Whether `/mcp` shows the configuration tools alone where none is equipped, and not all tools beside them. */
  readonly hasModes: boolean;
}

/** The store of the home, for a command that uses it and ends. */
export interface OpenStore {
  readonly store: Store;
  readonly close: () => Promise<void>;
}

/** The toolsets of the home's store, for a command that uses them and ends. */
export interface OpenToolsets {
  readonly toolsets: Toolsets;
  /** The tools of all servers of the config, which are started when this is first asked. */
  readonly tools: () => Promise<Result<ToolIndex, Refusal>>;
  /** Those servers, and whether toolsets serve tools whose definition has changed; empty before they are started. */
  readonly circumstances: () => Pick<SelectOptions, 'servers' | 'showsChanged'>;
  readonly close: () => Promise<void>;
}

/** What operators see and change of sources and tools, for a command that ends. */
export interface OpenServices {
  readonly tools: ToolService;
  readonly gateways: ServerService;
  readonly local: CustomToolService;
  readonly modules: FunctionModuleService;
  readonly bundles: BundleService;
  readonly importDocument: (input: DocumentInput, subject: string) => Promise<Result<GatewayView, Refusal>>;
  /** Starts one source, and waits for it; the others rest. */
  readonly start: (source: string) => Promise<void>;
  /** What is accepted and what has changed of the instructions of these servers. */
  readonly instructions: Pick<InstructionsReview, 'viewOf' | 'accept'>;
  readonly servers: () => readonly ServerSpec[];
  /** Starts all, waits for them, and compares their tools and instructions with what was accepted. */
  readonly startAll: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** What the commands around other clients need. */
export interface ClientConfigPorts {
  /** The clients whose config files are known. */
  readonly clientIds: readonly string[];
  importServers(request: ImportRequest, options: AppOptions): Promise<Result<ImportReport, Refusal>>;
  connectClient(request: ConnectRequest, options: AppOptions): Promise<Result<ConnectReport, Refusal>>;
  undoConnect(request: UndoRequest, options: AppOptions): Promise<Result<ConnectReport, Refusal>>;
}

/** All settings with whose word each is. */
export interface ShownSettings extends Resolved {
  /** Stored settings that have no effect, as they come from environment and config file only. */
  readonly ignored: readonly SettingKey[];
  /** The config file that was read. */
  readonly configPath: string;
}

/** What the command line needs from the rest of the program. */
export interface Runtime extends ClientConfigPorts {
  readonly version: string;
  /** How this program is started: an executable and its first arguments. */
  readonly ownCommand: readonly string[];
  /** For commands that end by themselves: only what went wrong is logged, as their own output says the rest. */
  openCatalog(options: AppOptions): Promise<Result<OpenTools, Refusal>>;
  openServe(options: ServeOptions): Promise<Result<OpenServe, Refusal>>;
  /** The store of the home, for a command that uses it and closes it. */
  openStore(options: AppOptions): Promise<Result<OpenStore, Refusal>>;
  openToolsets(options: AppOptions): Promise<Result<OpenToolsets, Refusal>>;
  openServices(options: AppOptions): Promise<Result<OpenServices, Refusal>>;
  /** The text of a file. FILE_UNREADABLE */
  readFile(path: string): Promise<Result<string, Refusal>>;
  /** Writes a file, whole, for this user alone. FILE_UNWRITABLE */
  writeFile(path: string, text: string): Promise<Result<undefined, Refusal>>;
  readonly mintToken: Mint;
  readSettings(options: AppOptions): Promise<Result<ShownSettings, Refusal>>;
  /** Speaks MCP on stdin and stdout until the client closes its side or a signal comes. */
  runStdio(options: StdioOptions): Promise<Result<undefined, Refusal>>;
  /** Has whoever sits at the terminal sign in at a remote server. */
  signIn(request: SignInRequest, options: AppOptions): Promise<Result<ShownCredential, Refusal>>;
  /** All sign-ins, without anything secret. */
  signIns(options: AppOptions): Promise<Result<readonly ShownCredential[], Refusal>>;
  signOut(
    who: Pick<SignInRequest, 'server' | 'subject'>,
    options: AppOptions,
  ): Promise<Result<SignOutReport, Refusal>>;
  /** Whether whoever sits at the terminal would see a browser that is opened. */
  hasBrowser(): boolean;
  /** Looks at all that a start needs, and changes nothing. */
  examine(options: DiagnosticsOptions): Promise<Diagnosis>;
  /** Resolves at the first SIGINT, SIGTERM or SIGHUP. */
  untilStopped(): Promise<void>;
}
