import type { CatalogReport, CatalogTool } from '../api/status.ts';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { locateConfig } from '@assay-mcp/kit/platform/locate-config';
import { findServe, isAnswering, type RunningServe, SERVE_FILE } from '../adapters/store/running-serve.ts';
import type { ServeAnswer, ServeClient } from '../adapters/store/serve-client.ts';
import type { Approval, ApprovalPage } from '../api/approval.ts';
import type { Decision } from '../api/decision.ts';
import type { AppOptions } from '../core/command-options.ts';
import { findRefusalCode, findToolErrorCode } from '../core/errors.ts';
import { hashJson } from '@assay-mcp/kit/digest';
import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { getPublicPrefix } from '../core/names.ts';
import type { PolicyReason } from '../core/policy/policy.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../core/sentences.ts';
import { LOCAL_USER } from '../core/subject.ts';
import { OWN_INFO, VERSION } from '@assay-mcp/kit/version';
import type { CallAnswer, CallRequest } from '../edges/cli/runtime.ts';
import type { Catalog } from '../gateway/catalog/catalog.ts';
import { answerOwn, type OwnAnswer, formatProgress } from '../gateway/relay/own-call.ts';
import { getEntryName } from '../gateway/services/toolsets/tool-index.ts';
import { exitOnStop } from '@assay-mcp/kit/platform/stop-signals';
import { type Environment, withEnvironment } from './environment.ts';
import { selectServersFor, startSome } from './needed-servers.ts';
import { type ConfiguredCatalog, openCatalog } from './open-catalog.ts';

/** Calls a tool through the running `serve` of this home if there is one, else with the servers that it needs. */
export function callTool(
  options: AppOptions,
  request: CallRequest,
  note: (text: string) => void,
): Promise<Result<CallAnswer, Refusal>> {
  return withEnvironment({ ...options, isQuiet: true, transport: 'pipe' }, async (environment) => {
    exitOnStop(() => environment.cleanup.close());
    const serve = await findUsableServe(environment, note);
    if (serve !== undefined) return ok(await callThrough(serve, environment, request));
    const opened = await openCatalog(environment);
    return opened.ok ? ok(await callHere(opened.value, request)) : opened;
  });
}

/** The running `serve` of this home, unless it has another version, serves another config or does not respond. */
export async function findUsableServe(
  { home, options, configEnvironment }: Environment,
  note: (text: string) => void = () => undefined,
): Promise<RunningServe | undefined> {
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
  note(`note: the running gateway of this home is not used: ${reason}.`);
  return undefined;
}

async function callThrough(
  serve: RunningServe,
  { cleanup, options }: Environment,
  { name, args, onProgress, onWaiting }: CallRequest,
): Promise<CallAnswer> {
  // Commands that contact no gateway do not load an HTTP client.
  const { ServeClient } = await import('../adapters/store/serve-client.ts');
  const clientInfo = { ...CLIENT, title: `${CLIENT.title} (${randomUUID()})` };
  const client = new ServeClient(serve, clientInfo);
  cleanup.defer(() => client.close());
  const named = name.includes('.') ? await readReport(client) : undefined;
  if (named?.ok === false) return refused(named.error);
  const publicName = named && publicNameOf(name, named.value.tools, named.value.known);
  const send = (): Promise<ServeAnswer> =>
    client.request({
      method: 'tools/call',
      params: { name: publicName ?? name, arguments: args, _meta: { progressToken: 0 } },
      onNotification: (notification) => onProgress(formatProgress(notification)),
    });
  if (onWaiting !== undefined) cleanup.defer(await watchApprovals(options, { clientInfo, onWaiting }));
  return callUntilKnown(send, { client, name });
}

async function callUntilKnown(
  send: () => Promise<ServeAnswer>,
  { client, name }: { readonly client: ServeClient; readonly name: string },
): Promise<CallAnswer> {
  let answered = await send();
  if (answered.kind === 'error' && mayBeNew(answered.error)) {
    await readReport(client);
    answered = await send();
  }
  if (answered.kind !== 'error')
    return answered.kind === 'result' ? toCallAnswer(answered.result) : refused(answered.refusal);
  const hidden = mayBeNew(answered.error) ? await ruleAgainst(client, name) : undefined;
  if (hidden !== undefined) return refused(hidden);
  const code = findRefusalCode(answered.error);
  return code === undefined
    ? answered
    : { kind: 'refused', code, message: String(answered.error['message']) };
}

