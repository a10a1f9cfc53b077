import {
  getDelivery,
  getWaitMs,
  mayRepeat,
  computeRepeatDelayMs,
  computeMaxRepeats,
} from '../../core/policy/retry.ts';
import type { Refusal } from '../../core/refusal.ts';
import { pickCauseCode } from '../../core/refusal-cause.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import { findMember } from '@assay-mcp/protocol/spans';
import { getDigest } from '../catalog/definition-facts.ts';
import type { Server } from '../catalog/server.ts';
import type { Link, Reply } from '../ports/link.ts';
import type { Call } from './call.ts';

/** A request that was sent and got no response. */
export interface Unanswered {
  readonly call: Call;
  readonly server: Server;
  readonly refusal: Refusal;
  /** When it was sent, by `performance.now`. */
  readonly sentMs: number;
  /** Sends it once more. `isUnsent`: the server did not get it before. */
  readonly resend: (isUnsent: boolean) => Promise<Result<Reply, Refusal>>;
}

/**
 * Sends a request again as often as its tool permits, within its time limit (docs/adr/0063). If that does not help,
 * returns the first refusal after which a call may have taken effect.
 */
export async function sendAgain(unanswered: Unanswered): Promise<Result<Reply, Refusal>> {
  const { call, server, sentMs } = unanswered;
  const { max, chance } = call.deps.retries;
  const limitMs = call.timeoutMs;
  let last = unanswered.refusal;
  const uncertain = isUncertain(last) ? [last] : [];
  for (
    let repeat = 1;
    repeat <= computeMaxRepeats(last, { max, mayRepeat: isRepeatable(call) });
    repeat += 1
  ) {
    const isUnsent = getDelivery(last) === 'unsent';
    // If the server was not reached, sending again waits for it anyway.
    const ownDelayMs = isUnsent && repeat === 1 ? 0 : computeRepeatDelayMs(repeat, chance());
    const delayMs = Math.max(ownDelayMs, getWaitMs(last));
    if (sentMs + limitMs <= performance.now() + delayMs) break;
    if (delayMs > 0) await pause(delayMs, call);
    if (call.cancellation.isCancelled || !isUnchanged(call, server)) break;
    noteRepeat(call, server, { repeat, refusal: last });
    call.repeats = repeat;
    call.timeoutMs = sentMs + limitMs - performance.now();
    const reply = await unanswered.resend(isUnsent);
    call.timeoutMs = limitMs;
    call.deps.telemetry?.meter?.repeated(server.spec.name, reply.ok);
    if (reply.ok) return reply;
    last = reply.error.code === 'SERVER_TIMEOUT' ? { ...reply.error, limitMs } : reply.error;
    if (isUncertain(last)) uncertain.push(last);
  }
  if (call.cancellation.isCancelled) return err({ code: 'CANCELLED' });
  return err(call.method === 'tools/call' ? failed(call, last, uncertain) : last);
}

/** Resolves after a time, or when the call is cancelled. */
export async function pause(waitMs: number, { cancellation }: Pick<Call, 'cancellation'>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), waitMs);
  await cancellation.during(() => resolve(undefined), promise);
  clearTimeout(timer);
}

/** Whether the call may be sent again although its server may have carried it out. */
function isRepeatable(call: Call): boolean {
  const { tool, message } = call;
  if (tool === undefined || !mayRepeat(tool.hints)) return false;
  // Answers to a server, and tasks, belong to the call that was lost.
  const isContinued = ['requestState', 'inputResponses'].some((key) => findMember(message.params, key));
  const hasTask = call.task !== undefined || call.taskNotifications !== undefined;
  return !isContinued && !hasTask && !call.wasAsked;
}

/** Whether the tool is still the one of the decision: its server may have changed it, or restarted. */
export function isUnchanged({ entry, method }: Call, { inventory }: Server): boolean {
  if (entry === undefined || method !== 'tools/call') return true;
  const now = inventory.tools.find(({ key }) => key === entry.definition.key);
  return now !== undefined && getDigest(now) === getDigest(entry.definition);
}

/**
 * Undefined if a call that waited may be sent on this link. If its server has restarted since the decision, the list of
 * the new process decides, so it must have been read.
 */
export function changeWhileWaiting(call: Call, server: Server, link: Link): Refusal | undefined {
  const { entry, method, decidedLink } = call;
  if (entry === undefined || method !== 'tools/call') return undefined;
  const isListed = link === decidedLink || server.lists.isCurrent('tools');
  return isListed && isUnchanged(call, server) ? undefined : { code: 'TOOL_CHANGED', tool: entry.key };
}

function isUncertain(refusal: Refusal): boolean {
  const delivery = getDelivery(refusal);
  return delivery === 'lost' || delivery === 'uncertain';
}

function failed(call: Call, last: Refusal, uncertain: readonly Refusal[]): Refusal {
  const [first = last] = uncertain;
  if (getDelivery(first) === 'lost') call.deps.repeats.allow(call);
  switch (first.code) {
    case 'SERVER_ENDED':
    case 'SERVER_TIMEOUT':
    case 'SERVER_UNAVAILABLE': {
      if (uncertain.length === 0) return first;
      const { tool } = call;
      const isSafe = tool !== undefined && mayRepeat(tool.hints);
      return { ...first, sent: { effect: 'unknown', times: uncertain.length, mayRepeat: isSafe } };
    }
    default:
      return first;
  }
}

function noteRepeat(
  { method, deps }: Call,
  { spec }: Server,
  { repeat, refusal }: { readonly repeat: number; readonly refusal: Refusal },
): void {
  const cause = { code: refusal.code, ...pickCauseCode(refusal) };
  deps.retries.log?.debug('a request is sent again', { server: spec.name, method, repeat, ...cause });
}
