import { join } from 'node:path';
import type { FileWatcher } from '@assay-mcp/kit/platform/watch-file';
import { locateConfig } from '@assay-mcp/kit/platform/locate-config';
import { openCatalogFile } from '../adapters/store/catalog-file.ts';
import { limitLog } from '../adapters/telemetry/limited-log.ts';
import { maskConnect } from '../adapters/telemetry/masked-connect.ts';
import { countSignInFailure } from '../adapters/telemetry/sign-in-failures.ts';
import { createUpstreamConnectors } from '../adapters/upstream/connect.ts';
import { OWN_INFO } from '@assay-mcp/kit/version';
import { FIXED_LIMITS } from '../core/fixed-limits.ts';
import type { ReachRules } from '../core/reach-rules.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../core/sentences.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import type { Settings } from '../core/settings.ts';
import type { Approvals } from '../gateway/catalog/approvals.ts';
import { CallPolicy } from '../gateway/catalog/call-policy.ts';
import { Catalog } from '../gateway/catalog/catalog.ts';
import type { Plan } from '../gateway/catalog/server-plan.ts';
import { StartLimiter } from '../gateway/catalog/start-limiter.ts';
import { TwinDenials } from '../gateway/catalog/twin-denials.ts';
import type { SessionLabels } from '../gateway/catalog/session-labels.ts';
import type { TokenPreferences } from '../gateway/services/token-preferences.ts';
import type { SoleClient } from '../gateway/catalog/client-session.ts';
import type { View } from '../gateway/catalog/view.ts';
import type { EventLog } from '../gateway/ports/event-log.ts';
import type { Connect } from '../gateway/ports/link.ts';
import type { Log } from '../gateway/ports/log.ts';
import type { Telemetry } from '../gateway/ports/telemetry.ts';
import type { Relay } from '../gateway/relay/call.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import { openCallLog } from './call-log.ts';
import { openEvents } from './open-events.ts';
import { listCommands, confineIn, declarePaths } from './confine.ts';
import { getMaxStarts, type EarlyStart } from './early-start.ts';
import { type Environment, hasHomeStore } from './environment.ts';
import { openRelay, openApprovals, openCredentials, openTaskIds } from './keys.ts';
import { openLabels, openTokenPreferences } from './open-policy.ts';
import { type Configured, followConfig, readConfig } from './plan.ts';
import { openRecords, type Records, buildReviewDeps } from './records.ts';
import { connectWithValues, reconnectOnSecrets } from './references.ts';
import { connectAll, toReachRules } from './sources.ts';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { pause, waitAtMost } from '@assay-mcp/kit/platform/pause';

export interface OpenCatalog {
  readonly environment: Environment;
  readonly catalog: Catalog;
  /** The call pipeline. */
  readonly relay: Relay;
  readonly settings: Settings;
  /** `settings` as read from the config file. */
  readonly fileSettings: ReadonlyMap<string, unknown>;
  /** The config file that was read. */
  readonly configPath: string;
  /** Addresses that this process may connect to. */
  readonly rules: ReachRules;
  /**
   * Starts the servers; `only`: those of a view, the others when they are needed. In a long-running command they follow
   * the config from then on.
   */
  readonly start: (only?: View) => void;
  readonly close: () => Promise<void>;
}

/** An open catalog with the operators' records. */
export interface ConfiguredCatalog extends OpenCatalog {
  readonly records: Records;
  /** Why there are no servers. Undefined if there are some. */
  readonly absence: Refusal | undefined;
  readonly policy: CallPolicy;
  readonly labels: SessionLabels;
  readonly approvals: Approvals;
  /** Undefined if no events are written. */
  readonly events: EventLog | undefined;
  readonly tokenPreferences: TokenPreferences;
  readonly identify: TokenPreferences['identify'];
}

export interface CatalogOptions {
  /** Whether clients use tokens, so that each subject signs in at servers separately. */
  readonly isPersonal?: ((settings: Settings) => boolean) | undefined;
  readonly early?: EarlyStart | undefined;
  /** The only client, if there can be only one. */
  readonly sole?: SoleClient | undefined;
  /** Whether a client is attached, or one is about to be. Undefined: no client can attach. */
  readonly hasAttached?: (() => boolean) | undefined;
  /** Whether other machines can reach Assay; false for commands that do not listen. */
  readonly isOnNetwork?: boolean;
  /** Sources are about to be added, so the catalog may be empty. */
  readonly mayBeEmpty?: boolean;
}

