import type { PolicyReason } from '../core/policy/policy.ts';
import { join } from 'node:path';
import { locateConfig } from '../adapters/config/locate-config.ts';
import { findServe, isAnswering, type RunningServe, SERVE_FILE } from '../adapters/store/running-serve.ts';
import { findRefusalCode, findToolErrorCode } from '../core/errors.ts';
import { isJsonObject, type JsonObject } from '../core/json-object.ts';
import { getLintLevels } from '../core/hints/lint-levels.ts';
import { VERSION } from '../core/version.ts';
import { getPublicPrefix } from '../core/names.ts';
import { findNearest } from '../core/nearest.ts';
import { toPrintable } from '../core/printable.ts';
import type { ServeAnswer, ServeClient } from '../adapters/store/serve-client.ts';
import type { Refusal } from '../core/refusal.ts';
import { err, ok, type Result } from '../core/result.ts';
import { formatRefusal } from '../core/sentences.ts';
import { LOCAL_USER } from '../core/subject.ts';
import type {
  CallAnswer,
  CallRequest,
  OpenTools,
  OpenToolsOptions,
  ReportRequest,
} from '../edges/cli/runtime.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import type { Server } from '../gateway/catalog/server.ts';
import { answerOwn, type OwnAnswer, formatProgress } from '../gateway/relay/own-call.ts';
import {
  type CatalogReport,
  buildCatalogReport,
  type ListedTool,
} from '../gateway/services/tools/catalog-report.ts';
import type { Decision } from '../api/decision.ts';
import { explainDecision } from '../gateway/services/tools/explain-decision.ts';
import { findEntry } from '../gateway/services/tools/find-entry.ts';
import { type GatewayStatus, buildGatewayStatus } from '../gateway/services/gateway-status.ts';
import { startServers } from '../gateway/services/start-servers.ts';
import { findServerByTool } from '../gateway/services/toolsets/selection.ts';
import { getToolIndex, getEntryName } from '../gateway/services/toolsets/tool-index.ts';
import { pause } from '../platform/pause.ts';
import { INTERRUPTED, waitForStop } from '../platform/stop-signals.ts';
import type { AppOptions } from '../core/command-options.ts';
import { type Environment, hasHomeStore, openInEnvironment } from './environment.ts';
import { type ConfiguredCatalog, openCatalog } from './open-catalog.ts';
import { readToolsets } from './records.ts';

/** How long a running gateway may take to start a server: its own limit, and the time to read the config. */
const MAX_START_MS = 65_000;
const POLL_INTERVAL_MS = 500;

/** Opens the tools of all servers for a command: through the running `serve` if there is one, else here. */
export function openToolsForCommand(
  options: AppOptions & OpenToolsOptions,
): Promise<Result<OpenTools, Refusal>> {
  return openInEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, async (environment) => {
    const serve = await findUsableServe(environment);
    const opened =
      serve === undefined ? await openHere(environment, options) : ok(await openThrough(serve, environment));
    if (opened.ok)
      void waitForStop().then(async () => {
        await opened.value.close();
        process.exit(INTERRUPTED);
      });
    return opened;
  });
}

/** The running `serve` of this home, unless it has another version, serves another config or does not respond. */
export async function findUsableServe({
  home,
  options,
  configEnvironment,
  log,
}: Environment): Promise<RunningServe | undefined> {
  const serve = await findServe(join(home, SERVE_FILE));
  if (serve === undefined) return undefined;
  const unfit = async (): Promise<string | undefined> => {
    if (serve.version !== VERSION) return `it is of version ${serve.version || 'unknown'}, not ${VERSION}`;
    const { path } = locateConfig({ flag: options.config, ...configEnvironment });
    if (serve.configPath !== path) return `it serves ${serve.configPath}, not ${path}`;
    return (await isAnswering(serve)) ? undefined : 'it does not answer';
  };
  const reason = await unfit();
  if (reason === undefined) return serve;
  log.debug('the running `assay serve` of this home is not used', { reason, pid: serve.pid, url: serve.url });
  return undefined;
}

