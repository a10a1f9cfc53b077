import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ClientSession } from '../../gateway/catalog/client-session.ts';
import type { ListKind, ClientProfile } from '../../gateway/ports/link.ts';
import type { View } from '../../gateway/catalog/view.ts';
import { hasBatches, chooseVersion } from '@assay-mcp/protocol/eras';
import type { Message, NoMessage, NotificationMessage, RequestMessage } from '@assay-mcp/protocol/message';
import { findMember, readRawValue, readJsonString } from '@assay-mcp/protocol/spans';
import type { InFlight } from './in-flight.ts';
import type { ForwardedRequests } from './forwarded-requests.ts';
import { isEnveloped } from './modern-rules.ts';
import { MAX_IN_BATCH, findOwnFault } from './read-message.ts';

/** The notification for a change of each list. */
export const LIST_CHANGED: Readonly<Record<ListKind, string>> = {
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
  resourceTemplates: 'notifications/resources/list_changed',
};

export const RESOURCE_UPDATED = 'notifications/resources/updated';

/** The revision negotiated by `initialize`. */
export function negotiateVersion(message: RequestMessage): Result<string, Refusal> {
  const { bytes, params } = message;
  // The client's declarations are repeated to the servers opened for it.
  const fault = findOwnFault(message);
  if (fault !== undefined) return err(fault);
  const requested = readJsonString(bytes, findMember(params, 'protocolVersion'));
  return requested === undefined
    ? err({ code: 'PARAMS_INVALID', field: 'params.protocolVersion', reason: 'it must be a string' })
    : ok(chooseVersion(requested));
}

/** The client's declarations in `initialize`, for servers that are opened for it. */
export function readLegacyProfile({ bytes, params }: RequestMessage, subject: string): ClientProfile {
  const info = findMember(params, 'clientInfo');
  const given = findMember(params, 'capabilities');
  return {
    capabilities: given === undefined ? '{}' : withoutTasks(readRawValue(bytes, given)),
    clientInfo: info && readRawValue(bytes, info),
    subject,
  };
}

/** Server requests are relayed to clients; tasks of clients are not. */
function withoutTasks(capabilities: string): string {
  try {
    const { tasks, ...rest } = JSON.parse(capabilities) as Readonly<Record<string, unknown>>;
    return JSON.stringify(rest);
  } catch {
    return '{}';
  }
}

/** The sender of a notification. */
interface NotificationSender {
  readonly view: View;
  readonly session: ClientSession;
  readonly inFlight: InFlight;
  readonly forwarded: ForwardedRequests;
}

/** `roots/list_changed` goes to the servers that requested roots. Other notifications are not relayed to servers. */
export function handleNotification(message: NotificationMessage, sender: NotificationSender): void {
  if (message.method === 'notifications/cancelled') handleCancelled(message, sender.inFlight);
  else if (message.method === 'notifications/progress') sender.forwarded.progress(message);
  else if (message.method === 'notifications/roots/list_changed')
    sender.view.say(sender.session, message.bytes);
}

export function handleCancelled(message: NotificationMessage, inFlight: InFlight): void {
  const id = findMember(message.params, 'requestId');
  const reason = readJsonString(message.bytes, findMember(message.params, 'reason'));
  if (id !== undefined) inFlight.cancel(readRawValue(message.bytes, id), reason);
}

export function toInvalidMessageRefusal({ fault, reason }: NoMessage): Refusal {
  return fault === 'not_json' ? { code: 'MESSAGE_NOT_JSON', reason } : { code: 'MESSAGE_INVALID', reason };
}

export function findBatchFault(
  messages: readonly (Message | NoMessage)[],
  version: string,
): string | undefined {
  if (!hasBatches(version)) return `revision ${version} has no batches`;
  if (messages.length === 0 || messages.length > MAX_IN_BATCH)
    return `a batch has 1 to ${MAX_IN_BATCH} messages`;
  const isOut = (message: Message | NoMessage): boolean =>
    message.kind === 'request' && (message.method === 'initialize' || isEnveloped(message));
  return messages.some(isOut)
    ? 'a batch may hold neither "initialize" nor requests of other revisions'
    : undefined;
}
