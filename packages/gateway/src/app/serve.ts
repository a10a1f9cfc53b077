import type { RunningStatus } from '../api/status.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mintSession, mintToken } from '../adapters/auth/mint-token.ts';
import { buildWordSearch } from '../adapters/search/word-search.ts';
import { openMeter, type OwnMeter } from '../adapters/telemetry/metrics.ts';
import { loadTokenCounter } from '../adapters/telemetry/token-counter.ts';
import { BodyBudget, computeBodyBudget } from '../core/body-budget.ts';
import { VERSION } from '@assay-mcp/kit/version';
import { locateConfig } from '@assay-mcp/kit/platform/locate-config';
import type { ProcessLock } from '@assay-mcp/kit/platform/process-lock';
import { getLintLevels } from '../core/hints/lint-levels.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../core/server-spec.ts';
import type { Settings } from '../core/settings.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { waitForTurn } from '@assay-mcp/kit/turns';
import { LOCAL_USER } from '../core/subject.ts';
import { type MintedToken, createSteadyClock } from '../core/token.ts';
import type { OpenServe } from '../edges/cli/runtime.ts';
import { AttachedClients } from '../edges/mcp/attached-clients.ts';
import { isLoopback } from '../edges/mcp/guard.ts';
import type { HttpListener } from '../edges/mcp/http-listener.ts';
import { type McpHttpServer, openHttpServer } from '../edges/mcp/http-server.ts';
import type { RestHandler } from '../edges/mcp/request-path.ts';
import type { LastingSessions } from '../edges/mcp/sessions.ts';
import type { AdminDeps } from '../edges/rest/admin-deps.ts';
import type { Admin } from '../edges/rest/open-admin.ts';
import { followChanges } from '../gateway/services/activity/follow-changes.ts';
import { createReports } from '../gateway/services/gateway-reports.ts';
import { waitUntilSettled } from '../gateway/services/servers/refreshed.ts';
import { createSignInLink } from '../gateway/services/sign-in-links.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import type { View } from '../gateway/catalog/view.ts';
import type { EventLog } from '../gateway/ports/event-log.ts';
import type { Store } from '../gateway/ports/store.ts';
import type { PendingApprovals } from '../gateway/ports/telemetry.ts';
import { readText } from '@assay-mcp/kit/platform/files';
import { getMemoryBytes } from '@assay-mcp/kit/platform/memory-bytes';
import { announce } from './announce.ts';
import { type Environment, isOpenWith, LOG_FILE, openInEnvironment, getVariable } from './environment.ts';
import { connectEnvironment, formatViewOptions } from './client-entry.ts';
import { OWN_COMMAND } from './serve-stdio.ts';
import { ensureAdminToken, openGate, readResourceServer } from './gate.ts';
import { type ConfiguredCatalog, openCatalog } from './open-catalog.ts';
import type { ServeOptions, ViewOptions } from '../core/command-options.ts';
import { openAttachedPlace } from './attached-place.ts';
import { Ending, isNewer } from './ending.ts';
import { acquireGateway, findGateway, type GatewayFacts } from './gateway-lock.ts';
import { followKeys } from './keys.ts';
import { openLastingSessions } from './lasting-sessions.ts';
import { openNotices } from './notices.ts';
import { openToolsets, type OpenToolsets } from './records.ts';
import { createDocuments, createServices, openBundles } from './services.ts';
import { waitForStore } from './wait-for-store.ts';

/** Opens the HTTP server of a catalog, with store, tokens and metrics. */
export function openServe(given: ServeOptions): Promise<Result<OpenServe, Refusal>> {
  const meter = openMeter(VERSION);
  const options = { ...given, isQuiet: false, transport: 'tcp', meter } as const;
  return openInEnvironment(options, async (environment) => {
    const { home, configEnvironment, cleanup } = environment;
    const { path: configPath } = locateConfig({ flag: given.config, ...configEnvironment });
    const isOnDemand = given.onDemand === true;
    const lock = await acquireGateway({ home, configPath }, { isOnDemand, state: 'starting' });
    if (!lock.ok) return lock;
    cleanup.defer(() => lock.value.release());
    const awaited = await waitForStore(environment, given);
    if (!awaited.ok) return awaited;
    const { store, listener } = awaited.value;
    if (listener !== undefined) cleanup.defer(() => listener.close());
    return serveFrom(environment, store, { ...given, meter, lock: lock.value, listener });
  });
}

type Options = ServeOptions & {
  readonly meter: OwnMeter;
  readonly lock: ProcessLock;
  readonly listener: HttpListener | undefined;
};

