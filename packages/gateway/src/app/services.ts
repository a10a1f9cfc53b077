import { join } from 'node:path';
import { passphraseSeal } from '../adapters/auth/passphrase-seal.ts';
import { findServe, SERVE_FILE } from '../adapters/store/running-serve.ts';
import { maskArguments } from '../adapters/telemetry/shown-arguments.ts';
import { findSecretMembers } from '../adapters/telemetry/secret-members.ts';
import { getLintLevels } from '../core/hints/lint-levels.ts';
import type { Refusal } from '../core/refusal.ts';
import { findSettingFix } from '../core/resolve-settings.ts';
import type { Cause } from '../core/cause.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isSettingKey, toShownSetting } from '../core/settings.ts';
import type { EntryFault } from '@assay-mcp/kit/json-position';
import type { RestToolSpec } from '../core/sources/custom-tools.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import { getSourceKind } from '../core/sources/source-kinds.ts';
import type { OpenServices, RootsReview } from '../edges/cli/runtime.ts';
import type { AdminDeps } from '../edges/rest/admin-deps.ts';
import { isLoopback } from '../edges/mcp/guard.ts';
import { createReports, type GatewayReports } from '../gateway/services/gateway-reports.ts';
import { BundleService } from '../gateway/services/bundles/bundle-service.ts';
import { PreferenceService } from '../gateway/services/preferences/preference-service.ts';
import { PolicyRules } from '../gateway/services/policy-rules.ts';
import { StopService } from '../gateway/services/stops.ts';
import { ServerService } from '../gateway/services/servers/server-service.ts';
import { previewDocument, createUpload } from '../gateway/services/servers/document-tools.ts';
import { importDocument } from '../gateway/services/servers/import-document.ts';
import { CustomToolService } from '../gateway/services/sources/custom-tool-service.ts';
import { createSecretSeal } from '../adapters/auth/seal.ts';
import { SecretService } from '../gateway/services/secrets/secret-service.ts';
import { FunctionModuleService } from '../gateway/services/sources/function-module-service.ts';
import { ToolService, type ToolServiceOptions } from '../gateway/services/tools/tool-service.ts';
import { Verifications } from '../gateway/services/verification/verifications.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import type { InstructionsReview } from '../gateway/catalog/instructions-review.ts';
import { confineIn, openDeclared, probeSandboxSupport } from './confine.ts';
import { type Environment, hasHomeStore, openInEnvironment } from './environment.ts';
import { createStarter, listTools } from './needed-servers.ts';
import { type ConfiguredCatalog, openCatalog } from './open-catalog.ts';
import type { AppOptions } from '../core/command-options.ts';
import { readToolsets } from './records.ts';
import { createReachCheck } from './sources.ts';
import { inspectPath } from '@assay-mcp/kit/platform/machine';

export interface Services extends Pick<
  AdminDeps,
  | 'labels'
  | 'tokenPreferences'
  | 'policyRules'
  | 'stops'
  | 'preferences'
  | 'tools'
  | 'servers'
  | 'customTools'
  | 'functionModules'
  | 'secrets'
> {
  readonly verifications: Verifications;
}

/**
 * The services with which operators view and change sources and tools. `listed`: by default, gives servers some time
 * after the start to list their tools.
 */
export function createServices(
  opened: ConfiguredCatalog,
  listed: ListTools = () => opened.catalog.listed(opened.catalog.servers, 'tools'),
): Services {
  const { catalog, settings, fileSettings, records, environment, rules } = opened;
  const { policy, labels, tokenPreferences, identify } = opened;
  const { mask } = environment.telemetry;
  const reaches = { reachFaults: createReachCheck(rules) };
  const nowMs = (): number => Date.now();
  const levels = getLintLevels(settings);
  const { home, options, configEnvironment } = environment;
  const { env } = configEnvironment;
  const confine = confineIn(home, { config: options.config, configEnvironment });
  const tools = new ToolService({
    ...{ catalog, ...records, policy, labels, identify, levels, mask, nowMs, listed },
    sandboxSupport: (twin) => probeSandboxSupport(twin && { ...twin, confine }),
  });
  const servers = new ServerService({ catalog, ...records, ...reaches, policy, mask, nowMs });
  return {
    labels,
    tokenPreferences,
    policyRules: new PolicyRules({
      records: records.records,
      configFileRules: () => policy.configFileRules,
      nowMs,
    }),
    stops: new StopService({ catalog, servers, records: records.records, nowMs }),
    preferences: new PreferenceService({
      ...{ records: records.records, env, file: fileSettings, running: settings, nowMs },
    }),
    tools,
    servers,
    verifications: new Verifications({
      ...{ catalog, servers, mask },
      openVerifier: async () => (await import('./companion.ts')).openVerifier(configEnvironment),
      records: records.records,
      calls: { open: () => environment.store.open(), shown: (text) => maskArguments(text, mask) },
    }),
    customTools: new CustomToolService({
      catalog,
      ...records,
      ...reaches,
      tools,
      faultsOf,
      declaredTextOf,
      mask,
      nowMs,
    }),
    functionModules: new FunctionModuleService({ catalog, ...records, moduleFault, nowMs, listed }),
    secrets: new SecretService({
      ...{ catalog, records: records.records, nowMs, mask },
      secretSeal: createSecretSeal(environment.keys),
      learn: (values) => environment.secrets.add(values),
    }),
  };
}

type ListTools = ToolServiceOptions['listed'];