/** The program as a client of its own gateway; people see it in approvals and in the record of calls. */
const CLIENT = { ...OWN_INFO, title: 'assay call' };

const LOOK_INTERVAL_MS = 250;

interface Watch {
  /** Has a random part that only this process and the gateway know, so it tells the approval of this call from others. */
  readonly clientInfo: JsonObject;
  readonly onWaiting: (approvalId: string) => void;
}

/**
 * Looks for approvals that the only call of this client waits for, until the returned function is called. Through the
 * socket: the token for calls does not give access to approvals.
 */
async function watchApprovals(
  options: AppOptions,
  { onWaiting, clientInfo }: Watch,
): Promise<() => Promise<void>> {
  const api = (await import('./api.ts')).openApi(options, () => undefined);
  let found: string | undefined;
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const request = { method: 'GET', path: '/approvals', query: { state: 'pending' } } as const;
    const read = await api.send<ApprovalPage>(request).finally(() => (isLooking = false));
    const approval = read.ok ? findOwnApproval(read.value.approvals, clientInfo) : undefined;
    if (approval === undefined || found !== undefined) return;
    found = approval.id;
    onWaiting(approval.id);
  };
  const looking = setInterval(() => void look(), LOOK_INTERVAL_MS);
  return () => {
    clearInterval(looking);
    return api.close();
  };
}

/** The approval that the call of this client waits for: no other client knows the random part of its name. */
export function findOwnApproval(
  approvals: readonly Approval[],
  clientInfo: JsonObject,
): Approval | undefined {
  const own = hashJson(JSON.stringify(clientInfo));
  return approvals.find(({ client }) => client !== undefined && hashJson(client) === own);
}

/** Waits until a gateway that just learned of a server has listed its tools. */
async function readReport(client: ServeClient): Promise<Result<CatalogReport, Refusal>> {
  const read = await client.read('/catalog');
  return read.ok ? ok(read.value as CatalogReport) : read; // of the same version
}

/** Whether its server may have just been added. Nothing was called; a report waits for the new tools. */
function mayBeNew({ data }: JsonObject): boolean {
  return isJsonObject(data) && (data['code'] === 'TOOL_UNKNOWN' || data['causeCode'] === 'SERVER_NOT_READY');
}

/** Clients are not told of tools that rules refuse to them; an operator at the command line is told of the rule. */
async function ruleAgainst(client: ServeClient, name: string): Promise<Refusal | undefined> {
  const explained = await client.read(`/tools/${encodeURIComponent(name)}/decision`);
  if (!explained.ok) return undefined;
  // Codes and data of the same version.
  const { tool, decision, reasons } = explained.value as Decision;
  if (decision !== 'refuse') return undefined;
  return { code: 'CALL_REFUSED', tool, reasons: reasons as unknown as readonly PolicyReason[] };
}

async function callHere(
  { catalog, relay }: ConfiguredCatalog,
  { name, args, onProgress, onWaiting }: CallRequest,
): Promise<CallAnswer> {
  await startSome(catalog, selectServersFor(catalog, name));
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
    clientInfo: JSON.stringify(CLIENT),
    ...(onWaiting && { onWaiting: ({ id }) => onWaiting(id) }),
  });
  return toOwnCallAnswer(answered);
}

/** The public name of a tool given by its namespaced name; for an unlisted tool, the name it would have. */
function publicNameOf(
  name: string,
  tools: readonly Pick<CatalogTool, 'name' | 'namespacedName'>[],
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
function toCallAnswer(result: JsonObject): CallAnswer {
  const code = findToolErrorCode(result);
  const [first] = Array.isArray(result['content']) ? (result['content'] as readonly unknown[]) : [];
  const text = isJsonObject(first) ? first['text'] : undefined;
  return code === undefined || typeof text !== 'string'
    ? { kind: 'result', result }
    : { kind: 'refused', code, message: toPrintable(text) };
}

function toOwnCallAnswer(answered: OwnAnswer): CallAnswer {
  return answered.kind === 'refused' ? refused(answered.refusal) : answered;
}

function refused(refusal: Refusal): CallAnswer {
  return { kind: 'refused', code: refusal.code, message: formatRefusal(refusal) };
}