async function serveFrom(
  environment: Environment,
  store: Store,
  options: Options,
): Promise<Result<OpenServe, Refusal>> {
  const { host, lock, onDemand: isOnDemand = false } = options;
  const operatorToken = getVariable(environment.configEnvironment.env, 'ASSAY_TOKEN');
  const isOpenIn = (given: Settings): boolean => isOpenWith(given, environment.configEnvironment);
  const needsTokenWith = (given: Settings): boolean => !isOpenIn(given) || !isLoopback(host);
  const ending = new Ending();
  const hasAttached = (): boolean => options.onDemand === true || ending.attachedCount() > 0;
  const isOnNetwork = !isLoopback(host);
  const opened = await openCatalog(environment, { isPersonal: needsTokenWith, isOnNetwork, hasAttached });
  if (!opened.ok) return opened;
  const { catalog, configPath, settings, start, close } = opened.value;
  const isPersonal = needsTokenWith(settings);
  const lasting = openLastingSessions(environment, opened.value);
  const shown = openToolsets(environment, { ...opened.value, isPersonal, states: lasting.states });
  const known = await shown.toolsets.ready();
  if (!known.ok) return known;
  const server = await openServer(
    { ...options, operatorToken, isOpen: isOpenIn(settings), ending },
    { store, opened: opened.value, shown, lasting, notices: openNotices(opened.value, store) },
  );
  if (!server.ok) return server;
  const { url, socket, ownToken, adminTokenPath } = server.value;
  start();
  await announce(environment, { url: url ?? '', socket, configPath }, ownToken);
  const isOwn = await lock.update({ isOnDemand, state: 'ready', socket, url } satisfies GatewayFacts);
  const { pid = 0 } = (isOwn ? undefined : findGateway({ home: environment.home, configPath })) ?? {};
  if (!isOwn) return err({ code: 'GATEWAY_RUNNING', pid, url: undefined });
  const idleMs = settings['background.idleMs'];
  if (isOnDemand) {
    environment.cleanup.defer(ending.endWhenIdle(() => server.value.isBusy || catalog.isBusy, idleMs));
    environment.cleanup.defer(ending.endWhenLost(lock));
  }
  return ok({
    catalog,
    configPath,
    logPath: join(environment.home, LOG_FILE),
    url: url ?? '',
    needsToken: isPersonal,
    adminTokenPath,
    ended: ending.promise,
    signInLink: () => {
      const base = settings['auth.publicUrl'] || (url ?? '');
      const by = LOCAL_USER.subject;
      return createSignInLink(base, { store, mint: mintSession, nowMs: Date.now(), by });
    },
    equipped: () => shown.toolsetService.equipped,
    hasModes: settings.enableConfigToolsMenu,
    close: async () => {
      // Clients must wait for the next gateway instead of trying this one.
      await lock.update({ isOnDemand, state: 'ending', url } satisfies GatewayFacts);
      await close();
    },
  });
}

interface ServerOptions extends Options {
  readonly operatorToken: string | undefined;
  /** Whether MCP clients need no token. */
  readonly isOpen: boolean;
  readonly ending: Ending;
}

interface Opened {
  readonly store: Store;
  readonly opened: ConfiguredCatalog;
  readonly shown: OpenToolsets;
  readonly lasting: LastingSessions;
  readonly notices: AdminDeps['notices'];
}

interface OpenServer
  extends Pick<McpHttpServer, 'url' | 'socket' | 'isBusy'>, Pick<OpenServe, 'adminTokenPath'> {
  readonly ownToken: MintedToken;
}

/**
 * Opens the HTTP server, with the token gate and the REST API. It is closed before the upstream servers, so that they
 * can still answer open requests.
 */
