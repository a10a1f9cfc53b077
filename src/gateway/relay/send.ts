import type { Refusal } from '../../core/refusal.ts';
import { withoutRetry } from '../../protocol/server-requests.ts';
import type { Server } from '../catalog/server.ts';
import type { Link } from '../ports/link.ts';
import { askAndDeliver, returnedState, type ReturnedState } from './ask.ts';
import { concernsCache, sendCached } from './cached-send.ts';
import { type Answer, type Call, refused, type Target } from './call.ts';
import { newTraceFor } from './record.ts';
import { changeWhileWaiting } from './send-again.ts';

/** Sends a call to its server, unless its result is cached. Runs synchronously where it need not wait. */
export function send(call: Call, target: Target): Promise<Answer> {
  return concernsCache(call)
    ? sendCached(call, target.server, () => sendInTurn(call, target))
    : sendInTurn(call, target);
}

/** Sends a call when it gets its turn in the request queue. */
function sendInTurn(call: Call, target: Target): Promise<Answer> {
  call.name = target.name;
  call.timeoutMs = target.server.spec.timeoutMs;
  call.trace ??= newTraceFor(call.message, call.view.telemetry);
  const returned = returnedState(call, target.server);
  return returned === undefined
    ? queueUp(call, target)
    : returned.then((state) => (state.ok ? resumed(call, target, state.value) : refused(state.error)));
}

function resumed(call: Call, target: Target, returned: ReturnedState): Answer | Promise<Answer> {
  if (returned.kind === 'suspended') return returned.resume();
  if (returned.kind === 'inbox') call.message = withoutRetry(call.message);
  else call.requestState = returned.state;
  return queueUp(call, target);
}

function queueUp(call: Call, target: Target): Promise<Answer> {
  const { subject, message, cancellation, timeoutMs } = call;
  const { queue } = target.server;
  if (queue.enter(subject)) return inTurn(call, target);
  const waited = queue.wait({ subject, bytes: message.bytes.length, timeoutMs, cancellation });
  return waited.then((refusal: Refusal | undefined) =>
    refusal === undefined ? inTurn(call, target, true) : refused(refusal),
  );
}

/** The queue counts the call until it leaves. */
function inTurn(call: Call, target: Target, hasWaited = false): Promise<Answer> {
  const { queue } = target.server;
  const { subject } = call;
  return deliverWhenReady(call, target, hasWaited).then(
    (answer) => {
      queue.leave(subject);
      return answer;
    },
    (error: unknown) => {
      queue.leave(subject);
      throw error;
    },
  );
}

function deliverWhenReady(call: Call, { server }: Target, hasWaited: boolean): Promise<Answer> {
  if (call.cancellation.isCancelled) return Promise.resolve(refused({ code: 'CANCELLED' }));
  const { link } = server;
  if (link !== undefined)
    return hasWaited || link !== call.decidedLink
      ? deliverUnchanged(call, server, link)
      : askAndDeliver(call, server, link);
  return server
    .waitUntilReady(call.cancellation)
    .then((up) => (up.ok ? deliverUnchanged(call, server, up.value) : refused(up.error)));
}

function deliverUnchanged(call: Call, server: Server, link: Link): Promise<Answer> {
  const change = changeWhileWaiting(call, server, link);
  return change === undefined ? askAndDeliver(call, server, link) : Promise.resolve(refused(change));
}