/** Reads OpenAPI documents that operators are about to add. */
export function createDocuments(
  { catalog, records, rules }: ConfiguredCatalog,
  servers: ServerService,
): AdminDeps['documents'] {
  const { connect } = catalog;
  const deps = { ...records, connect, reachFaults: createReachCheck(rules), nowMs: Date.now };
  return {
    preview: (entry, trust) => previewDocument(deps, entry, trust),
    upload: () => createUpload(deps),
    import: (input, subject) => importDocument({ connect, servers, nowMs: Date.now }, input, subject),
  };
}

/** The modules for filters and schemas are loaded on demand. */
async function faultsOf(spec: RestToolSpec): Promise<readonly EntryFault[]> {
  const { findRestFaults } = await import('../adapters/sources/rest/rest-tool.ts');
  return findRestFaults(spec);
}

async function declaredTextOf(spec: RestToolSpec): Promise<string> {
  const { serializeRestRecord } = await import('../adapters/sources/rest/rest-tool.ts');
  return serializeRestRecord(spec);
}

async function moduleFault(path: string): Promise<string | undefined> {
  const facts = await inspectPath(path);
  if (facts === undefined) return `There is no file ${JSON.stringify(path)}. Check the path.`;
  return facts.is === 'folder'
    ? `${JSON.stringify(path)} is a folder. Name the module file in it.`
    : undefined;
}

export interface ServicesNeeds {
  /** Whether the command only reads: then it does not create a store. */
  readonly isReading?: boolean;
  /** Whether having no servers is acceptable. */
  readonly mayBeEmpty?: boolean;
}

/** The services in an environment, which closes what they use. Servers start as requests need them. */
export async function openServices(
  environment: Environment,
  { isReading = false, mayBeEmpty = true }: ServicesNeeds = {},
): Promise<Result<LocalServices, Refusal>> {
  const store = isReading ? ok(undefined) : await environment.store.open();
  if (!store.ok) return store;
  const isOnNetwork = !isReading && (await isServedToOthers(environment.home));
  const opened = await openCatalog(environment, { mayBeEmpty, isOnNetwork });
  if (!opened.ok) return opened;
  const { catalog, records, settings } = opened.value;
  const { listed } = createStarter(opened.value);
  const services = createServices(opened.value, listed);
  return ok({
    ...services,
    bundles: openBundles(opened.value, services.servers),
    documents: createDocuments(opened.value, services.servers),
    mayExecute: true,
    catalog,
    instructions: records.instructions,
    listed,
    reports: createReports({
      ...{ catalog, running: () => undefined, instructions: records.instructions },
      stops: () => records.records.stops(),
      lintLevels: getLintLevels(settings),
      listTools: (request) => listTools(opened.value, request),
      toolsets: async () => {
        const toolsets = readToolsets(environment);
        const ready = hasHomeStore(environment) ? await toolsets.ready() : ok(undefined);
        return ready.ok ? ok(toolsets) : ready;
      },
    }),
  });
}

/** The services of a process without a gateway. */
export interface LocalServices extends Services, Pick<AdminDeps, 'bundles' | 'documents' | 'mayExecute'> {
  readonly catalog: Catalog;
  readonly instructions: InstructionsReview;
  readonly reports: GatewayReports;
  /** Starts the servers of these tools and compares their lists with what was accepted. */
  readonly listed: ListTools;
}

/** Opens the services for a command. */
export function openLocalServices(given: AppOptions): Promise<Result<OpenServices & LocalServices, Refusal>> {
  return openInEnvironment({ ...given, isQuiet: true, transport: 'pipe' }, async (environment) => {
    const opened = await openServices(environment);
    if (!opened.ok) return opened;
    const { catalog } = opened.value;
    return ok({
      ...opened.value,
      serverSpecs: () => catalog.servers.map(({ spec }) => spec),
      roots: (spec) => rootsReview(environment.home, spec),
      close: () => environment.cleanup.close(),
    });
  });
}

/** What a server with a sandbox declares, compared with when its entry was first read. */
async function rootsReview(
  home: string,
  { transport }: ServerSpec,
): Promise<Result<RootsReview | undefined, Cause>> {
  const command = getSourceKind(transport).command(transport);
  if (command?.sandbox === undefined) return ok(undefined);
  const { compareDeclared } = await import('./root-facts.ts');
  const change = await compareDeclared(home, command);
  if (!change.ok) return err({ code: 'SANDBOX_UNSAFE', ...change.error });
  const { stored, now, paths } = change.value;
  const accept = async (): Promise<Result<unknown, Cause>> => {
    const renewed = await (await openDeclared(home)).renew(command, paths);
    return renewed.ok ? renewed : err({ code: 'SANDBOX_UNSAFE', ...renewed.error });
  };
  return ok({ stored, now, accept });
}

/** Whether a `serve` of this home, which picks up what a command registers, listens beyond loopback. */
async function isServedToOthers(home: string): Promise<boolean> {
  const serve = await findServe(join(home, SERVE_FILE));
  return serve !== undefined && serve.url !== '' && !isLoopback(new URL(serve.url).hostname);
}

/** Export and import of everything that operators created. */
export function openBundles(
  { records, catalog, environment, settings, fileSettings, rules }: ConfiguredCatalog,
  servers: ServerService,
): BundleService {
  const sources = { env: environment.configEnvironment.env, file: fileSettings };
  return new BundleService({
    ...records,
    catalog,
    passphraseSeal,
    reachFaults: createReachCheck(rules),
    secretMembers: findSecretMembers,
    configNames: () => servers.all().flatMap(({ name, origin }) => (origin === 'config_file' ? [name] : [])),
    settingFix: (key) => (isSettingKey(key) ? findSettingFix(key, sources) : undefined),
    runningSetting: (key) => toShownSetting(key, settings[key]),
    nowMs: () => Date.now(),
  });
}