async function openServer(
  { host, port, listener, onDemand, meter, operatorToken, isOpen, limits, ending }: ServerOptions,
  { store, opened, shown, lasting, notices }: Opened,
): Promise<Result<OpenServer, Refusal>> {
  const { settings, catalog, relay, rules, environment } = opened;
  const { log, cleanup } = environment;
  const resourceServer = readResourceServer(settings, host);
  if (!resourceServer.ok) return resourceServer;
  const { resource } = resourceServer.value ?? {};
  const isLocalOnly = isLoopback(host) && settings['auth.publicUrl'] === '';
  const makesToken = isLoopback(host) && operatorToken === undefined;
  const adminTokenPath = makesToken ? await ensureAdminToken(store, environment) : undefined;
  const ownToken = mintToken();
  const nowMs = createSteadyClock();
  const gate = await openGate({
    ...{ store, operatorToken, ownToken, settings, resource, rules, log, isLocalOnly },
    clock: nowMs,
    maxFailures: limits?.tokenFailures,
  });
  relay.deps.tokens.gate = gate;
  cleanup.defer(() => gate.close());
  const facts = { startedMs: performance.now(), isOnDemand: onDemand === true };
  const listening: { server?: McpHttpServer } = {};
  const running = (): RunningStatus => runningStatus(opened, { ...facts, server: listening.server });
  const bodies = new BodyBudget(computeBodyBudget({ ...settings, ...limits }, getMemoryBytes()));
  const listensAt = (url: string): void => {
    resourceServer.value?.listensAt(url);
    opened.approvals.baseUrl = settings['auth.publicUrl'] || url;
  };
  const openPages = (): Promise<Result<string, Refusal>> => openPort(listening.server, port, listensAt);
  const rest = openRest({
    ...{ ...shown, opened, store, notices, bodies, running, openPages, gate, resource, nowMs, isLocalOnly },
    mayExecute: isLocalOnly,
    needsToken: !isOpen || !isLoopback(host),
  });
  const attached = openAttached({ onDemand, limits, ending }, { opened, shown });
  const server = await openHttpServer({
    ...{ host, port: onDemand === true ? undefined : port, isOpen, settings, limits, log, meter },
    ...{ attached, listener, onStop: () => ending.end(), keyFault: await followKeys(environment, store) },
    ...{ gate, resource, catalog, relay, rest, bodies, views: shown.views, lasting },
    ...{ storeFault: () => store.fault, isStoreStale: () => !opened.records.records.isFresh },
    ...{ readApprovals: () => countPendingApprovals(store), events: opened.events },
    place: { home: environment.home, env: environment.configEnvironment.env },
  });
  if (!server.ok) return server;
  listening.server = server.value;
  cleanup.defer(() => server.value.close());
  await reportFrom(server.value, { environment, meter, store, events: opened.events });
  if (server.value.url !== undefined) listensAt(server.value.url);
  return ok({
    ...{ url: server.value.url, socket: server.value.socket, ownToken, adminTokenPath },
    get isBusy() {
      return server.value.isBusy;
    },
  });
}

interface ReportNeeds {
  readonly environment: Environment;
  readonly meter: OwnMeter;
  readonly store: Store;
  readonly events: EventLog | undefined;
}

/** Exports metrics by OTLP and writes changes as events, as far as that is wanted. */
async function reportFrom(
  server: McpHttpServer,
  { environment: { otlp, cleanup }, meter, store, events }: ReportNeeds,
): Promise<void> {
  if (otlp !== undefined) cleanup.defer(otlp.followMetrics(meter, () => server.readings()));
  if (events !== undefined) cleanup.defer(await followChanges(store, events));
}

/** Time in ms that metrics wait for the store. */
const STORE_READ_MS = 1_000;

async function countPendingApprovals(store: Store): Promise<PendingApprovals | undefined> {
  const nowMs = Date.now();
  const pending = await waitAtMost(store.pendingApprovals(nowMs), STORE_READ_MS);
  if (pending?.ok !== true) return undefined;
  const { count, sinceMs = nowMs } = pending.value;
  return { count, oldestMs: Math.max(0, nowMs - sinceMs) };
}

/** Opens the port for the pages, another one if it is taken. */
async function openPort(
  server: McpHttpServer | undefined,
  port: number,
  listensAt: (url: string) => void,
): Promise<Result<string, Refusal>> {
  // A request comes from its socket, so it is open.
  if (server === undefined) return ok('');
  const listened = await server.listen(port);
  const done = listened.ok ? listened : await server.listen(0);
  if (done.ok) listensAt(done.value);
  return done;
}

interface AttachedOptions extends Pick<ServerOptions, 'ending'> {
  readonly onDemand: boolean | undefined;
  readonly limits: ServerOptions['limits'] | undefined;
}

function openAttached(
  { onDemand, limits, ending }: AttachedOptions,
  { opened, shown }: Pick<Opened, 'opened' | 'shown'>,
): AttachedClients {
  const { catalog, relay, settings, environment, configPath } = opened;
  const { log, configEnvironment } = environment;
  const attached: AttachedClients = new AttachedClients({
    ...{ relay, settings, limits, log },
    findView: (view, clientId) => findAttachedView(view, clientId, { catalog, shown }),
    openPlace: (request) => {
      const specs = (): readonly ServerSpec[] => catalog.servers.map(({ spec }) => spec);
      return openAttachedPlace(request, { configPath, configEnvironment, specs });
    },
    onNewer: (version) => {
      if (onDemand === true && isNewer(version, VERSION)) ending.giveWay(() => isInUse(catalog), attached);
    },
  });
  ending.attachedCount = () => attached.size;
  return attached;
}

/** Whether a call is in progress. */
function isInUse({ servers }: Catalog): boolean {
  return servers.some(({ queue }) => queue.inFlight + queue.waiting > 0);
}

