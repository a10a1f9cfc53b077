import { UNSAID_LEVEL } from '../../core/log-levels.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { ownRequest } from '../../protocol/message.ts';
import { inputRequiredText, requestStateOf, retryOf } from '../../protocol/server-requests.ts';
import { memberOf } from '../../protocol/spans.ts';
import { asksForInput } from '../../protocol/translate.ts';
import type { Answer, Exchange } from './exchange.ts';
import { type ServerRequestRouter, refuseServerRequest } from '../catalog/server-request-router.ts';
import { resolveInputRequests } from './input-requests.ts';
import { SuspendableCall } from '../catalog/suspendable-call.ts';
import { linkChoice, type LinkChoice } from '../catalog/link-choice.ts';
import { ownUpstreamRequest, type UpstreamRequest, type Link, type Reply } from '../ports/link.ts';
import type { PrivateLinkRequest } from '../catalog/private-link.ts';
import { openState, sealState } from './request-state.ts';
import type { Server } from '../catalog/server.ts';
import { isOfOthersTask } from './task-relay.ts';
import { newTraceFor } from './watch.ts';

/** One request on its way to one server. */
export interface Way {
  readonly exchange: Exchange;
  readonly server: Server;
  /** What the server calls the tool or prompt, where that differs from its public name. */
  readonly name: string | undefined;
}

/** Hands the request to its server, when it is its turn, and the answer back, as it came. */
export async function relay(way: Way): Promise<Answer> {
  const { exchange, server } = way;
  const isRetry = exchange.era === 'modern' && bringsAnswers(exchange);
  const brought = isRetry ? await takeUp(way) : NOTHING;
  if (!brought.ok) return refused(brought.error);
  if (brought.value.call !== undefined) return stepOn(way, brought.value.call);
  const { queue: queue, spec } = server;
  const refusal = queue.enter(exchange.subject)
    ? undefined
    : await queue.wait({
        subject: exchange.subject,
        bytes: exchange.message.bytes.length,
        timeoutMs: spec.timeoutMs,
        cancellation: exchange.cancellation,
      });
  if (refusal !== undefined) return refused(refusal);
  try {
    if (exchange.cancellation.isCancelled) return refused({ code: 'CANCELLED' });
    const up = server.link;
    const link = up === undefined ? await server.whenUp(exchange.cancellation) : ok(up);
    if (!link.ok) return refused(link.error);
    if (exchange.era === 'legacy') return await relayLegacy(way, link.value);
    return await relayModern(way, link.value, brought.value.state);
  } finally {
    queue.leave(exchange.subject);
  }
}

/** A legacy client is asked on its own streams, whatever the era of the server. */
async function relayLegacy(way: Way, link: Link): Promise<Answer> {
  const { exchange, server } = way;
  const ask = { ...askFor(way), onServerRequest: exchange.ask, logLevel: unsaidLevel(exchange, link) };
  const place = { link, choice: linkChoice(exchange, server, link) };
  const reply = await send(way, ask, place);
  if (!reply.ok) return refused(reply.error);
  if (reply.value.era === 'legacy' || !asksForInput(reply.value.message))
    return { kind: 'relayed', reply: reply.value };
  const retry = (message: UpstreamRequest['message']): Promise<Result<Reply, Refusal>> =>
    send(way, { ...ask, message }, place);
  const fulfilled = await resolveInputRequests({ exchange, server: server.spec.name, retry }, reply.value);
  return fulfilled.ok ? { kind: 'relayed', reply: fulfilled.value } : refused(fulfilled.error);
}

/** For a modern server, which says nothing unless it is asked to, the level of a legacy client that set none. */
function unsaidLevel({ logLevel }: Exchange, { capabilities }: Link): string | undefined {
  return capabilities['logging'] === undefined ? undefined : (logLevel ?? UNSAID_LEVEL);
}

