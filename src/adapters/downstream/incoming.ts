import type { LinkEvents, ListKind, Log } from '../../gateway/ports.ts';
import {
  jsonFault,
  readServerMessage,
  type Message,
  type NoMessage,
  type NotificationMessage,
} from '../../protocol/message.ts';
import { memberOf, rawOf, textOf } from '../../protocol/spans.ts';
import { subscriptionIdOf } from '../../protocol/translate.ts';

/** Largest message in bytes that a server may send. */
export const SERVER_MESSAGE_LIMIT: number = 256 * 1024 * 1024;

const LIST_CHANGES: ReadonlyMap<string, ListKind> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
]);

export const LOG_MESSAGE = 'notifications/message';
const RESOURCE_UPDATED = 'notifications/resources/updated';

/** What belongs to the link also where it comes on the stream of a request. */
export const IS_OF_LINK: ReadonlySet<string> = new Set([
  'notifications/progress',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
]);

const LONGEST_LOGGED = 2_000;

/** What a server sent; that it is no message is logged. */
export function received(bytes: Buffer, server: string, log: Log): Message | NoMessage {
  const message = readServerMessage(bytes);
  if (message.kind === 'none') {
    const text = bytes.toString('utf8', 0, LONGEST_LOGGED);
    log.warn('server sent what is no JSON-RPC message; it is ignored', {
      server,
      reason: message.reason,
      text,
    });
  }
  return message;
}

/** The id of ours that a response or a progress notification carries, also as a string; undefined if it is none of ours. */
export function ownIdOf(text: string | undefined): number | undefined {
  const digits = /^"?(\d{1,15})"?$/.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** The request to which a notification belongs, by the progress token or the subscription that it names. */
export function requestIdOf(note: NotificationMessage): number | undefined {
  if (note.method === LOG_MESSAGE) return undefined;
  if (note.method !== 'notifications/progress') return ownIdOf(subscriptionIdOf(note));
  const token = memberOf(note.params, 'progressToken');
  return token && ownIdOf(rawOf(note.bytes, token));
}

/** A notification that belongs to no request: a change of lists is announced; the rest is for a client, or our log. */
export function heard(note: NotificationMessage, server: string, to: { events: LinkEvents; log: Log }): void {
  const kind = LIST_CHANGES.get(note.method);
  const uri = note.method === RESOURCE_UPDATED ? textOf(note.bytes, memberOf(note.params, 'uri')) : undefined;
  if (kind !== undefined) to.events.changed(kind);
  else if (uri !== undefined && jsonFault(note) === undefined) to.events.updated(uri, note);
  else if (to.events.said?.(note) === true) return;
  else if (note.method === LOG_MESSAGE) {
    const level = textOf(note.bytes, memberOf(note.params, 'level'));
    const text = note.bytes.toString('utf8', note.params?.start, note.params?.end).slice(0, LONGEST_LOGGED);
    to.log.info('server log message', { server, level, text });
  } else to.log.debug('server sent a notification that is nobody’s', { server, method: note.method });
}
