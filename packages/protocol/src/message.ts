import { isUtf8 } from 'node:buffer';
import { MESSAGE_PLAN } from './message-plan.ts';
import { ReplyIdScan } from './reply-id.ts';
import { ObjectScan, scanObject, type Scan, type ScanOptions } from './scan.ts';
import { MAX_DEPTH, MAX_SERVER_DEPTH } from './scanner.ts';
import {
  findMember,
  isNull,
  readRawValue,
  readJsonString,
  type JsonObject,
  type Member,
  type Span,
} from './spans.ts';

interface Scanned {
  readonly bytes: Buffer;
  readonly root: JsonObject;
  /** Whether every byte was validated as JSON; long strings are not at first. */
  readonly isProven: boolean;
  /** Number of values skipped rather than listed, which a parser would have to create. */
  readonly values: number;
}

/** A JSON-RPC request. `idText` is the id as written, so `1` and `"1"` differ. */
export interface RequestMessage extends Scanned {
  readonly kind: 'request';
  readonly idText: string;
  readonly method: string;
  readonly params: JsonObject | undefined;
}

export interface NotificationMessage extends Scanned {
  readonly kind: 'notification';
  readonly method: string;
  readonly params: JsonObject | undefined;
}

/** A JSON-RPC response; `idText` is undefined if the peer could not tell which request it answers. */
export interface ResponseMessage extends Scanned {
  readonly kind: 'response';
  readonly idText: string | undefined;
  readonly isError: boolean;
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** Not a message. `idText` is set if the id could be read, so that the error response can carry it. */
export interface NoMessage {
  readonly kind: 'none';
  readonly idText: string | undefined;
  /** `ambiguous`: readers may understand the message differently; a member appears twice or in another case. */
  readonly fault: 'not_json' | 'not_a_message' | 'ambiguous';
  readonly reason: string;
  /** Whether reading stopped at something that is valid JSON but not accepted, such as deep nesting. */
  readonly isUnfinished?: true;
  /** Whether it would be a request, so that its sender waits for an answer. */
  readonly isRequest: boolean;
}

export type Peer = 'client' | 'server';

/** Up to this size in bytes, a message is read at once; a larger one in steps, so that it does not block others. */
export const LARGE_MESSAGE: number = 1024 * 1024;
/** Number of bytes per step, which takes at most a few ms. */
const STEP_BYTES = 256 * 1024;
/** Maximum size in bytes of a message that is neither a client's request nor a server's response. */
const MAX_OTHER_BYTES = 16 * 1024 * 1024;
/** Maximum number of values, and of bytes of text, parsed into objects at once. */
const MAX_VALUES = 200_000;
const MAX_PARSED_BYTES = 16 * 1024 * 1024;
/** Why a message cannot be parsed, as the end of a sentence. */
export const TOO_LARGE_TO_PARSE = 'too large: at most 16 MiB and 200,000 values are read';

/** Reads a client's message, which must be UTF-8 as JSON-RPC is on every transport. */
export function readClientMessage(bytes: Buffer): Message | NoMessage {
  return isUtf8(bytes) ? readMessage(bytes, OPTIONS.client) : NOT_UTF8;
}

/** Reads a server's message, which is relayed unchanged and inspected only where necessary. */
export function readServerMessage(bytes: Buffer): Message | NoMessage {
  const message = readMessage(bytes, OPTIONS.server);
  if (!mayBeReply(message)) return message;
  const search = new ReplyIdScan(bytes);
  search.step(Infinity);
  return withReplyId(message, search);
}

const OPTIONS = {
  client: { plan: MESSAGE_PLAN, strict: false, refusesTwice: true, maxDepth: MAX_DEPTH },
  server: { plan: MESSAGE_PLAN, strict: false, refusesTwice: true, maxDepth: MAX_SERVER_DEPTH },
} as const;

const NOT_UTF8: NoMessage = {
  kind: 'none',
  idText: undefined,
  fault: 'not_json',
  reason: 'not UTF-8',
  isRequest: false,
};

function readMessage(bytes: Buffer, options: ScanOptions): Message | NoMessage {
  return messageOf(bytes, scanObject(bytes, options));
}

/**
 * Reads a large message in steps: call the function until it returns a value, and let others work between calls.
 * Everything but a server's response is validated as JSON.
 */
export function createMessageReader(bytes: Buffer, from: Peer): () => Message | NoMessage | undefined {
  if (from === 'client' && !isUtf8(bytes)) return () => NOT_UTF8;
  let scan = new ObjectScan(bytes, { ...OPTIONS[from], strict: from === 'client' }, true);
  let isProof = from === 'client';
  let unread: NoMessage | undefined;
  const search = new ReplyIdScan(bytes);
  return () => {
    if (unread !== undefined) return search.step(STEP_BYTES) ? withReplyId(unread, search) : undefined;
    const found = scan.step(STEP_BYTES);
    if (found === undefined) return undefined;
    const message = messageOf(bytes, found);
    if (from === 'server' && mayBeReply(message)) {
      unread = message;
      return undefined;
    }
    if (message.kind === 'none') return message;
    if (!isRelayedWhole(message, from) && bytes.length > MAX_OTHER_BYTES)
      return none(undefined, `it is larger than ${MAX_OTHER_BYTES} bytes`, message.kind === 'request');
    if (isProof || message.isProven || isRelayedWhole(message, from)) return message;
    isProof = true;
    scan = new ObjectScan(bytes, { ...OPTIONS[from], strict: true }, true);
    return undefined;
  };
}

/** Whether it could not be read to its end, so that it may be the response to a call that waits. */
function mayBeReply(message: Message | NoMessage): message is NoMessage {
  return (
    message.kind === 'none' &&
    message.idText === undefined &&
    (message.fault === 'not_json' || message.isUnfinished === true)
  );
}

function withReplyId(message: NoMessage, { idText }: ReplyIdScan): NoMessage {
  return idText === undefined ? message : { ...message, idText };
}

function isRelayedWhole({ kind }: Message, from: Peer): boolean {
  return kind === (from === 'client' ? 'request' : 'response');
}

function messageOf(bytes: Buffer, scan: Scan): Message | NoMessage {
  if (scan.ok) return classify({ bytes, root: scan.value, isProven: scan.isProven, values: scan.values });
  const { reason, isJson, isOtherType, offset } = scan.fault;
  if (scan.value !== undefined) return ambiguous(bytes, scan.value, scan);
  if (isOtherType === true && isJson)
    return none(undefined, 'a message is one JSON object, with "jsonrpc", "method" or "id"');
  if (isJson) return { ...none(undefined, `${reason}, at byte ${offset}`), isUnfinished: true };
  return { ...NOT_UTF8, reason: `${reason}, at byte ${offset}` };
}

/** Includes the id if all readers would take the same one. */
function ambiguous(
  bytes: Buffer,
  root: JsonObject,
  { fault, ambiguous: unclear }: Extract<Scan, { ok: false }>,
): NoMessage {
  const idText = unclear?.has('id') === true ? undefined : idOf(bytes, findMember(root, 'id'));
  const isRequest = unclear?.has('method') === true || findMember(root, 'method') !== undefined;
  const reason = `${fault.reason}, at byte ${fault.offset}`;
  return { kind: 'none', idText, fault: 'ambiguous', reason, isRequest };
}

/** Why a message is not valid JSON, for transports whose servers would not answer it; undefined if it is valid. */
export function findJsonFault({ bytes, isProven }: Message): string | undefined {
  if (isProven) return undefined;
  const scan = scanObject(bytes, { plan: MESSAGE_PLAN, strict: true });
  return scan.ok ? undefined : `${scan.fault.reason}, at byte ${scan.fault.offset}`;
}

/** Whether a message, or a part of it, can be parsed into objects at once without blocking others. */
export function isParsable({ values, bytes }: Message): boolean {
  return values <= MAX_VALUES && bytes.length <= MAX_PARSED_BYTES;
}

/** The cursor of a request for a list; `null` counts as absent. */
export function findCursor({ bytes, params }: RequestMessage): Member | undefined {
  const cursor = findMember(params, 'cursor');
  return cursor === undefined || isNull(bytes, cursor) ? undefined : cursor;
}

/** A request from Assay itself to a server. */
export function buildOwnRequest(
  method: string,
  params: Readonly<Record<string, unknown>> = {},
): RequestMessage {
  const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }));
  const message = readServerMessage(bytes);
  if (message.kind !== 'request') throw new Error(`not a request: ${method}`);
  return message;
}