/** A modern client is asked by a result, and comes again with answers. */
async function relayModern(way: Way, link: Link, requestState: string | undefined): Promise<Answer> {
  const { exchange, server } = way;
  const choice = linkChoice(exchange, server, link);
  const isAskable = link.asksCallers === true || choice.kind !== 'shared' || server.sole !== undefined;
  if (link.era === 'legacy' && isAskable) {
    const call = new SuspendableCall();
    const ask = {
      ...askFor(way),
      cancellation: call.cancellation,
      onNotification: ownNotes(exchange, call),
      onServerRequest: call.take,
    };
    call.start(send(way, ask, { link, choice }));
    // A call that waits for its client keeps nobody else from the server.
    return stepOn(way, call);
  }
  const reply = await send(way, askFor(way, requestState), { link, choice });
  if (!reply.ok) return refused(reply.error);
  const { message, era } = reply.value;
  if (era === 'legacy' || !asksForInput(message)) return { kind: 'relayed', reply: reply.value };
  const state = requestStateOf(message);
  if (state === undefined) return { kind: 'relayed', reply: reply.value };
  const sealed = await sealState(exchange, server.spec.name, { kind: 'server', state });
  return { kind: 'relayed', reply: reply.value, requestState: sealed };
}

/** Waits for a call's answer, or parks it where its server asks something first. */
async function stepOn(way: Way, call: SuspendableCall): Promise<Answer> {
  const { exchange, server } = way;
  const { suspended: suspended } = exchange.view.asking;
  for (;;) {
    const step = await call.step(exchange);
    if (step.kind === 'replied')
      return step.reply.ok ? { kind: 'relayed', reply: step.reply.value } : refused(step.reply.error);
    const place = suspended.add(call, exchange.subject);
    if (place !== undefined) {
      const { serverRequests: serverRequests } = call;
      const state = await sealState(exchange, server.spec.name, { kind: 'parked', place });
      return { kind: 'own', result: Buffer.from(inputRequiredText(serverRequests, state)) };
    }
    call.refuse({ code: 'CLIENT_SILENT', reason: 'no call may wait for its client (limits.parkedCalls)' });
  }
}

interface Brought {
  /** The call that goes on. */
  readonly call?: SuspendableCall;
  /** What the server gave. */
  readonly state?: string;
}

const NOTHING: Result<Brought, Refusal> = ok({});

/** Only a state is ours to read; answers to a server that gave none go to it as they are. */
function bringsAnswers({ message }: Exchange): boolean {
  return memberOf(message.params, 'requestState') !== undefined;
}

/** Takes up what was begun by an earlier request. */
async function takeUp({ exchange, server }: Way): Promise<Result<Brought, Refusal>> {
  const retry = retryOf(exchange.message);
  if ('fault' in retry)
    return err({
      code: 'PARAMS_INVALID',
      field: retry.fault,
      reason: 'it does not have the form of a retry',
    });
  const state = await openState(exchange, server.spec.name, retry.state ?? '');
  if (!state.ok) return state;
  if (state.value.kind === 'server') return ok({ state: state.value.state });
  const call = exchange.view.asking.suspended.take(state.value.place);
  if (call.ok) call.value.answer(retry.responses);
  return call.ok ? ok({ call: call.value }) : call;
}

function askFor({ exchange, server, name }: Way, requestState?: string): UpstreamRequest {
  return {
    message: exchange.message,
    era: exchange.era,
    name,
    parameters: exchange.parameters,
    trace: exchange.trace ?? newTraceFor(exchange.message, exchange.view.telemetry),
    clientInfo: exchange.clientInfo,
    capabilities: exchange.session?.profile.capabilities,
    requestState,
    timeoutMs: server.spec.timeoutMs,
    cancellation: exchange.cancellation,
    task: exchange.task,
    onNotification: ownNotes(exchange, exchange),
    onServerRequest: undefined,
  };
}

