import { toRpcError } from '../../core/errors.ts';
import { OncePerPeriod } from '../../core/once-per-period.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { LinkEvents, ListKind } from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { runInTurns } from '@assay-mcp/kit/turns';
import {
  findJsonFault,
  LARGE_MESSAGE,
  createMessageReader,
  readServerMessage,
  type Message,
  type NoMessage,
  type NotificationMessage,
} from '@assay-mcp/protocol/message';
import { buildErrorMessage } from '@assay-mcp/protocol/reply';
import { findMember, readRawValue, readJsonString } from '@assay-mcp/protocol/spans';
import { findSubscriptionId } from '@assay-mcp/protocol/translate';

/** Maximum size in bytes of a message from a server. */
export const SERVER_MESSAGE_LIMIT: number = 256 * 1024 * 1024;

const LIST_CHANGES: ReadonlyMap<string, ListKind> = new Map([
  ['notifications/tools/list_changed', 'tools'],
  ['notifications/prompts/list_changed', 'prompts'],
  ['notifications/resources/list_changed', 'resources'],
]);

export const LOG_MESSAGE = 'notifications/message';
const RESOURCE_UPDATED = 'notifications/resources/updated';

/** Methods that belong to the link even on a request's stream. */
export const IS_OF_LINK: ReadonlySet<string> = new Set([
  'notifications/progress',
  'notifications/tools/list_changed',
  'notifications/prompts/list_changed',
  'notifications/resources/list_changed',
  'notifications/resources/updated',
]);

const MAX_LOGGED_LENGTH = 2_000;
/** Bytes of an invalid message to quote: enough to recognize a proxy's error page or a line meant for stderr. */
const MAX_QUOTED_LENGTH = 200;

/** The sender, and whether invalid text may be quoted in the log: not from an HTTP answer of another media type. */
export interface Sender {
  readonly server: string;
  readonly log: Log;
  isQuoted?(): boolean;
}

/** Handles one message from a server. A large one is handled in a later turn; the promise then resolves after it. */
export function receive(
  bytes: Buffer,
  from: Sender,
  handle: (message: Message | NoMessage) => void,
): Promise<void> | undefined {
  if (bytes.length > LARGE_MESSAGE)
    return runInTurns(createMessageReader(bytes, 'server')).then((message) => {
      if (message.kind === 'none') complain(bytes, message, from);
      handle(message);
    });
  const message = readServerMessage(bytes);
  if (message.kind === 'none') complain(bytes, message, from);
  handle(message);
  return undefined;
}

/** The servers whose invalid messages were logged as a warning; further ones are logged at debug. */
const COMPLAINTS = new WeakMap<Log, OncePerPeriod>();

function complain(bytes: Buffer, message: NoMessage, from: Sender): void {
  const { server, log } = from;
  const complaints = COMPLAINTS.get(log) ?? new OncePerPeriod(600_000, 10_000);
  COMPLAINTS.set(log, complaints);
  const others = complaints.admit(server, performance.now());
  const text = from.isQuoted?.() === false ? undefined : bytes.toString('utf8', 0, MAX_QUOTED_LENGTH);
  log[others === undefined ? 'debug' : 'warn'](
    'server sent something that is not a JSON-RPC message; it is ignored',
    {
      server,
      code: 'MESSAGE_INVALID',
      reason: message.reason,
      bytes: bytes.length,
      ...(text !== undefined && { text }),
      ...(others !== undefined && others > 0 && { othersSince: others }),
    },
  );
}

/** The refusal for a request whose server answered with this invalid message. */
export function toMessageRefusal({ fault, reason }: NoMessage, server: string): Refusal {
  return fault === 'ambiguous'
    ? { code: 'SERVER_MESSAGE_INVALID', server, reason }
    : { code: 'SERVER_ENDED', server, cause: { code: 'RESPONSE_INVALID', reason } };
}

/** The error response to an invalid request; undefined if the message is not one that can be answered. */
export function buildInvalidReply({ isRequest, idText, reason }: NoMessage): Buffer | undefined {
  return isRequest && idText !== undefined
    ? buildErrorMessage(idText, toRpcError({ code: 'MESSAGE_INVALID', reason }, true), 'legacy')
    : undefined;
}

/** Our request id as a response or progress notification carries it, even as a string; undefined if it is not ours. */
export function parseOwnId(text: string | undefined): number | undefined {
  const digits = /^"?(\d{1,15})"?$/.exec(text ?? '')?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Whether a response carries this id of ours, even as a string. */
export function isId(text: string, id: number): boolean {
  return text === String(id) || parseOwnId(text) === id;
}

/** The request a notification belongs to, by its progress token or subscription id. */
export function findRequestId(note: NotificationMessage): number | undefined {
  if (note.method === LOG_MESSAGE) return undefined;
  if (note.method !== 'notifications/progress') return parseOwnId(findSubscriptionId(note));
  const token = findMember(note.params, 'progressToken');
  return token && parseOwnId(readRawValue(note.bytes, token));
}

/** A notification outside any request: list changes are announced; the rest goes to a client or to our log. */
export function handleNotification(
  note: NotificationMessage,
  server: string,
  to: { events: LinkEvents; log: Log },
): void {
  const kind = LIST_CHANGES.get(note.method);
  const uri =
    note.method === RESOURCE_UPDATED ? readJsonString(note.bytes, findMember(note.params, 'uri')) : undefined;
  if (kind !== undefined) to.events.changed(kind);
  else if (uri !== undefined && findJsonFault(note) === undefined) to.events.updated(uri, note);
  else if (to.events.notified?.(note) === true) return;
  else if (note.method === LOG_MESSAGE) {
    const level = readJsonString(note.bytes, findMember(note.params, 'level'));
    const { start, end } = note.params ?? { start: 0, end: 0 };
    const text = note.bytes.toString('utf8', start, Math.min(end, start + MAX_LOGGED_LENGTH));
    to.log.debug('server log message', { server, level, text });
  } else
    to.log.debug('server sent a notification that belongs to no request', { server, method: note.method });
}
