import { Cancellation } from '@assay-mcp/kit/cancellation';
import {
  serializeCanonical,
  parseExactJson,
  hasDuplicateKeys,
  isMembers,
} from '@assay-mcp/kit/canonical-json';
import { sha256 } from '@assay-mcp/kit/digest';
import { DEFAULT_LEVEL } from '../../core/log-levels.ts';
import { computeCacheMs, isKnownReadOnly } from '../../core/policy/cacheable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, err, type Result } from '@assay-mcp/kit/result';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import { removeRetry, serializeInputRequired, readRequestState } from '@assay-mcp/protocol/server-requests';
import { findMember, readRawValue, readJsonString } from '@assay-mcp/protocol/spans';
import { asksForInput } from '@assay-mcp/protocol/translate';
import { createApprovalId } from '../catalog/approvals.ts';
import { chooseLink, type LinkChoice, isForAll } from '../catalog/link-choice.ts';
import { refuseServerRequest } from '../catalog/server-request-router.ts';
import type { Server } from '../catalog/server.ts';
import { SuspendableCall } from '../catalog/suspendable-call.ts';
import { findToolId } from '../catalog/tool-claims.ts';
import type { TwinCall } from '../catalog/twin-denials.ts';
import { buildOwnUpstreamRequest, type Link, type Reply, type ServerRequestHandler } from '../ports/link.ts';
import { hashReasons } from './approval-request.ts';
import { type Answer, type Call, toRefusedAnswer, type Target, findSendRefusal } from './call.ts';
import { checkDenial } from './denied.ts';
import { checkDiscarded, takeCurrent } from './discarding-twin.ts';
import { resolveInputRequests } from './input-requests.ts';
import { createTrace } from './record.ts';
import { openRetry, sealState } from './request-state.ts';
import { changeWhileWaiting, sendAgain } from './send-again.ts';

/** Sends a call to its server, unless its result is cached. */
export function send(call: Call, target: Target): Promise<Answer> {
  return concernsCache(call)
    ? sendCached(call, target.server, () => sendInTurn(call, target))
    : sendInTurn(call, target);
}

/** Sends a call when it gets its turn in the request queue, which counts it until it is answered. */
async function sendInTurn(call: Call, { server, name }: Target): Promise<Answer> {
  const { subject, cancellation } = call;
  const { queue, spec } = server;
  const { timeoutMs } = spec;
  call.name = name;
  call.timeoutMs = timeoutMs;
  call.asksProgress = call.method === 'tools/call';
  call.trace ??= createTrace(call.message, call.deps.telemetry);
  const returned = await openReturnedState(call, server);
  if (returned?.ok === false) return toRefusedAnswer(returned.error);
  if (returned?.value.kind === 'suspended') return returned.value.resume();
  if (returned?.value.kind === 'inbox') call.message = removeRetry(call.message);
  if (returned?.value.kind === 'server') call.requestState = returned.value.state;
  const waits = !queue.enter(subject);
  if (waits) {
    const bytes = call.message.bytes.length;
    const refusal: Refusal | undefined = await queue.wait({ subject, bytes, timeoutMs, cancellation });
    if (refusal !== undefined) return toRefusedAnswer(refusal);
  }
  try {
    if (cancellation.isCancelled) return toRefusedAnswer({ code: 'CANCELLED' });
    const up = server.link === undefined ? await server.waitUntilReady(cancellation) : ok(server.link);
    if (!up.ok) return toRefusedAnswer(up.error);
    const link = up.value;
    const hasWaited = waits || link !== call.decidedLink;
    const change = hasWaited ? changeWhileWaiting(call, server, link) : undefined;
    if (change !== undefined) return toRefusedAnswer(change);
    return await askAndDeliver(call, { server, link, choice: chooseLink(call, server, link) });
  } finally {
    queue.leave(subject);
  }
}

/** The server of a call, its shared link, and which link the call uses. */
export interface Route {
  readonly server: Server;
  readonly link: Link;
  readonly choice: LinkChoice;
}