/** What a server says on the way to an answer, but for what it says of tasks that are not those of the request. */
function ownNotes(
  exchange: Exchange,
  to: Pick<Exchange, 'notify'>,
): NonNullable<UpstreamRequest['onNotification']> {
  return (note, bytes) => {
    if (!isOfOthersTask(exchange, note)) to.notify(note, bytes);
  };
}

/** The shared link of a server, and whether that is the one to take. */
interface Place {
  readonly link: Link;
  readonly choice: LinkChoice;
}

/** What did not reach its server had no effect, so it is sent again, once, when the server is back. */
async function send(
  { exchange, server }: Way,
  ask: UpstreamRequest,
  { link, choice }: Place,
): Promise<Result<Reply, Refusal>> {
  const { logLevel, session } = exchange;
  if (choice.kind === 'shared') {
    if (logLevel !== undefined) await server.requestLogLevel(logLevel);
    // For nearly all calls that is all there is to do.
    const first = await sendShared(server, link, ask);
    if (first.ok || first.error.code !== 'SERVER_UNREACHED') return first;
    const next = await server.whenUp(ask.cancellation ?? exchange.cancellation, link);
    return next.ok ? sendShared(server, next.value, ask) : next;
  }
  const sendOnce = (): Promise<Result<Reply, Refusal>> =>
    sendOnOwn(server, ask, { choice, session, logLevel });
  const reply = await sendOnce();
  // Whether that holds for the shared link too, it learns by asking.
  if (!reply.ok && reply.error.code === 'AUTHORIZATION_NEEDED') void answersPing(link, ask);
  if (reply.ok || reply.error.code !== 'SERVER_UNREACHED') return reply;
  // A server that lost one client's session may well stand; the shared link tells whether it does.
  if (await answersPing(link, ask)) return sendOnce();
  const next = await server.whenUp(ask.cancellation ?? exchange.cancellation, link);
  return next.ok ? sendOnce() : next;
}

async function answersPing(link: Link, { timeoutMs, cancellation }: UpstreamRequest): Promise<boolean> {
  const pong = await link.send(ownUpstreamRequest(ownRequest('ping'), timeoutMs, cancellation));
  return pong.ok && cancellation?.isCancelled !== true;
}

function sendShared(server: Server, link: Link, ask: UpstreamRequest): Promise<Result<Reply, Refusal>> {
  const { sole } = server;
  const { onServerRequest } = ask;
  return sole === undefined || onServerRequest === undefined ? link.send(ask) : sendAskable(sole, link, ask);
}

/** The only client may be asked on the way of any of its calls. */
async function sendAskable(
  sole: ServerRequestRouter,
  link: Link,
  ask: UpstreamRequest,
): Promise<Result<Reply, Refusal>> {
  const begun = sole.add(ask.onServerRequest ?? refuseServerRequest);
  try {
    return await link.send(ask);
  } finally {
    sole.delete(begun);
  }
}

/** The link that a client wants for itself, and from which level on it wants to hear its server's log. */
interface OwnWish extends PrivateLinkRequest {
  readonly logLevel: string | undefined;
}

async function sendOnOwn(
  server: Server,
  ask: UpstreamRequest,
  wish: OwnWish,
): Promise<Result<Reply, Refusal>> {
  // For a client that is gone nothing would ever end what is opened now.
  if (ask.cancellation?.isCancelled === true) return err({ code: 'CANCELLED' });
  const taken = await server.privateLinks.take(wish, ask);
  if (!taken.ok) return taken;
  const own = taken.value;
  if (wish.logLevel !== undefined) await own.requestLogLevel(wish.logLevel);
  const begun = own.begin(ask.onServerRequest ?? refuseServerRequest);
  try {
    return await own.ask(ask);
  } finally {
    own.over(begun);
    own.release();
  }
}

function refused(refusal: Refusal): Answer {
  return { kind: 'refused', refusal };
}