/** Reads the config and the cached lists of its servers. Starts nothing. */
export async function openCatalog(
  environment: Environment,
  given: CatalogOptions = {},
): Promise<Result<ConfiguredCatalog, Refusal>> {
  const { options, configEnvironment, log, store } = environment;
  const configured = await readConfig(environment, given.early);
  if (!configured.ok) return configured;
  const { config, absence, settings, learn } = configured.value;
  const records = openRecords(environment, settings);
  // A server process reads the records before it answers; a command does if a store exists.
  const isStored = store.isOpen || hasHomeStore(environment);
  const isAwaited = store.isOpen || (options.isQuiet && isStored);
  const known = isAwaited ? await records.records.ready() : ok(undefined);
  if (!known.ok && options.isQuiet)
    log.error('operator settings could not be read; the last known ones are used', {
      cause: formatRefusal(known.error),
    });
  const emptiness = findEmptiness(configured.value, records, options.isQuiet);
  const unknown = known.ok || options.isQuiet ? undefined : known.error;
  const refusal = (given.mayBeEmpty === true ? undefined : emptiness) ?? unknown;
  if (refusal !== undefined) return err(refusal);
  const events = await openEvents(environment, settings);
  if (!events.ok) return events;
  const rules = toReachRules(settings, configEnvironment, given.isOnNetwork);
  const policy = new CallPolicy({
    records: records.records,
    isStored,
    env: configEnvironment.env,
    file: config.settings,
    rules: config.rules,
  });
  const labels = openLabels(environment, policy, isStored || !options.isQuiet);
  const approvals = openApprovals(environment, settings);
  const follow = options.isQuiet
    ? undefined
    : (catalog: Catalog) =>
        followConfig(config.path, {
          configEnvironment,
          catalog,
          policy,
          log,
          learn,
          isAbsent: absence !== undefined,
        });
  const opened = await openPlan(config, environment, {
    ...given,
    ...{ settings, rules, records, policy, labels, approvals, follow, isStored, events: events.value },
    isRecorded: !options.isQuiet,
    tasks: options.isQuiet ? undefined : { isAlone: options.transport === 'pipe' },
  });
  return ok({
    ...opened,
    ...openTokenPreferences(environment, { isStored, records, file: config.settings }),
    ...{ records, absence: emptiness, policy, labels, approvals, events: events.value },
    fileSettings: config.settings,
    configPath: config.path,
  });
}

/** Why there are no servers. Undefined if there are some, or if they may come later. */
function findEmptiness(
  { config, absence }: Configured,
  records: Records,
  isQuiet: boolean,
): Refusal | undefined {
  if (config.servers.length > 0 || hasSources(records)) return undefined;
  return absence ?? (isQuiet ? { code: 'SERVERS_ABSENT', path: config.path } : undefined);
}

function hasSources({ records }: Records): boolean {
  return (['gateway', 'rest_tool', 'function_module'] as const).some((kind) => records.all(kind).length > 0);
}

/** Maximum time in ms that a new store lets the first lists come before it. */
const FIRST_LISTS_MS = 1_000;
/** Time in ms to answer the client with them. */
const ANSWER_MS = 50;
/** Delay in ms before files are watched, so that the start is not slowed down. */
const FOLLOW_AFTER_MS = 500;

interface PlanOptions extends Pick<CatalogOptions, 'early' | 'sole' | 'isPersonal' | 'hasAttached'> {
  readonly settings: Settings;
  readonly rules: ReachRules;
  readonly follow: ((catalog: Catalog) => FileWatcher) | undefined;
  /** Whether the process is long-running: it follows the store, and compares servers with what was accepted. */
  readonly isRecorded: boolean;
  /** Whether anything can be stored already. Without a store, opening it waits for the first lists. */
  readonly isStored: boolean;
  /** If undefined, tasks are not offered. `isAlone`: the process has only one client. */
  readonly tasks: { readonly isAlone: boolean } | undefined;
  readonly records: Records;
  readonly policy: CallPolicy;
  readonly labels: SessionLabels;
  readonly approvals: Approvals;
  readonly events: EventLog | undefined;
}

type OpenPlan = Pick<
  OpenCatalog,
  'environment' | 'catalog' | 'relay' | 'settings' | 'rules' | 'start' | 'close'
>;