/** Sends a call on its link, and again after a failure if it cannot take effect twice. */
export async function deliver(call: Call, route: Route): Promise<Result<Reply, Refusal>> {
  const { use } = route.server;
  // A suspended call outlasts the request that began it.
  use.begin();
  try {
    return await deliverInUse(call, route);
  } finally {
    use.end();
  }
}

async function deliverInUse(call: Call, route: Route): Promise<Result<Reply, Refusal>> {
  const { server, link, choice } = route;
  const sentMs = performance.now();
  const reply = await sendOnce(call, route);
  if (reply.ok) return reply;
  // The ping tells the shared link whether it needs authorization too.
  if (choice.kind !== 'shared' && reply.error.code === 'AUTHORIZATION_NEEDED') void answersPing(link, call);
  const resendNow = (isUnsent: boolean): Promise<Result<Reply, Refusal>> => resend(call, route, isUnsent);
  return sendAgain({ call, server, refusal: reply.error, sentMs, resend: resendNow });
}

async function sendOnce(call: Call, { server, link, choice }: Route): Promise<Result<Reply, Refusal>> {
  if (choice.kind !== 'shared') return sendPrivately(call, { server, link, choice });
  if (call.logLevel !== undefined) await server.requestLogLevel(call.logLevel);
  const refusal = findSendRefusal(call, server);
  if (refusal !== undefined) return err(refusal);
  const { sole, sharedRequests } = server;
  // Any call of the only client may carry server requests.
  const begun =
    sharedRequests === undefined
      ? call.onServerRequest && sole?.add(call.onServerRequest)
      : sharedRequests.begin(call);
  try {
    return await link.send(call);
  } finally {
    sole?.delete(begun);
    sharedRequests?.end(begun);
  }
}

async function resend(call: Call, route: Route, isUnsent: boolean): Promise<Result<Reply, Refusal>> {
  const { server, link, choice } = route;
  // A server that lost one client's session may still be up; ping it on the shared link.
  const isUp = choice.kind !== 'shared' && (!isUnsent || (await answersPing(link, call)));
  if (isUp) return sendOnce(call, route);
  const next = await linkOf(call, server, isUnsent ? link : undefined);
  return next.ok ? sendOnce(call, { ...route, link: next.value }) : next;
}

/** The link of a server that may have to restart first, within the time limit of the call. Fails if the tool changed. */
async function linkOf(call: Call, server: Server, butNot: Link | undefined): Promise<Result<Link, Refusal>> {
  const limited = new Cancellation();
  const timer = setTimeout(() => limited.cancel(), call.timeoutMs);
  const ready = server.waitUntilReady(limited, butNot);
  const link = await call.cancellation.during(() => limited.cancel(), ready);
  clearTimeout(timer);
  if (call.cancellation.isCancelled) return err({ code: 'CANCELLED' });
  const change = link.ok ? changeWhileWaiting(call, server, link.value) : undefined;
  return change === undefined ? link : err(change);
}

interface PrivateRoute extends Route {
  readonly choice: Exclude<LinkChoice, { kind: 'shared' }>;
}

async function sendPrivately(call: Call, { server, choice }: PrivateRoute): Promise<Result<Reply, Refusal>> {
  // If the client has left, nothing would ever close a link opened now.
  if (call.cancellation.isCancelled) return err({ code: 'CANCELLED' });
  const { spec, claims, inventory } = server;
  if (choice.rights !== undefined && claims.unsharedStateOf(spec, inventory.tools).length > 0)
    return err({ code: 'SANDBOX_UNAVAILABLE', server: spec.name, gap: 'state' });
  const session = choice.isForAll === true ? undefined : call.session;
  const { privateLinks } = server;
  const { timeoutMs, cancellation } = call;
  const taken = await takeCurrent((patience) => privateLinks.take({ choice, session }, patience), {
    ...{ server: spec.name, timeoutMs, cancellation },
  });
  if (!taken.ok) return taken;
  const { own, endTurn } = taken.value;
  if (call.logLevel !== undefined) await own.requestLogLevel(call.logLevel);
  const refusal = findSendRefusal(call, server);
  if (refusal !== undefined) {
    endTurn();
    own.release();
    return err(refusal);
  }
  const begun = own.begin(call.onServerRequest ?? refuseServerRequest);
  const twinCall = twinCallOf(call, server, choice);
  const sentMs = Date.now();
  try {
    const reply = await own.send(call);
    if (twinCall === undefined) return reply;
    own.lastCall = twinCall;
    const { denials } = privateLinks;
    const discarded = await checkDiscarded(twinCall, reply, { own, denials });
    if (!discarded.ok) return discarded;
    const refused = own.link?.refused?.().findLast(({ atMs }) => atMs >= sentMs);
    return await checkDenial(twinCall, reply, { denials, refused });
  } finally {
    endTurn();
    own.over(begun);
    own.release();
  }
}

