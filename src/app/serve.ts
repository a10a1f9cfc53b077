import type { RunningStatus } from '../api/status.ts';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { mintSession, mintToken } from '../adapters/auth/mint-token.ts';
import { buildWordSearch } from '../adapters/search/word-search.ts';
import { openMeter } from '../adapters/telemetry/metrics.ts';
import { loadTokenCounter } from '../adapters/telemetry/token-counter.ts';
import { BodyBudget, computeBodyBudget } from '../core/body-budget.ts';
import { VERSION } from '../core/version.ts';
import { getLintLevels } from '../core/hints/lint-levels.ts';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '../core/result.ts';
import { formatRefusal } from '../core/sentences.ts';
import type { Settings } from '../core/settings.ts';
import { waitForTurn } from '../core/turns.ts';
import { LOCAL_USER } from '../core/subject.ts';
import { type MintedToken, createSteadyClock } from '../core/token.ts';
import type { OpenServe } from '../edges/cli/runtime.ts';
import { isLoopback } from '../edges/mcp/guard.ts';
import { type McpHttpServer, openHttpServer } from '../edges/mcp/http-server.ts';
import type { RestHandler } from '../edges/mcp/request-path.ts';
import type { AdminDeps } from '../edges/rest/admin-deps.ts';
import type { Admin } from '../edges/rest/open-admin.ts';
import { createReports } from '../gateway/services/gateway-reports.ts';
import { waitUntilSettled } from '../gateway/services/servers/refreshed.ts';
import { createSignInLink } from '../gateway/services/sign-in-links.ts';
import type { Store } from '../gateway/ports/store.ts';
import type { Meter } from '../gateway/ports/telemetry.ts';
import { readText } from '../platform/files.ts';
import { getMemoryBytes } from '../platform/memory-bytes.ts';
import { announce } from './announce.ts';
import { type Environment, isOpenWith, openInEnvironment, getVariable } from './environment.ts';
import { connectEnvironment, OWN_COMMAND, formatViewOptions } from './client-entry.ts';
import { ensureAdminToken, openGate, readResourceServer } from './gate.ts';
import { type ConfiguredCatalog, openCatalog } from './open-catalog.ts';
import type { ServeOptions } from '../core/command-options.ts';
import { openToolsets, type OpenToolsets } from './records.ts';
import { createDocuments, createServices, openBundles } from './services.ts';

/** Opens the HTTP server of a catalog, with store, tokens and metrics. */
export function openServe(given: ServeOptions): Promise<Result<OpenServe, Refusal>> {
  const meter = openMeter(VERSION);
  const options = { ...given, isQuiet: false, transport: 'tcp', meter } as const;
  return openInEnvironment(options, async (environment) => {
    const store = await environment.store.open();
    return store.ok ? serveFrom(environment, store.value, { ...given, meter }) : store;
  });
}

type Options = ServeOptions & { readonly meter: Meter };

async function serveFrom(
  environment: Environment,
  store: Store,
  options: Options,
): Promise<Result<OpenServe, Refusal>> {
  const { host } = options;
  const operatorToken = getVariable(environment.configEnvironment.env, 'ASSAY_TOKEN');
  const isOpenIn = (given: Settings): boolean => isOpenWith(given, environment.configEnvironment);
  const needsTokenWith = (given: Settings): boolean => !isOpenIn(given) || !isLoopback(host);
  const isOnNetwork = !isLoopback(host);
  const opened = await openCatalog(environment, { isPersonal: needsTokenWith, isOnNetwork });
  if (!opened.ok) return opened;
  const { catalog, configPath, settings, start, close } = opened.value;
  const isPersonal = needsTokenWith(settings);
  const shown = openToolsets(environment, { ...opened.value, isPersonal });
  const known = await shown.toolsets.ready();
  if (!known.ok) return known;
  const isOpen = isOpenIn(settings);
  const server = await openServer(
    { ...options, operatorToken, isOpen },
    { store, opened: opened.value, shown },
  );
  if (!server.ok) return server;
  start();
  const { url, socket, ownToken, adminTokenPath } = server.value;
  await announce(environment, { url, socket, configPath }, ownToken);
  return ok({
    catalog,
    configPath,
    url,
    needsToken: isPersonal,
    adminTokenPath,
    signInLink: () => {
      const base = settings['auth.publicUrl'] || url;
      const by = LOCAL_USER.subject;
      return createSignInLink(base, { store, mint: mintSession, nowMs: Date.now(), by });
    },
    equipped: () => shown.toolsetService.equipped,
    hasModes: settings.enableConfigToolsMenu,
    close,
  });
}

