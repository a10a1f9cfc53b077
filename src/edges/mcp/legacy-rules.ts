import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ListKind } from '../../gateway/ports.ts';
import { hasBatches, negotiated } from '../../protocol/eras.ts';
import type { Message, NoMessage, NotificationMessage, RequestMessage } from '../../protocol/message.ts';
import { memberOf, rawOf, textOf } from '../../protocol/spans.ts';
import type { InFlight } from './in-flight.ts';
import { isEnveloped } from './modern-rules.ts';

/** The notification that tells of a change of a list. */
export const LIST_CHANGED: Readonly<Record<ListKind, string>> = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
  resourceTemplates: 'notifications/resources/list_changed',
};

export const RESOURCE_UPDATED = 'notifications/resources/updated';

/** The revision that an `initialize` settles. */
export function versionFor({ bytes, params }: RequestMessage): Result<string, Refusal> {
  const requested = textOf(bytes, memberOf(params, 'protocolVersion'));
  return requested === undefined
    ? err({ code: 'PARAMS_INVALID', field: 'params.protocolVersion', reason: 'it must be a string' })
    : ok(negotiated(requested));
}

export function hearNotification(message: NotificationMessage, inFlight: InFlight): void {
  if (message.method !== 'notifications/cancelled') return;
  const id = memberOf(message.params, 'requestId');
  const reason = textOf(message.bytes, memberOf(message.params, 'reason'));
  if (id !== undefined) inFlight.cancel(rawOf(message.bytes, id), reason);
}

export function noMessage({ fault, reason }: NoMessage): Refusal {
  return fault === 'not JSON' ? { code: 'MESSAGE_NOT_JSON', reason } : { code: 'MESSAGE_INVALID', reason };
}

const MOST_IN_BATCH = 100;

export function batchFault(messages: readonly (Message | NoMessage)[], version: string): string | undefined {
  if (!hasBatches(version)) return `revision ${version} has no batches`;
  if (messages.length === 0 || messages.length > MOST_IN_BATCH)
    return `a batch has 1 to ${MOST_IN_BATCH} messages`;
  const isOut = (message: Message | NoMessage): boolean =>
    message.kind === 'request' && (message.method === 'initialize' || isEnveloped(message));
  return messages.some(isOut)
    ? 'a batch may hold neither "initialize" nor requests of other revisions'
    : undefined;
}