/** The details of a call to a twin that are kept to explain denials. */
function twinCallOf(
  { entry, message, era, name, clientInfo, parameters }: Call,
  { spec }: Server,
  { rights }: LinkChoice & { readonly kind: 'own' | 'once' },
): TwinCall | undefined {
  if (rights === undefined || entry === undefined) return undefined;
  return {
    spec,
    definition: entry.definition,
    rights,
    request: { message, era, name, clientInfo, parameters },
  };
}

async function answersPing(link: Link, { timeoutMs, cancellation }: Call): Promise<boolean> {
  const pong = await link.send(buildOwnUpstreamRequest(buildOwnRequest('ping'), timeoutMs, cancellation));
  return pong.ok && !cancellation.isCancelled;
}

/*
 * How a server request reaches the client of a call, by the eras of both:
 *
 *                   legacy server                          modern server
 *   legacy client   a request on the call's own stream     the same, once for each input request of the result;
 *                                                          then the call is sent again with the answers
 *   modern client   the call is suspended and the client   the result is relayed with its state sealed
 *                   gets input_required; its retry resumes
 */

/** Delivers a call, and forwards what its server asks to its client. */
async function askAndDeliver(call: Call, route: Route): Promise<Answer> {
  const { server, link, choice } = route;
  if (call.era === 'legacy') {
    const { ask } = call.client;
    call.onServerRequest = ask && asking(call, ask);
    call.envelopeLogLevel = envelopeLogLevel(call, link);
  } else {
    const isOnlyClient =
      server.sole !== undefined ||
      (call.attached !== undefined && server.sharedRequests?.isOnlyUser(call.attached.id) !== false);
    const isAskable = link.asksCallers === true || !isForAll(choice) || isOnlyClient;
    if (link.era === 'legacy' && isAskable) return suspendably(call, route);
  }
  const reply = await deliver(call, route);
  if (!reply.ok) return toRefusedAnswer(reply.error);
  const { message, era } = reply.value;
  const asks = era === 'modern' && asksForInput(message);
  if (asks && call.era === 'legacy') return afterInput(call, route, reply.value);
  const state = asks ? readRequestState(message) : undefined;
  return state === undefined
    ? { kind: 'relayed', reply: reply.value }
    : sealed(call, server, { reply: reply.value, state });
}

/** Records that the server has asked: a call whose questions were answered is not sent again. */
function asking(call: Call, ask: ServerRequestHandler): ServerRequestHandler {
  return (serverRequest) => {
    call.wasAsked = true;
    ask(serverRequest);
  };
}

async function afterInput(call: Call, route: Route, first: Reply): Promise<Answer> {
  call.wasAsked = true;
  const server = route.server.spec.name;
  const resolved = await resolveInputRequests({ call, server, retry: () => deliver(call, route) }, first);
  return resolved.ok ? { kind: 'relayed', reply: resolved.value } : toRefusedAnswer(resolved.error);
}

/** A modern server sends log messages only on request, so request the level that legacy clients get by default. */
function envelopeLogLevel({ logLevel }: Call, { capabilities }: Link): string | undefined {
  return capabilities['logging'] === undefined ? undefined : (logLevel ?? DEFAULT_LEVEL);
}