async function openPlan(plan: Plan, environment: Environment, given: PlanOptions): Promise<OpenPlan> {
  const { home, log, telemetry, cleanup } = environment;
  const { settings, rules, isRecorded, records } = given;
  const memory = openCatalogFile({ path: join(home, 'catalog.json'), log });
  const callLog = openCallLog(environment, settings, given);
  const credentials = openCredentials(environment, { isPersonal: given.isPersonal?.(settings), rules });
  const servers = openUpstream(environment, given, {
    memory,
    credentials,
    specs: () => catalog.servers.map(({ spec }) => spec),
  });
  const sources = connectAll({
    ...{ ...environment, upstream: servers, mask: telemetry.mask, rules },
    configPath: locateConfig({ flag: environment.options.config, ...environment.configEnvironment }).path,
  });
  const connect = watchConnect(connectWithValues(sources.connect, environment), telemetry);
  await declarePaths(home, listCommands(plan.servers));
  const addLabels = given.labels.add.bind(given.labels);
  if (given.sole !== undefined) given.sole.addLabels = addLabels;
  const catalog: Catalog = new Catalog(plan, {
    addLabels,
    connect,
    denials: new TwinDenials({
      ...{ connect, records: records.records, log, mask: telemetry.mask, nowMs: Date.now },
    }),
    memory,
    log,
    ...buildReviewDeps(records, isRecorded),
    limits: { ...settings, ...environment.options.limits },
    idleMs: isRecorded ? settings['servers.idleMs'] : 0, // a command needs its servers until it ends
    ...{ starts: new StartLimiter({ slots: getMaxStarts() }), chance: Math.random, mask: telemetry.mask },
    policy: given.policy,
    sole: given.sole,
    hasAttached: given.hasAttached,
    credentials,
  });
  const relay = openRelay(environment, settings, {
    ...{ ...given, callLog },
    tasks: given.tasks && { ...given.tasks, ids: openTaskIds(environment) },
  });
  await records.registered.follow(catalog);
  cleanup.defer(environment.keys.onChange(() => void records.registered.settled()));
  // After a sign-in, connect servers that were waiting for it.
  credentials.onNews((name) => void catalog.servers.find(({ spec }) => spec.name === name)?.tryNow());
  cleanup.defer(reconnectOnSecrets(environment, catalog));
  const following = followLater(catalog, given);
  cleanup.defer(async () => {
    following.stop();
    relay.deps.suspended.stop();
    await catalog.stop();
    await Promise.all([memory.flush(), credentials.close(), sources.close()]);
  });
  const start: OpenPlan['start'] = (only) => {
    catalog.startFor(only ?? catalog);
    if (!given.isStored) records.records.deferUntil(firstListsOf(catalog));
    following.start();
  };
  return { environment, catalog, relay, settings, rules, start, close: () => cleanup.close() };
}

/** Masks secrets in causes, and counts those of failed sign-ins. */
function watchConnect(connect: Connect, { mask, meter }: Telemetry): Connect {
  return maskConnect(connect, mask, (server, cause) => countSignInFailure(meter, server, cause));
}

interface UpstreamMeans {
  readonly memory: Awaited<ReturnType<typeof openCatalogFile>>;
  readonly credentials: ReturnType<typeof openCredentials>;
  /** The entries of all servers, as they are when a process starts. */
  readonly specs: () => readonly ServerSpec[];
}

/** Connectors for upstream servers. */
function openUpstream(
  { home, log, options, configEnvironment }: Environment,
  { rules, early }: PlanOptions,
  { memory, credentials, specs }: UpstreamMeans,
): ReturnType<typeof createUpstreamConnectors> {
  return createUpstreamConnectors({
    log: ofServers(log, options.limits?.serverLogLines),
    // Assay's own code search speaks both eras, and an early `initialize` would make it legacy.
    recallEra: (spec: ServerSpec): Era | undefined =>
      spec.transport.kind === 'codebase' ? 'modern' : memory.recall(spec)?.era,
    credentials,
    ownInfo: JSON.stringify(OWN_INFO),
    backlogBytes: options.limits?.backlogBytes,
    rules,
    launcher: PLAIN_LAUNCHER,
    confine: confineIn(home, { config: options.config, configEnvironment, servers: specs }),
    declare: (command) => declarePaths(home, [command]),
    takeStarted: early?.take,
  });
}

/** A long-running process follows its plan and the operators' records, and rereads server lists. */
function followLater(
  catalog: Catalog,
  { follow, isRecorded, records, settings }: PlanOptions,
): { readonly start: () => void; readonly stop: () => void } {
  let watching: FileWatcher | undefined;
  let [timer, refreshing]: (NodeJS.Timeout | undefined)[] = [];
  const intervalMs = settings['servers.refreshMs'];
  return {
    start: () => {
      // Short-lived commands do not read the store for this.
      if (isRecorded) void records.records.readyLater();
      if (isRecorded && intervalMs > 0) refreshing = setInterval(() => catalog.refresh(), intervalMs).unref();
      if (follow !== undefined)
        timer = setTimeout(() => {
          watching = follow(catalog);
        }, FOLLOW_AFTER_MS).unref();
    },
    stop: () => {
      clearTimeout(timer);
      clearInterval(refreshing);
      watching?.close();
    },
  };
}

/** Resolves when the client has its first lists. Opening a store meanwhile would take a core from the servers. */
async function firstListsOf(catalog: Catalog): Promise<void> {
  await waitAtMost(catalog.settled(), FIRST_LISTS_MS);
  await pause(ANSWER_MS);
}

/** Limits the log lines caused by each server. */
function ofServers(log: Log, linesPerSecond = FIXED_LIMITS.serverLogLines): Log {
  return limitLog(log, {
    linesPerSecond,
    nowMs: () => performance.now(),
    later: (work, afterMs) => setTimeout(work, afterMs).unref(),
  });
}
