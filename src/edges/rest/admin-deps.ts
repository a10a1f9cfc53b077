import type { ProtectedResource } from '../../core/protected-resource.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { SettingSources } from '../../core/resolve-settings.ts';
import type { Settings } from '../../core/settings.ts';
import { allows } from '../../core/subject.ts';
import type { BundleService } from '../../gateway/services/bundles/bundle-service.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import type { ServerService } from '../../gateway/services/servers/server-service.ts';
import type { ToolService } from '../../gateway/services/tools/tool-service.ts';
import type { RecordReplica } from '../../gateway/catalog/record-replica.ts';
import type { InstructionsReview } from '../../gateway/catalog/instructions-review.ts';
import type { CustomToolService } from '../../gateway/services/sources/custom-tool-service.ts';
import type { FunctionModuleService } from '../../gateway/services/sources/function-module-service.ts';
import type { Gate, Log, Mint } from '../../gateway/ports/link.ts';
import type { Store } from '../../gateway/ports/store.ts';
import type { Toolsets } from '../../gateway/services/toolsets/toolsets.ts';
import type { AssetName } from './docs-pages.ts';
import type { Call } from './route.ts';

/** What the REST API needs of the rest of the program. */
export interface AdminDeps {
  readonly version: string;
  readonly log: Log;
  readonly store: Store;
  readonly records: RecordReplica;
  readonly mint: Mint;
  readonly catalog: Catalog;
  readonly tools: ToolService;
  readonly gateways: ServerService;
  readonly local: CustomToolService;
  readonly modules: FunctionModuleService;
  readonly bundles: BundleService;
  readonly toolsets: Toolsets;
  readonly instructions: Pick<InstructionsReview, 'viewOf' | 'accept'>;
  readonly preferences: PreferenceSources;
  readonly gate: Pick<Gate, 'isHolder' | 'refresh' | 'revoke'>;
  /** By which the gate lets tokens expire, too. */
  readonly nowMs: () => number;
  /** Whether commands may be added: on loopback alone. */
  readonly mayExecute: boolean;
  /** Undefined: no issuer is known. */
  readonly resource?: ProtectedResource | undefined;
  /** Aborted when what lasts is to end. */
  readonly ending: AbortSignal;
  /** The text of a file that comes with the program; undefined: it did not come. */
  readonly asset: (name: AssetName) => Promise<string | undefined>;
}

/** What was said of settings when this process started, and what came of it. */
interface PreferenceSources extends Pick<SettingSources, 'env' | 'file'> {
  readonly running: Settings;
}

/** Why somebody may add no command, no module and no document in a file; undefined: he may. */
export function executeRefusal(
  { mayExecute }: AdminDeps,
  { identity }: Pick<Call<unknown, unknown>, 'identity'>,
): Refusal | undefined {
  if (!allows(identity, 'execute')) return { code: 'SCOPE_MISSING', scope: 'execute' };
  return mayExecute ? undefined : { code: 'EXECUTE_OFF' };
}
