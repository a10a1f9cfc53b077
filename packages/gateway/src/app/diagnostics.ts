import { openRecordsFile } from '../adapters/store/records-file.ts';
import process from 'node:process';
import { inspectConfig } from '../adapters/config/inspect-config.ts';
import type { Config, ConfigEnvironment } from '../adapters/config/load-config.ts';
import { locateConfig, toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { findOwnEntries } from '../adapters/config/client-configs/find-clients.ts';
import { createUpstreamConnectors } from '../adapters/upstream/connect.ts';
import { inspectStore } from '../adapters/store/inspect-store.ts';
import { isCredentialName } from '@assay-mcp/kit/credential-names';
import { LOG_LEVELS } from '../adapters/telemetry/log.ts';
import { maskShapes } from '@assay-mcp/kit/secret-shapes';
import { listEnvironmentSecrets, listServerSecrets } from '../core/secrets/secret-values.ts';
import { Secrets } from '../core/secrets/secrets.ts';
import { formatRefusal } from '../core/sentences.ts';
import { sortFindings, type Diagnosis, type Finding } from '../core/finding.ts';
import { MIN_NODE_VERSION, OWN_INFO, VERSION } from '@assay-mcp/kit/version';
import { checkRoots } from '../core/check-roots.ts';
import { checkConfined, checkSandbox, checkSharedNetwork, checkState } from '../core/check-sandbox.ts';
import { checkClients, type ClientEntry } from '../core/check-clients.ts';
import { checkCommands } from '../core/check-commands.ts';
import { checkConfig } from '../core/check-config.ts';
import { checkKeys } from '../core/check-keys.ts';
import { checkNotices, checkPolicy, checkStops, type NoticeFacts } from '../core/check-policy.ts';
import { checkHome, checkNode, checkOpenFiles, checkStore } from '../core/check-machine.ts';
import { checkServers, type ServerWarning } from '../core/check-servers.ts';
import type { ToolRecord } from '../core/hints/tool-record.ts';
import { checkDrift, checkHints, checkIsolation } from '../core/check-tools.ts';
import { checkNames } from '../core/list-report.ts';
import type { ReachRules } from '../core/reach-rules.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import { getDefaultSettings, resolveSettings } from '../core/resolve-settings.ts';
import type { Settings } from '../core/settings.ts';
import type { Stop } from '../core/stops.ts';
import { Catalog } from '../gateway/catalog/catalog.ts';
import { examineServers, type CollectedLogs } from '../gateway/services/examine-servers.ts';
import type { Log } from '../gateway/ports/log.ts';
import type { Memory } from '../gateway/ports/link.ts';
import type { Credentials } from '../gateway/ports/credentials.ts';
import {
  type Environment,
  createEncryptionKeys,
  createHomeStore,
  isOpenWith,
  listSecretFiles,
  getVariable,
} from './environment.ts';
import type { DiagnosticsOptions } from '../core/command-options.ts';
import type { Confine } from '@assay-mcp/sandbox/confine';
import type { AppOptions } from '../core/command-options.ts';
import { isThere } from '@assay-mcp/kit/platform/files';
import { connectEnvironment } from './client-entry.ts';
import { OWN_COMMAND } from './serve-stdio.ts';
import { confineIn, declarePaths, probeSandboxSupport } from './confine.ts';
import { inspectRoots } from './root-facts.ts';
import type { ReferenceResolver } from '../adapters/secrets/resolve-references.ts';
import { RecordReplica } from '../gateway/catalog/record-replica.ts';
import type { RecordCache } from '../gateway/ports/records.ts';
import { createResolver, withReferences } from './references.ts';
import { connectAll, toReachRules } from './sources.ts';
import { inspectKeys, openCredentials } from './keys.ts';
import { inspectCommands, inspectHome } from './machine-facts.ts';
import { Cleanup } from '@assay-mcp/kit/platform/cleanup';
import { isAbsolute, join } from 'node:path';
import { findServe, SERVE_FILE } from '../adapters/store/running-serve.ts';
import { formatNotifier, NOTICE_SETTINGS } from '../core/notices.ts';
import { readNotifiers } from './notices.ts';
import { findCommand, getOpenFilesLimit } from '@assay-mcp/kit/platform/machine';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { findExposedFiles, findUnsafePath } from '@assay-mcp/kit/platform/path-safety';
import { getSourceKind } from '../core/sources/source-kinds.ts';
import type { Command } from '@assay-mcp/sandbox/rights';

/**
 * Checks everything that a start needs, without changing anything. Servers it starts are stopped before it resolves.
 */
export async function examine(options: DiagnosticsOptions, signal: AbortSignal): Promise<Diagnosis> {
  const configEnvironment = toConfigEnvironment(options);
  const location = locateConfig({ flag: options.config, ...configEnvironment });
  const inspected = await inspectConfig(location, configEnvironment, looksSecret);
  const servers = inspected.config?.servers ?? [];
  const home = locateHome(configEnvironment);
  const secrets = new Secrets();
  secrets.add([...listEnvironmentSecrets(configEnvironment.env), ...servers.flatMap(listServerSecrets)]);
  const mask = (text: string): string => secrets.mask(text);
  const commands = checkCommands(await inspectCommands(servers, configEnvironment));
  const settings = settingsIn(configEnvironment, inspected.config);
  const rules = toReachRules(settings, configEnvironment);
  const cleanup = new Cleanup();
  const store = createHomeStore({ home, configEnvironment, log: NO_LOG, cleanup });
  const keys = createEncryptionKeys({ home, configEnvironment, log: NO_LOG });
  const databaseUrl = getVariable(configEnvironment.env, 'ASSAY_DATABASE_URL');
  const inspectedStore = await inspectStore({ home, databaseUrl });
  const credentials = openCredentials({ keys, log: NO_LOG, secrets, store }, { rules });
  const resolver = openResolver({ home, configEnvironment, keys, secrets, store, cleanup });
  const notStarted = await findNotStarted(options, home);
  const atFault = commands.filter(({ level }) => level === 'problem').map(({ about }) => about);
  const findings = [
    ...checkConfig({ ...inspected.facts, settingFaults: settingFaults(configEnvironment) }),
    ...checkPolicy({
      rules: inspected.config?.rules ?? [],
      isOpen: isOpenWith(settings, configEnvironment),
    }),
    ...checkNotices(await inspectNotifiers(settings, configEnvironment)),
    ...checkStops(knownStops(home, configEnvironment)),
    ...checkOwnNode(),
    ...commands,
    ...checkClients(await inspectClients(options)),
    ...checkHome({
      ...(await inspectHome(home)),
      unsafe: findUnsafePath(home, configEnvironment),
      exposed: findExposedFiles(listSecretFiles(home), configEnvironment),
    }),
    ...checkStore(inspectedStore),
    ...checkKeys(await inspectKeys({ keys, configEnvironment, log: NO_LOG }, inspectedStore)),
    ...checkOpenFiles(getOpenFilesLimit()),
    ...(await sandboxFindings(servers, confineIn(home, { config: options.config, configEnvironment }))),
    ...checkRoots(await inspectRoots({ home, config: options.config, configEnvironment, servers })),
    ...checkSharedNetwork(servers, settings['mcp.access']),
    ...checkState(servers, keptTools(home, configEnvironment)),
    ...(notStarted !== undefined || inspected.config === undefined
      ? []
      : await lookAtServers(inspected.config, {
          onNews: options.onNews,
          ...{ home, configEnvironment, signal, mask, credentials, rules, resolver },
          atFault: new Set(atFault),
        })),
  ];
  await credentials.close();
  await cleanup.close();
  return {
    findings: sortFindings(maskFindings(findings, mask)),
    hasUsableConfig: servers.length > 0,
    notStarted,
  };
}

function checkOwnNode(): readonly Finding[] {
  const { execPath, versions, env } = process;
  return checkNode({
    ...{ version: versions.node, execPath, minVersion: MIN_NODE_VERSION, ownVersion: VERSION },
    checksCertificates: env['NODE_TLS_REJECT_UNAUTHORIZED'] !== '0',
  });
}

/** The value of `--config` may be created later, that of `--home` too; a program must be there. */
async function inspectClients(options: AppOptions): Promise<readonly ClientEntry[]> {
  const entries = await findOwnEntries(connectEnvironment(options, OWN_COMMAND));
  return entries.map((entry) => {
    const end = entry.command.indexOf('stdio');
    const program = entry.command.slice(0, end < 0 ? 1 : end);
    return { ...entry, missing: program.filter((word) => isAbsolute(word) && !isThere(word)) };
  });
}

async function findNotStarted(
  { offline, start }: DiagnosticsOptions,
  home: string,
): Promise<Diagnosis['notStarted']> {
  if (offline) return 'offline';
  return !start && (await findServe(join(home, SERVE_FILE))) !== undefined ? 'gateway' : undefined;
}

/** Tool names and other text from servers may repeat secrets that the servers were given. */
function maskFindings(findings: readonly Finding[], mask: (text: string) => string): readonly Finding[] {
  return findings.map((finding) => ({
    ...finding,
    message: mask(finding.message),
    ...('remedy' in finding && { remedy: mask(finding.remedy) }),
  }));
}

export function looksSecret(name: string, value: string): boolean {
  return isCredentialName(name) || /^(?:Bearer|Basic) \S/.test(value) || maskShapes(value) !== value;
}

/** The settings of environment and config file, or the defaults if they are faulty. */
function settingsIn({ env }: ConfigEnvironment, config: Config | undefined): Settings {
  const resolved = resolveSettings({ env, file: config?.settings ?? new Map(), stored: new Map() });
  return resolved.ok ? resolved.value.settings : getDefaultSettings();
}

function settingFaults({ env }: ConfigEnvironment): readonly string[] {
  const resolved = resolveSettings({ env, file: new Map(), stored: new Map() });
  const level = getVariable(env, 'ASSAY_LOG_LEVEL');
  const isKnown = level === undefined || LOG_LEVELS.includes(level);
  return [
    ...(resolved.ok ? [] : [formatRefusal(resolved.error)]),
    ...(isKnown
      ? []
      : [`The setting ASSAY_LOG_LEVEL is not valid: it must be one of ${LOG_LEVELS.join(', ')}.`]),
  ];
}

/** Tests sandboxes only if a server needs one. */
async function sandboxFindings(
  servers: readonly ServerSpec[],
  confine: Confine,
): Promise<readonly Finding[]> {
  const commands = servers.flatMap(({ name, transport }) => {
    const command = getSourceKind(transport).command(transport);
    return command?.sandbox === undefined ? [] : [{ name, command }];
  });
  const checked = commands.map(async ({ name, command }) => {
    const ofTwin = await probeSandboxSupport({ confine, command, rights: 'read' });
    return { name, isOnNode: command.sandbox === 'twin' && !ofTwin.canEnforce && ofTwin.isOnNode === true };
  });
  const own = servers.filter(({ transport }) => getSourceKind(transport).isConfined).map(({ name }) => name);
  if (checked.length + own.length === 0) return [];
  const support = await probeSandboxSupport();
  return [
    ...(checked.length === 0 ? [] : checkSandbox(await Promise.all(checked), support)),
    ...checkConfined(own, support),
  ];
}

interface DiagnosticsContext {
  readonly home: string;
  readonly configEnvironment: ConfigEnvironment;
  readonly onNews: DiagnosticsOptions['onNews'];
  readonly signal: AbortSignal;
  readonly mask: (text: string) => string;
  readonly credentials: Credentials;
  readonly rules: ReachRules;
  readonly resolver: ReferenceResolver;
  /** Servers already reported as unable to start. */
  readonly atFault: ReadonlySet<string>;
}

async function lookAtServers(config: Config, context: DiagnosticsContext): Promise<readonly Finding[]> {
  const { home, configEnvironment, onNews, signal, mask, atFault, credentials, rules, resolver } = context;
  const collector = new LogCollector();
  const limits = settingsIn(configEnvironment, config);
  const connecting = {
    launcher: PLAIN_LAUNCHER,
    confine: confineIn(home, { config: config.path, configEnvironment, servers: () => config.servers }),
    declare: (command: Command) => declarePaths(home, [command]),
    ownInfo: JSON.stringify(OWN_INFO),
    credentials,
    rules,
  };
  const common = { mask, home, configPath: config.path, configEnvironment, rules };
  const first = createUpstreamConnectors({ ...connecting, log: collector, recallEra: () => undefined });
  const sources = connectAll({ ...common, upstream: first, log: collector });
  // Log output of a second start would repeat the first.
  const second = createUpstreamConnectors({ ...connecting, log: NO_LOG, recallEra: () => 'legacy' });
  const again = connectAll({ ...common, upstream: second, log: NO_LOG });
  const connectAgain = withReferences(again.connect, resolver);
  const watching = { memory: NO_MEMORY, log: collector, limits };
  const catalog = new Catalog(config, {
    connect: withReferences(sources.connect, resolver),
    ...watching,
    chance: Math.random,
  });
  const logsOf = (server: string): CollectedLogs => collector.of(server);
  const servers = await examineServers({ catalog, connectAgain, logsOf, mask, onNews, signal });
  await sources.close();
  const tools = catalog.all.listing('tools').entries.length;
  return [
    ...checkServers(servers, atFault),
    ...checkNames(catalog.reports(), tools),
    ...checkHints(servers),
    ...checkDrift(keptTools(home, configEnvironment), limits['drift.prose']),
    ...checkIsolation(servers),
  ];
}

/** The tool records last known to a program of this home. Does not open the store. */
function keptTools(home: string, { env }: ConfigEnvironment): readonly ToolRecord[] {
  const { recalled = [] } = openRecordsFile(home, getVariable(env, 'ASSAY_DATABASE_URL'));
  return recalled.flatMap((record) => (record.kind === 'tool' ? (record.body ?? []) : []));
}

/** Whether programs that send notices are there. Nothing is sent. */
function inspectNotifiers(
  settings: Settings,
  { env, home }: ConfigEnvironment,
): Promise<readonly NoticeFacts[]> {
  return Promise.all(
    [...readNotifiers(settings)].map(async ([topic, notifier]) => {
      const target = formatNotifier(notifier);
      const found =
        notifier.kind === 'webhook'
          ? undefined
          : await findCommand(target, { cwd: home, path: env['PATH'] ?? '' });
      return {
        ...{ setting: NOTICE_SETTINGS[topic], kind: notifier.kind, target },
        isFound: found?.kind === 'found',
        hasPublicUrl: settings['auth.publicUrl'] !== '',
      };
    }),
  );
}

/** What is stopped, as last known to a program of this home. */
function knownStops(home: string, { env }: ConfigEnvironment): readonly Stop[] {
  const { recalled = [] } = openRecordsFile(home, getVariable(env, 'ASSAY_DATABASE_URL'));
  return recalled.flatMap((record) => (record.kind === 'stops' ? (record.body?.stops ?? []) : []));
}

/** Reads the store for a server whose entry refers to a secret, and only then. */
function openResolver({
  cleanup,
  ...means
}: Pick<
  Environment,
  'home' | 'configEnvironment' | 'keys' | 'secrets' | 'store' | 'cleanup'
>): ReferenceResolver {
  const { store } = means;
  const records = new RecordReplica({ open: () => store.open(), cache: NO_CACHE, log: NO_LOG });
  cleanup.defer(() => records.close());
  return createResolver({ ...means, records: () => records });
}

const NO_CACHE: RecordCache = {
  recalled: undefined,
  remember: () => undefined,
  flush: () => Promise.resolve(),
};

/** Diagnostics neither use nor record what is remembered about servers. */
const NO_MEMORY: Memory = {
  recall: () => undefined,
  remember: () => undefined,
  recallAbsence: () => false,
  rememberAbsence: () => undefined,
};
const NO_LOG: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

const MAX_COLLECTED = 50;

/** Collects log lines per server. */
class LogCollector implements Log {
  readonly #collected = new Map<string, { readonly stderr: string[]; readonly warnings: ServerWarning[] }>();

  of(server: string): { readonly stderr: string[]; readonly warnings: ServerWarning[] } {
    const collected = this.#collected.get(server) ?? { stderr: [], warnings: [] };
    this.#collected.set(server, collected);
    return collected;
  }

  debug(_: string, { server, stream, text }: Readonly<Record<string, unknown>> = {}): void {
    if (stream !== 'stderr' || typeof server !== 'string' || typeof text !== 'string') return;
    const { stderr } = this.of(server);
    stderr.push(text);
    if (stderr.length > MAX_COLLECTED) stderr.shift();
  }

  info(): void {
    // Not a problem.
  }

  warn(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const { server, cause, causeCode, code } = fields;
    // Failures to connect or list are reported from the server's own state.
    if (typeof server !== 'string' || causeCode !== undefined) return;
    const { warnings } = this.of(server);
    const text = typeof cause === 'string' ? `${message} (${cause})` : message;
    if (warnings.length >= MAX_COLLECTED || warnings.some((warning) => warning.text === text)) return;
    warnings.push({ code: typeof code === 'string' ? code : undefined, text });
  }

  error(message: string, fields?: Readonly<Record<string, unknown>>): void {
    this.warn(message, fields);
  }
}