/** The view that an attached client asks for. */
function findAttachedView(
  { all, search, toolset }: ViewOptions,
  clientId: string,
  { catalog, shown: { views, toolsets } }: { readonly catalog: Catalog; readonly shown: OpenToolsets },
): Result<View, Refusal> {
  if (all === true) return ok(catalog.all);
  if (search === true) return ok(views.search);
  if (toolset === undefined) return ok(views.ofAttached(clientId));
  const view = views.of(toolset);
  return view === undefined ? err(toolsets.unknown(toolset)) : ok(view);
}

interface RunningServer {
  readonly isOnDemand: boolean;
  readonly startedMs: number;
  /** Undefined before it listens. */
  readonly server: McpHttpServer | undefined;
}

function runningStatus(
  { catalog, configPath }: ConfiguredCatalog,
  { startedMs, server, isOnDemand }: RunningServer,
): RunningStatus {
  const { configFault } = catalog;
  return {
    url: server?.url ?? '',
    isOnDemand,
    pid: process.pid,
    version: VERSION,
    uptimeMs: Math.round(performance.now() - startedMs),
    configPath,
    ...(configFault !== undefined && { configFault }),
    clients: server?.clients() ?? [],
  };
}

interface RestContext extends Pick<
  AdminDeps,
  | 'store'
  | 'bodies'
  | 'running'
  | 'openPages'
  | 'toolsets'
  | 'notes'
  | 'toolsetService'
  | 'gate'
  | 'mayExecute'
  | 'isLocalOnly'
  | 'needsToken'
  | 'resource'
  | 'nowMs'
  | 'notices'
> {
  readonly opened: ConfiguredCatalog;
}

/** The REST API, loaded on its first request: MCP clients neither wait for it nor pay for its memory. */
function openRest(context: RestContext): RestHandler {
  let opening: Promise<Admin> | undefined;
  const ending = new AbortController();
  const open = async (): Promise<Admin> => {
    // It takes 0.2 s: not in the same turn of the event loop as other work.
    await waitForTurn();
    const { openAdmin } = await import('../edges/rest/open-admin.ts');
    await waitForTurn();
    return openAdmin({ ...depsOf(context), ending: ending.signal });
  };
  return {
    sessions: context.gate.sessions,
    answer: async (request, response, admitted) => {
      opening ??= open();
      await (await opening).answer(request, response, admitted);
    },
    close: () => ending.abort(),
  };
}

function depsOf({ opened, ...given }: RestContext): Omit<AdminDeps, 'ending'> {
  const { catalog, relay, settings, environment, records } = opened;
  const { log } = environment;
  const services = createServices(opened);
  return {
    ...given,
    version: VERSION,
    log,
    mint: mintToken,
    mintSession,
    catalog,
    relay,
    ...services,
    reports: createReports({
      ...{ catalog, running: given.running, instructions: records.instructions },
      stops: () => records.records.stops(),
      lintLevels: getLintLevels(settings),
      listTools: async () => {
        // Another command may have added a server just before.
        await services.servers.readAgain();
        await waitUntilSettled(Promise.all(catalog.servers.map((one) => one.settled('tools'))));
        return ok([]);
      },
      toolsets: async () => {
        await services.servers.readAgain();
        return ok(given.toolsets);
      },
    }),
    documents: createDocuments(opened, services.servers),
    instructions: records.instructions,
    bundles: openBundles(opened, services.servers),
    recentLines: environment.recentLines,
    buildSearch: buildWordSearch,
    loadTokenCounter,
    snippets: snippetsFor(environment),
    publicUrl: settings['auth.publicUrl'] || undefined,
    records: records.records,
    asset,
    pageFile,
  };
}

function snippetsFor({ options }: Environment): AdminDeps['snippets'] {
  return async ({ url, toolset }) => {
    const { buildClientSnippets } = await import('../adapters/config/client-configs/client-snippets.ts');
    const configEnvironment = connectEnvironment(options, OWN_COMMAND);
    const view = toolset === undefined ? {} : { toolset };
    return buildClientSnippets({
      ...configEnvironment,
      options: [...formatViewOptions(view), ...configEnvironment.options],
      url,
    });
  };
}

/** The build places the assets next to the program. */
const ASSETS = join(import.meta.dirname, 'swagger-ui');

async function asset(name: string): Promise<string | undefined> {
  const text = await readText(join(ASSETS, name));
  return text.ok ? text.value : undefined;
}

const PAGES = join(import.meta.dirname, 'admin');

function pageFile(name: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  return readFile(join(PAGES, name)).then(
    (bytes) => new Uint8Array(bytes),
    () => undefined, // an unknown name, or a build without pages
  );
}
