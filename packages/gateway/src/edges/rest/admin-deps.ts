import type { RunningStatus } from '../../api/status.ts';
import type { BodyBudget } from '../../core/body-budget.ts';
import type { ProtectedResource } from '../../core/protected-resource.ts';
import type { Refusal } from '../../core/refusal.ts';
import { allows, LOCAL_OPERATOR } from '../../core/subject.ts';
import type { GatewayReports } from '../../gateway/services/gateway-reports.ts';
import type { BundleService } from '../../gateway/services/bundles/bundle-service.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { Relay } from '../../gateway/relay/call.ts';
import type { Gateway } from '../../api/server.ts';
import type { DocumentInput } from '../../gateway/services/servers/import-document.ts';
import type { DocumentTools } from '../../gateway/services/servers/document-tools.ts';
import type { ConfigEntry, Imported } from '../../gateway/ports/config-entries.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { ServerService } from '../../gateway/services/servers/server-service.ts';
import type { ToolService } from '../../gateway/services/tools/tool-service.ts';
import type { Verifications } from '../../gateway/services/verification/verifications.ts';
import type { PreferenceService } from '../../gateway/services/preferences/preference-service.ts';
import type { PolicyRules } from '../../gateway/services/policy-rules.ts';
import type { Notices } from '../../gateway/services/notices.ts';
import type { StopService } from '../../gateway/services/stops.ts';
import type { TokenPreferences } from '../../gateway/services/token-preferences.ts';
import type { SessionLabels } from '../../gateway/catalog/session-labels.ts';
import type { RecordReplica } from '../../gateway/catalog/record-replica.ts';
import type { InstructionsReview } from '../../gateway/catalog/instructions-review.ts';
import type { CustomToolService } from '../../gateway/services/sources/custom-tool-service.ts';
import type { SecretService } from '../../gateway/services/secrets/secret-service.ts';
import type { FunctionModuleService } from '../../gateway/services/sources/function-module-service.ts';
import type { Gate, Mint } from '../../gateway/ports/gate.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { ClientSnippets } from '../../gateway/ports/client-snippets.ts';
import type { PageSessions } from '../../gateway/ports/page-sessions.ts';
import type { RecentLines } from '../../gateway/ports/recent-lines.ts';
import type { CountTokens } from '../../gateway/ports/telemetry.ts';
import type { BuildSearch } from '../../gateway/ports/search.ts';
import type { Store } from '../../gateway/ports/store.ts';
import type { NoteService } from '../../gateway/services/notes/note-service.ts';
import type { Toolsets } from '../../gateway/services/toolsets/toolsets.ts';
import type { ToolsetService } from '../../gateway/services/toolsets/toolset-service.ts';
import type { PageFile } from './admin-pages.ts';
import type { AssetName } from './docs-pages.ts';
import type { RestCall } from './route.ts';

/** Dependencies of the REST API. */
export interface AdminDeps {
  readonly version: string;
  readonly log: Log;
  /** The memory for request bodies, shared with the MCP endpoints. */
  readonly bodies: BodyBudget;
  readonly store: Store;
  readonly records: RecordReplica;
  readonly mint: Mint;
  readonly mintSession: Mint;
  readonly catalog: Catalog;
  readonly relay: Relay;
  readonly reports: GatewayReports;
  readonly recentLines: RecentLines;
  readonly buildSearch: BuildSearch;
  readonly loadTokenCounter: () => Promise<CountTokens>;
  readonly snippets: ClientSnippets;
  /** The URL at which clients reach this process, if it differs from the address on which it listens. */
  readonly publicUrl: string | undefined;
  /** This process and its clients. */
  /** Opens a port for the pages if there is none yet. Resolves to the URL. ADDRESS_UNUSABLE */
  readonly openPages: () => Promise<Result<string, Refusal>>;
  readonly running: () => RunningStatus;
  readonly labels: Pick<SessionLabels, 'list' | 'clear'>;
  readonly tokenPreferences: Pick<TokenPreferences, 'view' | 'change'>;
  readonly policyRules: PolicyRules;
  readonly stops: StopService;
  readonly notices: Pick<Notices, 'test'>;
  readonly tools: ToolService;
  readonly servers: ServerService;
  readonly documents: {
    preview(entry: ConfigEntry, trust: boolean | undefined): Promise<Result<DocumentTools, Refusal>>;
    /** Reads an uploaded document before it is stored. */
    upload(): Imported;
    import(input: DocumentInput, subject: string): Promise<Result<Gateway, Refusal>>;
  };
  readonly verifications: Pick<Verifications, 'server' | 'running' | 'verify'>;
  readonly customTools: CustomToolService;
  readonly functionModules: FunctionModuleService;
  readonly secrets: SecretService;
  readonly bundles: BundleService;
  readonly toolsets: Toolsets;
  readonly notes: NoteService;
  readonly toolsetService: ToolsetService;
  readonly instructions: Pick<InstructionsReview, 'viewOf' | 'accept'>;
  readonly preferences: PreferenceService;
  readonly gate: Pick<Gate, 'isHolder' | 'refresh' | 'revoke'> & { readonly sessions: PageSessions };
  /** The clock that the gate uses for token expiry. */
  readonly nowMs: () => number;
  /** Whether commands may be added: on loopback only, and not behind a proxy. */
  readonly mayExecute: boolean;
  /** Whether it listens on loopback only and has no public URL. */
  readonly isLocalOnly: boolean;
  /** Whether MCP clients must send a token. */
  readonly needsToken: boolean;
  /** Undefined if no issuer is set. */
  readonly resource?: ProtectedResource | undefined;
  /** Aborted when long-lived responses must end. */
  readonly ending: AbortSignal;
  /** Reads a file shipped with the program. Undefined if it is missing. */
  readonly asset: (name: AssetName) => Promise<string | undefined>;
  readonly pageFile: PageFile;
}

/** Why a caller may not add commands, modules or local documents. Undefined if allowed. */
export function findExecuteRefusal(
  { mayExecute }: Pick<AdminDeps, 'mayExecute'>,
  { identity }: Pick<RestCall<unknown, unknown>, 'identity'>,
): Refusal | undefined {
  if (!allows(identity, 'execute')) return { code: 'SCOPE_MISSING', scope: 'execute' };
  return mayExecute || identity === LOCAL_OPERATOR ? undefined : { code: 'EXECUTE_OFF' };
}