async function sealed(
  call: Call,
  { spec }: Server,
  { reply, state }: { readonly reply: Reply; readonly state: string },
): Promise<Answer> {
  const approval = call.approval && { id: createApprovalId(), asked: hashReasons(call) };
  const requestState = await sealState(call, spec.name, { kind: 'server', state, approval });
  return { kind: 'relayed', reply, requestState };
}

/** From here on the call is separate from its request, which may end while the call is suspended. */
function suspendably(call: Call, route: Route): Promise<Answer> {
  const suspendable = new SuspendableCall();
  const { cancellation } = call;
  call.suspendable = suspendable;
  call.cancellation = suspendable.cancellation;
  call.onServerRequest = asking(call, suspendable.take);
  suspendable.start(deliver(call, route));
  return step(call, route.server, { suspendable, cancellation });
}

/** Waits for the answer to a call on behalf of a request. Suspends the call if its server sends a request first. */
async function step(
  call: Call,
  server: Server,
  { suspendable, cancellation }: { suspendable: SuspendableCall; cancellation: Call['cancellation'] },
): Promise<Answer> {
  const { suspended } = call.deps;
  for (;;) {
    const reached = await suspendable.step(call, cancellation);
    if (reached.kind === 'replied')
      return reached.reply.ok
        ? { kind: 'relayed', reply: reached.reply.value }
        : toRefusedAnswer(reached.reply.error);
    const id = suspended.add(suspendable, call.subject);
    if (id !== undefined) {
      const { serverRequests } = suspendable;
      const approval = call.approval && { id: call.approval.id, asked: hashReasons(call) };
      const state = await sealState(call, server.spec.name, { kind: 'suspended', id, approval });
      // The suspended call must not hold on to the connection of its first request.
      call.client = DETACHED;
      return { kind: 'own', result: Buffer.from(serializeInputRequired(serverRequests, state)) };
    }
    suspendable.refuse({
      code: 'CLIENT_SILENT',
      reason: 'no call may wait for its client',
    });
  }
}

const DETACHED: Call['client'] = { notify: () => undefined, ask: undefined };

/** What a modern client sends back in a retry. */
type ReturnedState =
  | { readonly kind: 'suspended'; readonly resume: () => Promise<Answer> }
  /** The state that its server gave. */
  | { readonly kind: 'server'; readonly state: string }
  /** The client was sent to the inbox, and by now the call needs no approval. */
  | { readonly kind: 'inbox' };

/** Undefined if the request brings no state. Answers for a server that gave no state are relayed unchanged. */
async function openReturnedState(
  call: Call,
  server: Server,
): Promise<Result<ReturnedState, Refusal> | undefined> {
  const opened = await openRetry(call, server.spec.name);
  if (!opened.ok) return opened;
  if (opened.value === undefined) return undefined;
  const { state, retry } = opened.value;
  if (state.kind === 'inbox') return ok({ kind: 'inbox' });
  if (state.kind === 'approval')
    return err({ code: 'STATE_INVALID', reason: 'the call needs no approval any more' });
  if (state.kind === 'server') return ok({ kind: 'server', state: state.state });
  const taken = call.deps.suspended.take(state.id);
  if (!taken.ok) return taken;
  const suspendable = taken.value;
  suspendable.answer(retry.responses);
  const { cancellation } = call;
  return ok({ kind: 'suspended', resume: () => step(call, server, { suspendable, cancellation }) });
}

/** Whether a call may use, fill or invalidate the cache of results. */
function concernsCache(call: Call): boolean {
  if (call.method !== 'tools/call') return false;
  const { results } = call.deps;
  return results.ttlMs > 0 || results.size > 0 || call.tool?.cacheMs !== undefined;
}

/**
 * Answers a call from the cache, or sends it and keeps its result if the tool permits that. While an identical call is
 * in progress, waits for its result; if that is not kept, sends this call as well.
 */