interface ServerOptions extends Options {
  readonly operatorToken: string | undefined;
  /** Whether MCP clients need no token. */
  readonly isOpen: boolean;
}

interface Opened {
  readonly store: Store;
  readonly opened: ConfiguredCatalog;
  readonly shown: OpenToolsets;
}

interface OpenServer extends Pick<McpHttpServer, 'url' | 'socket'>, Pick<OpenServe, 'adminTokenPath'> {
  readonly ownToken: MintedToken;
}

/**
 * Opens the HTTP server, with the token gate and the REST API. It is closed before the upstream servers, so that they
 * can still answer open requests.
 */
async function openServer(
  { host, port, meter, operatorToken, isOpen, limits }: ServerOptions,
  { store, opened, shown }: Opened,
): Promise<Result<OpenServer, Refusal>> {
  const { settings, catalog, relay, rules, environment } = opened;
  const { log, cleanup } = environment;
  const { views, toolsets, notes, toolsetService } = shown;
  const resourceServer = readResourceServer(settings, host);
  if (!resourceServer.ok) return resourceServer;
  const { resource } = resourceServer.value ?? {};
  const makesToken = isLoopback(host) && operatorToken === undefined;
  const adminTokenPath = makesToken ? await ensureAdminToken(store, environment) : undefined;
  const ownToken = mintToken();
  const nowMs = createSteadyClock();
  const gate = await openGate({
    store,
    operatorToken,
    ownToken,
    settings,
    resource,
    rules,
    log,
    clock: nowMs,
    maxFailures: limits?.tokenFailures,
  });
  relay.deps.tokens.gate = gate;
  cleanup.defer(() => gate.close());
  const startedMs = performance.now();
  const listening: { server?: McpHttpServer } = {};
  const running = (): RunningStatus => runningStatus(opened, { startedMs, server: listening.server });
  const bodies = new BodyBudget(computeBodyBudget({ ...settings, ...limits }, getMemoryBytes()));
  const rest = openRest({
    ...{ opened, store, bodies, running, toolsets, notes, toolsetService, gate, resource, nowMs },
    mayExecute: isLoopback(host),
    needsToken: !isOpen || !isLoopback(host),
  });
  const server = await openHttpServer({
    ...{ host, port, isOpen, settings, limits, log, meter },
    ...{ gate, resource, catalog, relay, views, rest, bodies },
    storeFault: () => store.fault && formatRefusal(store.fault),
    place: { home: environment.home, env: environment.configEnvironment.env },
  });
  if (!server.ok) return server;
  listening.server = server.value;
  cleanup.defer(() => server.value.close());
  resourceServer.value?.listensAt(server.value.url);
  opened.approvals.pageUrl = `${settings['auth.publicUrl'] || server.value.url}/admin/approvals`;
  return ok({ ...server.value, ownToken, adminTokenPath });
}

interface RunningServer {
  readonly startedMs: number;
  /** Undefined before it listens. */
  readonly server: McpHttpServer | undefined;
}

function runningStatus(
  { catalog, configPath }: ConfiguredCatalog,
  { startedMs, server }: RunningServer,
): RunningStatus {
  const { configFault } = catalog;
  return {
    url: server?.url ?? '',
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
  | 'toolsets'
  | 'notes'
  | 'toolsetService'
  | 'gate'
  | 'mayExecute'
  | 'needsToken'
  | 'resource'
  | 'nowMs'
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