async function openThrough(serve: RunningServe, { cleanup, log }: Environment): Promise<OpenTools> {
  log.debug('using the running `assay serve` of this home', { pid: serve.pid, url: serve.url });
  // Commands that contact no gateway do not load an HTTP client.
  const { ServeClient } = await import('../adapters/store/serve-client.ts');
  const client = new ServeClient(serve);
  cleanup.defer(() => client.close());
  const report = async ({ server, levels = {} }: ReportRequest): Promise<Result<CatalogReport, Refusal>> => {
    const rules = Object.entries(levels).map(([rule, level]) => `${rule}=${level}`);
    const query = new URLSearchParams({
      ...(server !== undefined && { server }),
      ...(rules.length > 0 && { rules: rules.join(',') }),
    });
    const read = await client.read(`/catalog?${query.toString()}`);
    return read.ok ? ok(read.value as CatalogReport) : read; // of the same version
  };
  return {
    report,
    call: async ({ name, args, onProgress }) => {
      const named = name.includes('.') ? await report({ isFresh: false }) : undefined;
      if (named?.ok === false) return refused(named.error);
      const publicName = named && publicNameOf(name, named.value.tools, named.value.known);
      const send = (): Promise<ServeAnswer> =>
        client.request({
          method: 'tools/call',
          params: { name: publicName ?? name, arguments: args, _meta: { progressToken: 0 } },
          onNotification: (note) => onProgress(formatProgress(note)),
        });
      let answered = await send();
      if (answered.kind === 'error' && mayBeNew(answered.error)) {
        await report({ isFresh: true });
        answered = await send();
      }
      if (answered.kind !== 'error')
        return answered.kind === 'result' ? resultOf(answered.result) : refused(answered.refusal);
      const hidden = mayBeNew(answered.error) ? await ruleAgainst(client, report, name) : undefined;
      if (hidden !== undefined) return refused(hidden);
      const code = findRefusalCode(answered.error);
      return code === undefined
        ? answered
        : { kind: 'refused', code, message: String(answered.error['message']) };
    },
    status: async () => {
      const read = await client.read('/status');
      return read.ok ? ok(read.value as GatewayStatus) : read;
    },
    explain: (...asked) => explainThrough(client, report, asked),
    started: async (server) => {
      const deadlineMs = performance.now() + MAX_START_MS;
      for (;;) {
        // The gateway may not have read an edited config yet.
        await pause(POLL_INTERVAL_MS);
        const read = await report({ server, isFresh: false });
        const [status] = read.ok ? read.value.servers : [];
        const isOver = performance.now() > deadlineMs || !read.ok;
        if (isOver || (status !== undefined && status.state !== 'starting')) return status;
      }
    },
    close: () => cleanup.close(),
  };
}

/** Whether its server may have just been added. Nothing was called; a report waits for the new tools. */
function mayBeNew({ data }: JsonObject): boolean {
  return isJsonObject(data) && (data['code'] === 'TOOL_UNKNOWN' || data['causeCode'] === 'SERVER_NOT_READY');
}

/** Clients are not told of tools that rules refuse to them; an operator at the command line is told of the rule. */
async function ruleAgainst(
  client: ServeClient,
  report: OpenTools['report'],
  name: string,
): Promise<Refusal | undefined> {
  const explained = await explainThrough(client, report, [name, { token: LOCAL_USER.subject }]);
  if (!explained.ok || explained.value.decision !== 'refuse') return undefined;
  const { tool, reasons } = explained.value;
  // Codes and data of the same version.
  return { code: 'CALL_REFUSED', tool, reasons: reasons as unknown as readonly PolicyReason[] };
}

async function explainThrough(
  client: ServeClient,
  report: OpenTools['report'],
  [name, { token, toolset }]: Parameters<OpenTools['explain']>,
): Promise<Result<Decision, Refusal>> {
  const listed = await report({ isFresh: false });
  if (!listed.ok) return listed;
  const known = listed.value.tools.some((tool) => [tool.name, tool.namespacedName].includes(name));
  if (!known) return unknownTool(name, listed.value.tools);
  const query = new URLSearchParams({ token, ...(toolset !== undefined && { toolset }) });
  const read = await client.read(`/tools/${encodeURIComponent(name)}/decision?${query.toString()}`);
  // A `serve` of the same version returns what this process would.
  return read.ok ? ok(read.value as Decision) : read;
}

async function openHere(
  environment: Environment,
  { mayBeEmpty = false }: OpenToolsOptions,
): Promise<Result<OpenTools, Refusal>> {
  const opened = await openCatalog(environment, { mayBeEmpty });
  if (!opened.ok) return opened;
  const { catalog, settings, close } = opened.value;
  return ok({
    report: async ({ server, levels, isFresh }) => {
      const asked = catalog.servers.filter(({ spec }) => server === undefined || spec.name === server);
      const recalled = isFresh ? [] : asked.filter(({ lists }) => lists.isKnown('tools'));
      await startSome(
        catalog,
        asked.filter((one) => !recalled.includes(one)),
      );
      return ok(
        buildCatalogReport(catalog, {
          levels: { ...getLintLevels(settings), ...levels },
          server,
          recalled: recalled.map(({ spec }) => spec.name),
        }),
      );
    },
    call: (request) => callHere(opened.value, request),
    status: async () => {
      const toolsets = await readToolsets(environment);
      const ready = (await hasHomeStore(environment)) ? await toolsets.ready() : ok(undefined);
      const { instructions } = opened.value.records;
      return ready.ok ? ok(buildGatewayStatus({ catalog, toolsets, instructions }, undefined)) : ready;
    },
    explain: async (name, caller) => {
      await startSome(catalog, serversFor(catalog, name));
      const listing = catalog.all.listing('tools');
      const entry = findEntry(listing, name);
      return entry === undefined
        ? unknownTool(
            name,
            listing.entries.map((one) => ({ name: one.key, namespacedName: getEntryName(one) })),
          )
        : ok(await explainDecision(entry, opened.value, caller));
    },
    started: async (server) => (await startServers(catalog, [server], () => undefined))[0],
    close,
  });
}

