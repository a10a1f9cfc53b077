import { DEFAULT_LEVEL } from '../../core/log-levels.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { serializeInputRequired, readRequestState, readRetry } from '../../protocol/server-requests.ts';
import { findMember } from '../../protocol/spans.ts';
import { asksForInput } from '../../protocol/translate.ts';
import { createApprovalId } from '../catalog/approvals.ts';
import { isForAll } from '../catalog/link-choice.ts';
import type { Server } from '../catalog/server.ts';
import { SuspendableCall } from '../catalog/suspendable-call.ts';
import type { Link, Reply, ServerRequestHandler } from '../ports/link.ts';
import { hashReasons } from './approval-request.ts';
import { type Answer, type Call, toRefusedAnswer } from './call.ts';
import { deliver, type Route } from './deliver.ts';
import { resolveInputRequests } from './input-requests.ts';
import { openState, sealState } from './request-state.ts';

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
export async function askAndDeliver(call: Call, route: Route): Promise<Answer> {
  const { server, link, choice } = route;
  if (call.era === 'legacy') {
    const { ask } = call.client;
    call.onServerRequest = ask && asking(call, ask);
    call.envelopeLogLevel = envelopeLogLevel(call, link);
  } else {
    const isAskable = link.asksCallers === true || !isForAll(choice) || server.sole !== undefined;
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
export type ReturnedState =
  | { readonly kind: 'suspended'; readonly resume: () => Promise<Answer> }
  /** The state that its server gave. */
  | { readonly kind: 'server'; readonly state: string }
  /** The client was sent to the inbox, and by now the call needs no approval. */
  | { readonly kind: 'inbox' };

/** Undefined if the request brings no state. Answers for a server that gave no state are relayed unchanged. */
export async function openReturnedState(
  call: Call,
  server: Server,
): Promise<Result<ReturnedState, Refusal> | undefined> {
  if (call.era === 'legacy' || findMember(call.message.params, 'requestState') === undefined)
    return undefined;
  const retry = readRetry(call.message);
  if ('fault' in retry)
    return err({
      code: 'PARAMS_INVALID',
      field: retry.fault,
      reason: 'it does not have the form of a retry',
    });
  const state = await openState(call, server.spec.name, retry.state ?? '');
  if (!state.ok) return state;
  if (state.value.kind === 'inbox') return ok({ kind: 'inbox' });
  if (state.value.kind === 'approval')
    return err({ code: 'STATE_INVALID', reason: 'the call needs no approval any more' });
  if (state.value.kind === 'server') return ok({ kind: 'server', state: state.value.state });
  const taken = call.deps.suspended.take(state.value.id);
  if (!taken.ok) return taken;
  const suspendable = taken.value;
  suspendable.answer(retry.responses);
  const { cancellation } = call;
  return ok({ kind: 'suspended', resume: () => step(call, server, { suspendable, cancellation }) });
}
