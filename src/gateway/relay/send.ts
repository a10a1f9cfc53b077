import type { Refusal } from '../../core/refusal.ts';
import { ok } from '../../core/result.ts';
import { removeRetry } from '../../protocol/server-requests.ts';
import { chooseLink } from '../catalog/link-choice.ts';
import { askAndDeliver, openReturnedState } from './ask.ts';
import { concernsCache, sendCached } from './cached-send.ts';
import { type Answer, type Call, toRefusedAnswer, type Target } from './call.ts';
import { createTrace } from './record.ts';
import { changeWhileWaiting } from './send-again.ts';

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