function unknownTool(
  name: string,
  tools: readonly Pick<ListedTool, 'name' | 'namespacedName'>[],
): Result<never, Refusal> {
  const near = findNearest(
    name,
    tools.flatMap((tool) => [tool.name, tool.namespacedName]),
  );
  return err({ code: 'REF_UNKNOWN', ref: name, ...(near !== undefined && { nearest: near }) });
}

/** Starts these servers and waits until each is ready or has failed. */
export async function startSome(catalog: Catalog, servers: readonly Server[]): Promise<void> {
  if (servers.length === 0) return;
  catalog.start(servers);
  await catalog.settled();
}

async function callHere(
  { catalog, relay }: ConfiguredCatalog,
  { name, args, onProgress }: CallRequest,
): Promise<CallAnswer> {
  await startSome(catalog, serversFor(catalog, name));
  if (catalog.all.listing('tools').find(publicNameIn(catalog, name)) === undefined)
    await startSome(
      catalog,
      catalog.servers.filter(({ lists }) => !lists.isKnown('tools')),
    );
  const answered = await answerOwn(relay, catalog.all, {
    identity: LOCAL_USER,
    method: 'tools/call',
    params: { name: publicNameIn(catalog, name), arguments: args },
    onNotification: (note) => onProgress(formatProgress(note)),
  });
  return answerOf(answered);
}

/** The servers that a call may need: those that its name indicates, else all, since any may have gained the tool. */
function serversFor(catalog: Catalog, name: string): readonly Server[] {
  const listing = catalog.all.listing('tools');
  const found = listing.find(name)?.server ?? getToolIndex(listing).named(name)[0]?.server;
  if (found !== undefined) return [found];
  if (listing.isDisabled(name) || listing.candidates(name) !== undefined) return [];
  const named = catalog.servers.filter(
    ({ spec }) => spec.prefix && name.startsWith(getPublicPrefix(spec.name)),
  );
  const spaced = findServerByTool(name, catalog.servers);
  const meant = named.length > 0 || spaced === undefined ? named : [spaced];
  return meant.length > 0 ? meant : catalog.servers;
}

/** The public name of a tool given by its namespaced name; for an unlisted tool, the name it would have. */
function publicNameOf(
  name: string,
  tools: readonly Pick<ListedTool, 'name' | 'namespacedName'>[],
  servers: readonly string[],
): string {
  if (!name.includes('.') || tools.some((tool) => tool.name === name)) return name;
  const found = tools.find(({ namespacedName }) => namespacedName === name);
  if (found !== undefined) return found.name;
  const server = servers.find((one) => name.startsWith(`${one}.`));
  return server === undefined ? name : getPublicPrefix(server) + name.slice(server.length + 1);
}

function publicNameIn(catalog: Catalog, name: string): string {
  const tools = catalog.all
    .listing('tools')
    .entries.map((entry) => ({ name: entry.key, namespacedName: getEntryName(entry) }));
  return publicNameOf(
    name,
    tools,
    catalog.servers.map(({ spec }) => spec.name),
  );
}

/** The result of a call through a running gateway, which returns some refusals as results. */
function resultOf(result: JsonObject): CallAnswer {
  const code = findToolErrorCode(result);
  const [first] = Array.isArray(result['content']) ? (result['content'] as readonly unknown[]) : [];
  const text = isJsonObject(first) ? first['text'] : undefined;
  return code === undefined || typeof text !== 'string'
    ? { kind: 'result', result }
    : { kind: 'refused', code, message: toPrintable(text) };
}

function answerOf(answered: OwnAnswer): CallAnswer {
  return answered.kind === 'refused' ? refused(answered.refusal) : answered;
}

function refused(refusal: Refusal): CallAnswer {
  return { kind: 'refused', code: refusal.code, message: formatRefusal(refusal) };
}