async function sendCached(call: Call, server: Server, send: () => Promise<Answer>): Promise<Answer> {
  const { results } = call.deps;
  const { tool } = call;
  if (tool === undefined || !isKnownReadOnly(tool)) {
    const end = results.write(server);
    return send().finally(end);
  }
  const ttlMs = computeCacheMs(tool, results.ttlMs);
  const key = ttlMs === 0 || !isShared(call, server) ? undefined : keyOf(call);
  if (key === undefined) return send();
  const underway = results.underway(key);
  if (underway !== undefined) {
    await endOf(underway, call);
    if (call.cancellation.isCancelled) return toRefusedAnswer({ code: 'CANCELLED' });
    // The call has waited, so its tool is compared again if it is sent after all.
    call.decidedLink = undefined;
    const refusal = findSendRefusal(call, server);
    if (refusal !== undefined) return toRefusedAnswer(refusal);
  }
  const found = results.find(server, key);
  if (found !== undefined) {
    call.deps.telemetry?.meter?.cached(server.spec.name);
    return { kind: 'relayed', reply: found };
  }
  const ticket = results.begin(server);
  const end = results.start(key);
  try {
    const answer = await send();
    if (answer.kind === 'relayed' && !call.wasAsked && isPlainResult(answer.reply))
      results.store(ticket, key, { reply: answer.reply, ttlMs });
    return answer;
  } finally {
    end();
  }
}

/** Resolves when an identical call in progress has ended, or when this one is cancelled. */
async function endOf(underway: Promise<undefined>, { cancellation }: Call): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const done = (): void => resolve(undefined);
  void underway.then(done);
  await cancellation.during(done, promise);
}

/** A connection that serves only one client may have its own state, and can restart unnoticed. */
function isShared(call: Call, server: Server): boolean {
  const { link } = server;
  return link !== undefined && isForAll(chooseLink(call, server, link));
}

/** Hash of everything in a call that its result may depend on. Undefined if the call is not a plain one. */
function keyOf({ message, entry, identity, era, tool, argumentsText }: Call): string | undefined {
  const { bytes, params } = message;
  const id = entry && findToolId(entry.server.spec, entry.definition);
  if (id === undefined || params === undefined || params.end - params.start > MAX_PARAMS_BYTES)
    return undefined;
  // Any other member requests more than a result: a task, or the continuation of a call.
  const known = ['name', 'arguments', '_meta'].filter((key) => findMember(params, key) !== undefined);
  const meta = findMember(params, '_meta');
  const metaText = meta === undefined ? '{}' : readRawValue(bytes, meta);
  const read = parseExactJson(metaText);
  const members = read?.value;
  // Parsers differ in which of two members with the same key they use.
  if (known.length !== params.size || !isMembers(members) || hasDuplicateKeys(metaText, read))
    return undefined;
  const lasting = Object.fromEntries(Object.entries(members).filter(([name]) => !OF_ONE_REQUEST.has(name)));
  const { subject, tokenId } = identity;
  const context = [subject, tokenId, id, tool?.digest, era, serializeCanonical(lasting)];
  // As written: 1 and 1.0 are different numbers to some servers.
  return sha256(JSON.stringify([...context, argumentsText]));
}

const MAX_PARAMS_BYTES = 64 * 1024;

/** Members of `_meta` that differ in each request and do not affect its result. */
const OF_ONE_REQUEST: ReadonlySet<string> = new Set([
  'progressToken',
  'traceparent',
  'tracestate',
  'baggage',
]);

/** A result of the tool itself: no error, no task, no request for input. */
function isPlainResult({ message: { bytes, root, isError } }: Reply): boolean {
  const result = findMember(root, 'result')?.object;
  if (isError || result === undefined || findMember(result, 'task') !== undefined) return false;
  const failed = findMember(result, 'isError');
  const type = findMember(result, 'resultType');
  const isComplete = type === undefined || readJsonString(bytes, type) === 'complete';
  return isComplete && (failed === undefined || readRawValue(bytes, failed) === 'false');
}