function classify(scanned: Scanned): Message | NoMessage {
  const { bytes, root, isProven, values } = scanned;
  const idMember = findMember(root, 'id');
  const echo = idOf(bytes, idMember);
  if (readJsonString(bytes, findMember(root, 'jsonrpc')) !== '2.0')
    return none(echo, '"jsonrpc" must be "2.0"');
  const methodMember = findMember(root, 'method');
  if (methodMember === undefined) return response(scanned, idMember, echo);
  // A reader could take this for a response to its own request.
  if (findMember(root, 'result') !== undefined || findMember(root, 'error') !== undefined)
    return none(echo, NO_KIND, true);
  const method = readJsonString(bytes, methodMember);
  if (method === undefined) return none(echo, '"method" must be a string');
  const paramsMember = findMember(root, 'params');
  // Some clients write `null` for params that they do not have.
  if (paramsMember !== undefined && paramsMember.object === undefined && !isNull(bytes, paramsMember))
    return none(echo, '"params" must be an object');
  const params = paramsMember?.object;
  if (idMember === undefined) return { kind: 'notification', bytes, root, isProven, values, method, params };
  if (echo === undefined) return none(undefined, '"id" must be a string or an integer');
  return { kind: 'request', bytes, root, isProven, values, idText: echo, method, params };
}

function response(
  scanned: Scanned,
  id: Span | undefined,
  echo: string | undefined,
): ResponseMessage | NoMessage {
  const hasResult = findMember(scanned.root, 'result') !== undefined;
  const isError = findMember(scanned.root, 'error') !== undefined;
  if (hasResult === isError) return none(echo, NO_KIND);
  if (echo === undefined && id !== undefined && !isNull(scanned.bytes, id))
    return none(undefined, '"id" must be a string or an integer');
  const { bytes, root, isProven, values } = scanned;
  return { kind: 'response', bytes, root, isProven, values, idText: echo, isError };
}

const NO_KIND = 'a message has a "method", or else a "result" or an "error"';

function none(idText: string | undefined, reason: string, isRequest = false): NoMessage {
  return { kind: 'none', idText, fault: 'not_a_message', reason, isRequest };
}

/** An id as it was written; undefined if it is not one. A string with an invalid escape must not be echoed. */
function idOf(bytes: Buffer, id: Span | undefined): string | undefined {
  if (id === undefined || id.end - id.start > MAX_ID_BYTES) return undefined;
  const text = readRawValue(bytes, id);
  if (!IS_ID.test(text)) return undefined;
  return text.startsWith('"') && readJsonString(bytes, id) === undefined ? undefined : text;
}

/** A string or an integer of at most 500 characters (2026-07-28, basic/index#requests). */
const IS_ID = /^(?:"[^]{0,500}"|-?(?:0|[1-9]\d{0,29}))$/;
const MAX_ID_BYTES = 2_002;
