import type { Refusal } from '../../core/refusal.ts';
import { askAndDeliver, broughtBack, type BroughtBack } from './ask.ts';
import { type Answer, type Call, refused, type Target } from './call.ts';
import { newTraceFor } from './record.ts';

/** Sends a call to its server when it gets its turn in the request queue. Runs synchronously where it need not wait. */
export function send(call: Call, target: Target): Promise<Answer> {
  call.name = target.name;
  call.timeoutMs = target.server.spec.timeoutMs;
  call.trace ??= newTraceFor(call.message, call.view.telemetry);
  const brought = broughtBack(call, target.server);
  return brought === undefined
    ? queueUp(call, target)
    : brought.then((back) => (back.ok ? resume(call, target, back.value) : refused(back.error)));
}

function resume(call: Call, target: Target, back: BroughtBack): Answer | Promise<Answer> {
  if (back.kind === 'suspended') return back.goOn();
  call.requestState = back.state;
  return queueUp(call, target);
}

function queueUp(call: Call, target: Target): Promise<Answer> {
  const { subject, message, cancellation, timeoutMs } = call;
  const { queue } = target.server;
  if (queue.enter(subject)) return inTurn(call, target);
  const waited = queue.wait({ subject, bytes: message.bytes.length, timeoutMs, cancellation });
  return waited.then((refusal: Refusal | undefined) =>
    refusal === undefined ? inTurn(call, target) : refused(refusal),
  );
}

/** The queue counts the call until it leaves. */
function inTurn(call: Call, target: Target): Promise<Answer> {
  const { queue } = target.server;
  const { subject } = call;
  return deliver(call, target).then(
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

function deliver(call: Call, { server }: Target): Promise<Answer> {
  if (call.cancellation.isCancelled) return Promise.resolve(refused({ code: 'CANCELLED' }));
  const { link } = server;
  if (link !== undefined) return askAndDeliver(call, server, link);
  return server
    .waitUntilReady(call.cancellation)
    .then((up) => (up.ok ? askAndDeliver(call, server, up.value) : refused(up.error)));
}
