import { isUtf8 } from 'node:buffer';
import { NO_OBJECT, scanFront, scanObject, type ScanOptions } from './scan.ts';
import { MAX_DEPTH, MAX_SERVER_DEPTH } from './scanner.ts';
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
  /**
   * What follows `bytes`, where a large response came in pieces and nothing in the rest of it need be read. It goes as far
   * as the brace that ends the message, which is left out.
   */
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
    requestState: {},
    inputResponses: {},
    cursor: {},
    requestId: {},
    progressToken: {},
    taskId: {},
    task: {},
    level: {},
    ref: { type: {}, name: {}, uri: {} },
    _meta: {
      progressToken: {},
      traceparent: {},
      tracestate: {},
      'io.modelcontextprotocol/protocolVersion': {},
      'io.modelcontextprotocol/clientCapabilities': { extensions: { 'io.modelcontextprotocol/tasks': {} } },
      'io.modelcontextprotocol/clientInfo': {},
      'io.modelcontextprotocol/logLevel': {},
      'io.modelcontextprotocol/related-task': { taskId: {} },
    },
  },
  result: {
    resultType: {},
    ttlMs: {},
    cacheScope: {},
    task: {},
    _meta: { 'io.modelcontextprotocol/related-task': {} },
  },
  error: { code: {}, message: {} },
});

/** What a client sent, in UTF-8 as JSON-RPC over any transport must be. */
export function readClientMessage(bytes: Buffer): Message | NoMessage {
  if (isUtf8(bytes)) return readMessage(bytes, CLIENT);
  return { kind: 'none', idText: undefined, fault: 'not JSON', reason: 'not UTF-8' };
}

/** What a server sent: relayed as it is, and only taken apart where it must be. */
export function readServerMessage(bytes: Buffer): Message | NoMessage {
  return readMessage(bytes, SERVER);
}

const CLIENT = { plan: MESSAGE_PLAN, strict: false, refusesTwice: true, maxDepth: MAX_DEPTH };
const SERVER = { plan: MESSAGE_PLAN, strict: false, refusesTwice: false, maxDepth: MAX_SERVER_DEPTH };

function readMessage(bytes: Buffer, options: ScanOptions): Message | NoMessage {
  const scan = scanObject(bytes, options);
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

/** The id as last or last but one member, where the JSON SDKs put it, and the end of the message. */
const END =
  /(?:,[ \t\r\n]*"id"[ \t\r\n]*:[ \t\r\n]*(0|[1-9]\d{0,14})[ \t\r\n]*)?((?:,[ \t\r\n]*"jsonrpc"[ \t\r\n]*:[ \t\r\n]*"2\.0"[ \t\r\n]*)?)\}[ \t\r\n]*$/;
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
  if (mayAskForInput(bytes, root) || last.includes(INPUT_REQUIRED, last.length - SEARCHED_BYTES))
    return undefined;
  const id = memberOf(root, 'id');
  const from = Math.max(last.length - END_BYTES, 0);
  const found = END.exec(last.toString('latin1', from));
  const idText = id === undefined ? found?.[1] : rawOf(bytes, id);
  if (found === null || idText === undefined || !IS_ID.test(idText)) return undefined;
  if (id !== undefined && found[1] !== undefined) return undefined;
  const kept = [last.subarray(0, from + found.index), Buffer.from(found[2] ?? '')];
  const isError = memberOf(root, 'error') !== undefined;
  return { kind: 'response', bytes, root, idText, isError, isProven: false, rest: [...rest, ...kept] };
}

/** What stands at the front or at the end of a result that is none yet (2026-07-28, basic/patterns/mrtr). */
const INPUT_REQUIRED = 'input_required';
const SEARCHED_BYTES = 1_024;

function mayAskForInput(bytes: Buffer, root: JsonObject): boolean {
  const start = memberOf(root, 'result')?.start ?? bytes.length;
  return bytes.subarray(start, start + SEARCHED_BYTES).includes(INPUT_REQUIRED);
}

/** A request of our own, for servers. */
export function ownRequest(method: string, params: Readonly<Record<string, unknown>> = {}): RequestMessage {
  const bytes = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 0, method, params }));
  const message = readMessage(bytes, SERVER);
  if (message.kind !== 'request') throw new Error(`not a request: ${method}`);
  return message;
}

function classify(scanned: Scanned): Message | NoMessage {
  const { bytes, root } = scanned;
  const idMember = memberOf(root, 'id');
  const idText = idMember && rawOf(bytes, idMember);
  // A string id may hold a bad escape, of which nobody should get an echo.
  const isText = idText?.startsWith('"') === true;
  const isId =
    idText !== undefined && IS_ID.test(idText) && (!isText || textOf(bytes, idMember) !== undefined);
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
const IS_ID = /^(?:"[^]{0,500}"|-?(?:0|[1-9]\d{0,29}))$/;

/** JSON, but no object: an invalid request rather than a parse error (JSON-RPC 2.0, section 5.1). */
function isOtherJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString());
    return true;
  } catch {
    return false;
  }
}
