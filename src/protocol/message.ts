import { isUtf8 } from 'node:buffer';
import { NO_OBJECT, scanFront, scanObject } from './scan.ts';
import { memberOf, planOf, rawOf, textOf, type JsonObject, type Plan } from './spans.ts';

interface Scanned {
  readonly bytes: Buffer;
  readonly root: JsonObject;
  /** Whether every byte was checked to be JSON; the inside of long strings is not, at first. */
  readonly isProven: boolean;
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

/** A JSON-RPC response; `idText` is undefined where the peer could not tell which request it answers. */
export interface ResponseMessage extends Scanned {
  readonly kind: 'response';
  readonly idText: string | undefined;
  readonly isError: boolean;
  /** What follows `bytes`, where a large response came in pieces and nothing in the rest of it need be read. */
  readonly rest: readonly Buffer[];
}

export type Message = RequestMessage | NotificationMessage | ResponseMessage;

/** No message. `idText` is there when the id could be read, so that the error can carry it. */
export interface NoMessage {
  readonly kind: 'none';
  readonly idText: string | undefined;
  /** Whether the bytes are no JSON at all, or JSON but no message. */
  readonly fault: 'not JSON' | 'no message';
  readonly reason: string;
}

/** The members that Assay looks at; everything else is stepped over. */
const MESSAGE_PLAN: Plan = planOf({
  jsonrpc: {},
  id: {},
  method: {},
  params: {
    name: {},
    uri: {},
    cursor: {},
    requestId: {},
    progressToken: {},
    level: {},
    ref: { type: {}, name: {}, uri: {} },
    _meta: {
      progressToken: {},
      'io.modelcontextprotocol/protocolVersion': {},
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/clientInfo': {},
      'io.modelcontextprotocol/logLevel': {},
    },
  },
  result: { resultType: {}, ttlMs: {}, cacheScope: {}, _meta: {} },
  error: { code: {}, message: {} },
});

/** What a client sent, in UTF-8 as JSON-RPC over any transport must be. */
export function readClientMessage(bytes: Buffer): Message | NoMessage {
  if (isUtf8(bytes)) return readMessage(bytes);
  return { kind: 'none', idText: undefined, fault: 'not JSON', reason: 'not UTF-8' };
}

/** What a peer sent, taken apart only where it must be. */
export function readMessage(bytes: Buffer): Message | NoMessage {
  const scan = scanObject(bytes, { plan: MESSAGE_PLAN, strict: false, refusesTwice: true });
  if (scan.ok) return classify({ bytes, root: scan.value, isProven: scan.isProven });
  const { reason, isJson, offset } = scan.fault;
  if (reason === NO_OBJECT && isOtherJson(bytes))
    return none(undefined, 'a message is one JSON object, with "jsonrpc", "method" or "id"');
  if (isJson) return none(undefined, `${reason}, at byte ${offset}`);
  return { kind: 'none', idText: undefined, fault: 'not JSON', reason: `${reason}, at byte ${offset}` };
}

/** The reason why a message is no JSON after all, for transports whose servers would not answer it; undefined: it is JSON. */
export function jsonFault({ bytes, isProven }: Message): string | undefined {
  if (isProven) return undefined;
  const scan = scanObject(bytes, { plan: MESSAGE_PLAN, strict: true });
  return scan.ok ? undefined : `${scan.fault.reason}, at byte ${scan.fault.offset}`;
}

const OUTCOME: ReadonlySet<string> = new Set(['result', 'error']);

/** The id as last or last but one member, where the JSON SDKs put it. Before it stands the end of another value. */
const ID_AT_END = /,\s*"id"\s*:\s*(\d{1,15})\s*((?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*)$/;
const END_BYTES = 80;

/**
 * A response that came in pieces, without joining them: its id is found at the front or at the end, and what is between
 * is not looked at. Undefined where that cannot be, so that the pieces must be joined and read.
 */
export function readResponsePieces(pieces: readonly Buffer[]): ResponseMessage | undefined {
  const [bytes, ...rest] = pieces;
  const last = rest.pop();
  if (bytes === undefined || last === undefined) return undefined;
  const root = scanFront(bytes, MESSAGE_PLAN, OUTCOME);
  if (root === undefined || memberOf(root, 'method') !== undefined) return undefined;
  const isError = bytes.toString('latin1', root.end - 10, root.end).includes('error');
  const front = { kind: 'response', bytes, root, isError, isProven: false } as const;
  const id = memberOf(root, 'id');
  if (id !== undefined) {
    const idText = rawOf(bytes, id);
    return IS_ID.test(idText) ? { ...front, idText, rest: [...rest, last] } : undefined;
  }
  const from = Math.max(last.length - END_BYTES, 0);
  const found = ID_AT_END.exec(last.toString('latin1', from));
  if (found === null) return undefined;
  const [, idText = '', end = ''] = found;
  const kept = [last.subarray(0, from + found.index), Buffer.from(end)];
  return { ...front, idText, rest: [...rest, ...kept] };
}

/** A request of our own, for servers. */
export function ownRequest(method: string, params: Readonly<Record<string, unknown>> = {}): RequestMessage {
  const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }));
  const message = readMessage(bytes);
  if (message.kind !== 'request') throw new Error(`not a request: ${method}`);
  return message;
}

function classify(scanned: Scanned): Message | NoMessage {
  const { bytes, root } = scanned;
  const idMember = memberOf(root, 'id');
  const idText = idMember && rawOf(bytes, idMember);
  const isId = idText !== undefined && IS_ID.test(idText);
  const echo = isId ? idText : undefined;
  if (textOf(bytes, memberOf(root, 'jsonrpc')) !== '2.0') return none(echo, '"jsonrpc" must be "2.0"');
  const methodMember = memberOf(root, 'method');
  if (methodMember === undefined) return response(scanned, idText, echo);
  const method = textOf(bytes, methodMember);
  if (method === undefined) return none(echo, '"method" must be a string');
  const paramsMember = memberOf(root, 'params');
  if (paramsMember !== undefined && paramsMember.object === undefined)
    return none(echo, '"params" must be an object');
  const params = paramsMember?.object;
  if (idText === undefined) return { kind: 'notification', ...scanned, method, params };
  if (!isId) return none(undefined, '"id" must be a string or an integer');
  return { kind: 'request', ...scanned, idText, method, params };
}

function response(
  scanned: Scanned,
  idText: string | undefined,
  echo: string | undefined,
): ResponseMessage | NoMessage {
  const hasResult = memberOf(scanned.root, 'result') !== undefined;
  const isError = memberOf(scanned.root, 'error') !== undefined;
  if (hasResult === isError) return none(echo, 'a message has a "method", or else a "result" or an "error"');
  if (echo === undefined && idText !== undefined && idText !== 'null')
    return none(undefined, '"id" must be a string or an integer');
  return { kind: 'response', ...scanned, idText: echo, isError, rest: [] };
}

function none(idText: string | undefined, reason: string): NoMessage {
  return { kind: 'none', idText, fault: 'no message', reason };
}

/** A string or an integer of at most 500 characters (2026-07-28, basic/index#requests). */
const IS_ID = /^(?:"[^]{0,500}"|-?\d{1,30})$/;

/** JSON, but no object: an invalid request rather than a parse error (JSON-RPC 2.0, section 5.1). */
function isOtherJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
