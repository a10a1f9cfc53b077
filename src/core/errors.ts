import { printable } from './printable.ts';

/**
 * Everything that Assay itself refuses, by code. Codes are permanent: clients and scripts may rely on them.
 * What a downstream server answers is not in here; it is relayed as it came.
 */
export type Refusal =
  | { readonly code: 'MESSAGE_NOT_JSON'; readonly reason: string }
  | { readonly code: 'MESSAGE_INVALID'; readonly reason: string }
  | { readonly code: 'MESSAGE_TOO_LARGE'; readonly limitBytes: number }
  | { readonly code: 'METHOD_UNKNOWN'; readonly method: string }
  | { readonly code: 'PARAMS_INVALID'; readonly field: string; readonly reason: string }
  | { readonly code: 'ENVELOPE_INVALID'; readonly field: string; readonly reason: string }
  | { readonly code: 'HEADER_MISMATCH'; readonly header: string; readonly reason: string }
  | {
      readonly code: 'PROTOCOL_UNSUPPORTED';
      readonly requested: string;
      readonly supported: readonly string[];
    }
  | { readonly code: 'SESSION_MISSING' }
  | { readonly code: 'SESSION_UNKNOWN' }
  | { readonly code: 'SESSION_LIMIT' }
  | { readonly code: 'HOST_FORBIDDEN'; readonly host: string }
  | { readonly code: 'ORIGIN_FORBIDDEN'; readonly origin: string }
  | { readonly code: 'TOKEN_REQUIRED' }
  | { readonly code: 'HTTP_METHOD_UNKNOWN'; readonly method: string; readonly allowed: string }
  | { readonly code: 'MEDIA_TYPE_UNKNOWN'; readonly type: string }
  | { readonly code: 'NOT_ACCEPTABLE' }
  | { readonly code: 'ENDPOINT_UNKNOWN'; readonly path: string; readonly known: readonly string[] }
  | { readonly code: 'TOOL_UNKNOWN'; readonly name: string }
  | { readonly code: 'NAME_AMBIGUOUS'; readonly name: string; readonly candidates: readonly string[] }
  | { readonly code: 'TOOL_WITHHELD'; readonly name: string; readonly reason: string }
  | { readonly code: 'PROMPT_UNKNOWN'; readonly name: string }
  | { readonly code: 'RESOURCE_UNKNOWN'; readonly uri: string }
  | { readonly code: 'CURSOR_INVALID' }
  | {
      readonly code: 'SERVER_UNAVAILABLE';
      readonly server: string;
      readonly cause: string;
      /** What an HTTP server answered in place of MCP. */
      readonly httpStatus?: number;
    }
  | { readonly code: 'SERVER_ENDED'; readonly server: string; readonly cause: string }
  | { readonly code: 'SERVER_UNREACHED'; readonly server: string; readonly cause: string }
  | { readonly code: 'SERVER_TIMEOUT'; readonly server: string; readonly limitMs: number }
  | { readonly code: 'SERVER_ASKS'; readonly server: string }
  | { readonly code: 'CANCELLED' }
  | { readonly code: 'SHUTTING_DOWN' }
  | { readonly code: 'INTERNAL' }
  | { readonly code: 'CONFIG_UNREADABLE'; readonly path: string; readonly reason: string }
  | { readonly code: 'CONFIG_INVALID'; readonly path: string; readonly reason: string }
  | { readonly code: 'SETTING_INVALID'; readonly name: string; readonly reason: string }
  | { readonly code: 'ADDRESS_NEEDS_TOKEN'; readonly host: string }
  | { readonly code: 'ADDRESS_UNUSABLE'; readonly address: string; readonly reason: string }
  | { readonly code: 'ARGUMENTS_INVALID'; readonly reason: string }
  | { readonly code: 'SERVERS_ABSENT'; readonly path: string }
  | { readonly code: 'STORE_UNAVAILABLE'; readonly reason: string }
  | { readonly code: 'STORE_NEWER'; readonly place: string; readonly found: number; readonly known: number }
  | {
      readonly code: 'STORE_DAMAGED';
      readonly path: string;
      readonly keptAs: string;
      readonly reason: string;
    }
  | { readonly code: 'TOKEN_NAME_TAKEN'; readonly name: string }
  | { readonly code: 'TOKEN_UNKNOWN'; readonly name: string }
  | { readonly code: 'SCOPE_MISSING'; readonly scope: string }
  | { readonly code: 'TOO_MANY_FAILURES'; readonly waitSeconds: number }
  | { readonly code: 'CLIENT_BUSY'; readonly limit: number }
  | { readonly code: 'SERVER_BUSY'; readonly server: string; readonly limit: number }
  | { readonly code: 'CLIENT_UNKNOWN'; readonly name: string; readonly known: readonly string[] }
  | { readonly code: 'CLIENT_ABSENT'; readonly client: string; readonly folder: string }
  | { readonly code: 'CLIENT_NEEDS_COMMAND'; readonly client: string }
  | { readonly code: 'ENTRY_TAKEN'; readonly name: string; readonly path: string }
  | {
      readonly code: 'NOTHING_FOUND';
      readonly places: readonly string[];
      /** Folders of projects for which the client keeps servers. */
      readonly projects: readonly string[];
    }
  | { readonly code: 'NOTHING_TO_UNDO'; readonly path: string }
  | { readonly code: 'FILE_UNWRITABLE'; readonly path: string; readonly reason: string };

export type RefusalCode = Refusal['code'];

/** What one refusal is called on each of the three surfaces. */
interface Faces {
  /** JSON-RPC error code, https://www.jsonrpc.org/specification#error_object and MCP basic/index#error-codes. */
  readonly rpc: number;
  /** The code in the legacy era, where that had another one for it. */
  readonly legacyRpc?: number;
  /** HTTP status where the refusal is decided before the message reaches a server. */
  readonly http: number;
  /** Exit code of the command line, see EXIT. */
  readonly exit: number;
}

/** Exit codes of the command line. */
export const EXIT: {
  readonly done: 0;
  readonly failed: 1;
  readonly usage: 2;
  readonly config: 3;
  readonly unavailable: 4;
  readonly toolError: 5;
} = { done: 0, failed: 1, usage: 2, config: 3, unavailable: 4, toolError: 5 };

const NOT_JSON = -32700;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;

const FACES: Readonly<Record<RefusalCode, Faces>> = {
  MESSAGE_NOT_JSON: { rpc: NOT_JSON, http: 400, exit: EXIT.usage },
  MESSAGE_INVALID: { rpc: INVALID_REQUEST, http: 400, exit: EXIT.usage },
  MESSAGE_TOO_LARGE: { rpc: INVALID_REQUEST, http: 413, exit: EXIT.usage },
  METHOD_UNKNOWN: { rpc: METHOD_NOT_FOUND, http: 404, exit: EXIT.usage },
  PARAMS_INVALID: { rpc: INVALID_PARAMS, http: 200, exit: EXIT.usage },
  ENVELOPE_INVALID: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  HEADER_MISMATCH: { rpc: -32020, http: 400, exit: EXIT.usage },
  PROTOCOL_UNSUPPORTED: { rpc: -32022, http: 400, exit: EXIT.usage },
  SESSION_MISSING: { rpc: INVALID_REQUEST, http: 400, exit: EXIT.usage },
  SESSION_UNKNOWN: { rpc: INVALID_REQUEST, http: 404, exit: EXIT.usage },
  SESSION_LIMIT: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  HOST_FORBIDDEN: { rpc: INVALID_REQUEST, http: 403, exit: EXIT.usage },
  ORIGIN_FORBIDDEN: { rpc: INVALID_REQUEST, http: 403, exit: EXIT.usage },
  TOKEN_REQUIRED: { rpc: INVALID_REQUEST, http: 401, exit: EXIT.usage },
  HTTP_METHOD_UNKNOWN: { rpc: INVALID_REQUEST, http: 405, exit: EXIT.usage },
  MEDIA_TYPE_UNKNOWN: { rpc: INVALID_REQUEST, http: 415, exit: EXIT.usage },
  NOT_ACCEPTABLE: { rpc: INVALID_REQUEST, http: 406, exit: EXIT.usage },
  ENDPOINT_UNKNOWN: { rpc: INVALID_REQUEST, http: 404, exit: EXIT.usage },
  TOOL_UNKNOWN: { rpc: INVALID_PARAMS, http: 200, exit: EXIT.usage },
  NAME_AMBIGUOUS: { rpc: INVALID_PARAMS, http: 200, exit: EXIT.usage },
  TOOL_WITHHELD: { rpc: INVALID_PARAMS, http: 200, exit: EXIT.usage },
  PROMPT_UNKNOWN: { rpc: INVALID_PARAMS, http: 200, exit: EXIT.usage },
  RESOURCE_UNKNOWN: { rpc: INVALID_PARAMS, legacyRpc: -32002, http: 200, exit: EXIT.usage },
  CURSOR_INVALID: { rpc: INVALID_PARAMS, http: 200, exit: EXIT.usage },
  SERVER_UNAVAILABLE: { rpc: INTERNAL, http: 200, exit: EXIT.unavailable },
  SERVER_ENDED: { rpc: INTERNAL, http: 200, exit: EXIT.unavailable },
  SERVER_UNREACHED: { rpc: INTERNAL, http: 200, exit: EXIT.unavailable },
  SERVER_TIMEOUT: { rpc: INTERNAL, http: 200, exit: EXIT.unavailable },
  SERVER_ASKS: { rpc: INTERNAL, http: 200, exit: EXIT.failed },
  CANCELLED: { rpc: INTERNAL, http: 200, exit: EXIT.failed },
  SHUTTING_DOWN: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  INTERNAL: { rpc: INTERNAL, http: 500, exit: EXIT.failed },
  CONFIG_UNREADABLE: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  CONFIG_INVALID: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  SETTING_INVALID: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  ADDRESS_NEEDS_TOKEN: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  ADDRESS_UNUSABLE: { rpc: INTERNAL, http: 500, exit: EXIT.unavailable },
  ARGUMENTS_INVALID: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  SERVERS_ABSENT: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  STORE_UNAVAILABLE: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  STORE_NEWER: { rpc: INTERNAL, http: 503, exit: EXIT.config },
  STORE_DAMAGED: { rpc: INTERNAL, http: 503, exit: EXIT.config },
  TOKEN_NAME_TAKEN: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  TOKEN_UNKNOWN: { rpc: INVALID_PARAMS, http: 404, exit: EXIT.usage },
  SCOPE_MISSING: { rpc: INVALID_REQUEST, http: 403, exit: EXIT.usage },
  TOO_MANY_FAILURES: { rpc: INVALID_REQUEST, http: 429, exit: EXIT.unavailable },
  CLIENT_BUSY: { rpc: INTERNAL, http: 429, exit: EXIT.unavailable },
  SERVER_BUSY: { rpc: INTERNAL, http: 200, exit: EXIT.unavailable },
  CLIENT_UNKNOWN: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  CLIENT_ABSENT: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  CLIENT_NEEDS_COMMAND: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  ENTRY_TAKEN: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  NOTHING_FOUND: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  NOTHING_TO_UNDO: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  FILE_UNWRITABLE: { rpc: INTERNAL, http: 500, exit: EXIT.config },
};

export function facesOf(refusal: Refusal): Faces {
  return FACES[refusal.code];
}

/** A refusal as the `error` member of a JSON-RPC response; `data` holds the code and what it is about, cut to a length. */
export function rpcErrorOf(
  refusal: Refusal,
  isLegacy: boolean,
): { readonly code: number; readonly message: string; readonly data: Refusal } {
  const { rpc, legacyRpc = rpc } = facesOf(refusal);
  return { code: isLegacy ? legacyRpc : rpc, message: sentenceOf(refusal), data: bounded(refusal) };
}

/** One sentence or two: what happened, why, what to do. Never a secret, never text of a peer unescaped. */
export function sentenceOf(refusal: Refusal): string {
  return printable(SENTENCES[refusal.code](bounded(refusal) as never));
}

const LONGEST_TEXT = 200;
const MOST_TEXTS = 50;

/** A peer chose these texts, and pays with nothing for their length. */
function bounded(refusal: Refusal): Refusal {
  const entries = Object.entries(refusal).map(([key, value]) => [key, boundedValue(value)] as const);
  return Object.fromEntries(entries) as unknown as Refusal; // the same members, of the same types
}

function boundedValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MOST_TEXTS).map(boundedValue);
  return typeof value === 'string' ? boundedText(value) : value;
}

/** Never cut inside of a pair: half of one is no text for many parsers. */
function boundedText(text: string): string {
  return text.length > LONGEST_TEXT
    ? `${text.slice(0, LONGEST_TEXT).replace(/[\ud800-\udbff]$/, '')}…`
    : text;
}

type Sentences = { [C in RefusalCode]: (refusal: Extract<Refusal, { code: C }>) => string };

const SENTENCES: Sentences = {
  MESSAGE_NOT_JSON: (r) => `Parse error: ${r.reason}. Send one JSON-RPC 2.0 message in UTF-8.`,
  MESSAGE_INVALID: (r) => `Invalid request: ${r.reason}.`,
  MESSAGE_TOO_LARGE: (r) =>
    `The message is larger than ${r.limitBytes} bytes. Send less, or raise ASSAY_MAX_BODY_BYTES.`,
  METHOD_UNKNOWN: (r) => `Method not found: ${quote(r.method)}.`,
  PARAMS_INVALID: (r) => `Invalid params: ${r.field}: ${r.reason}.`,
  ENVELOPE_INVALID: (r) => `Invalid params: ${r.field}: ${r.reason}.`,
  HEADER_MISMATCH: (r) => `Header mismatch: ${r.header}: ${r.reason}.`,
  PROTOCOL_UNSUPPORTED: (r) =>
    `Unsupported protocol version ${quote(r.requested)}. Supported: ${r.supported.join(', ')}.`,
  SESSION_MISSING: () =>
    'The Mcp-Session-Id header is missing. Send "initialize" first, or speak revision 2026-07-28.',
  SESSION_UNKNOWN: () => 'No such session: it has ended or never was. Send "initialize" again.',
  SESSION_LIMIT: () => 'All sessions are in use. End one with DELETE, or try later.',
  HOST_FORBIDDEN: (r) =>
    `The Host header ${quote(r.host)} does not name this server. Use 127.0.0.1, localhost or the address it listens on.`,
  ORIGIN_FORBIDDEN: (r) => `Requests from the origin ${quote(r.origin)} are not allowed.`,
  TOKEN_REQUIRED: () => 'A valid token is needed: send "Authorization: Bearer <token>".',
  HTTP_METHOD_UNKNOWN: (r) =>
    `HTTP method ${quote(r.method)} is not allowed here. Allowed: ${r.allowed}${r.allowed === 'GET' ? '' : '; of the older revisions also GET and DELETE, with an Mcp-Session-Id'}.`,
  MEDIA_TYPE_UNKNOWN: (r) => `Content-Type ${quote(r.type)} is not understood. Send application/json.`,
  NOT_ACCEPTABLE: () =>
    'The Accept header allows neither application/json nor text/event-stream. Accept both.',
  ENDPOINT_UNKNOWN: (r) => `Nothing is at ${quote(r.path)}. Known: ${r.known.join(', ')}.`,
  TOOL_UNKNOWN: (r) => `No tool is called ${quote(r.name)}. "tools/list" or \`assay tools\` shows all.`,
  NAME_AMBIGUOUS: (r) =>
    `The name ${quote(r.name)} fits more than one. Use one of: ${r.candidates.join(', ')}.`,
  TOOL_WITHHELD: (r) => `The tool ${quote(r.name)} is withheld: ${r.reason}.`,
  PROMPT_UNKNOWN: (r) => `No prompt is called ${quote(r.name)}. "prompts/list" shows all.`,
  RESOURCE_UNKNOWN: (r) => `No server offers the resource ${quote(r.uri)}.`,
  CURSOR_INVALID: () => 'The cursor is not valid any more. List again from the start, without a cursor.',
  SERVER_UNAVAILABLE: (r) => `Server ${quote(r.server)} is not available: ${r.cause}.`,
  SERVER_ENDED: (r) =>
    `Server ${quote(r.server)} ended before it answered: ${r.cause}. The call may have had its effect; it was not repeated.`,
  SERVER_UNREACHED: (r) =>
    `Server ${quote(r.server)} could not be reached: ${r.cause}. The request was not carried out.`,
  SERVER_TIMEOUT: (r) =>
    `Server ${quote(r.server)} sent neither a result nor progress for ${r.limitMs} ms, so the call was cancelled. A longer limit can be set as "timeoutMs".`,
  SERVER_ASKS: (r) =>
    `Server ${quote(r.server)} asks for input in the middle of the call, which cannot be relayed to this client.`,
  CANCELLED: () => 'The request was cancelled by whoever sent it.',
  SHUTTING_DOWN: () => 'Assay is shutting down. Try again when it runs.',
  INTERNAL: () =>
    'Assay made a mistake, which its log describes. The call may or may not have had its effect.',
  CONFIG_UNREADABLE: (r) => `The config file ${quote(r.path)} cannot be read: ${r.reason}.`,
  CONFIG_INVALID: (r) => `The config file ${quote(r.path)} is not valid: ${r.reason}.`,
  SETTING_INVALID: (r) => `The setting ${r.name} is not valid: ${r.reason}.`,
  ADDRESS_NEEDS_TOKEN: (r) =>
    `Listening on ${quote(r.host)} lets other machines in. Set ASSAY_TOKEN to a secret of at least 16 characters, or use --host 127.0.0.1.`,
  ADDRESS_UNUSABLE: (r) => `Cannot listen on ${r.address}: ${r.reason}.`,
  ARGUMENTS_INVALID: (r) => `The arguments are not valid: ${r.reason}.`,
  SERVERS_ABSENT: (r) => `The config file ${quote(r.path)} names no server that can be used.`,
  STORE_UNAVAILABLE: (r) => `The store cannot be used: ${r.reason}. What was asked for is not saved.`,
  STORE_NEWER: (r) =>
    `The store ${quote(r.place)} was written by a newer Assay (format ${r.found}; this one knows ${r.known}). Update Assay, or use another ASSAY_HOME.`,
  STORE_DAMAGED: (r) =>
    `The store ${quote(r.path)} is damaged: ${r.reason}. It was moved to ${quote(r.keptAs)}; the next start makes a new one.`,
  TOKEN_NAME_TAKEN: (r) =>
    `There is a token called ${quote(r.name)} already. Choose another name, or revoke that one.`,
  TOKEN_UNKNOWN: (r) => `No valid token is called ${quote(r.name)}. \`assay token list\` shows all.`,
  SCOPE_MISSING: (r) => `The token does not allow this: it lacks the scope ${quote(r.scope)}.`,
  TOO_MANY_FAILURES: (r) => `Too many invalid tokens were sent. Try again in ${r.waitSeconds} s.`,
  CLIENT_BUSY: (r) =>
    `This client has ${r.limit} requests under way, which is the most that it may. Wait for answers, or raise limits.requestsPerClient.`,
  SERVER_BUSY: (r) =>
    `Server ${quote(r.server)} has ${r.limit} requests waiting, which is the most that it may. Try again later, or raise limits.queuePerServer. The request was not carried out.`,
  CLIENT_UNKNOWN: (r) =>
    `No client called ${quote(r.name)} is known. Known: ${r.known.join(', ')}. To import, a file will do too.`,
  CLIENT_ABSENT: (r) =>
    `${r.client} seems not to be installed: there is no folder ${quote(r.folder)}. Start it once, or write the file all the same with --force.`,
  CLIENT_NEEDS_COMMAND: (r) =>
    `${r.client} takes only commands from its config file, no addresses. Leave --http out: it then starts \`assay stdio\`, which joins the same servers.`,
  ENTRY_TAKEN: (r) =>
    `The file ${quote(r.path)} has another server called ${quote(r.name)}. Choose a name with --name, or replace that one with --force.`,
  NOTHING_FOUND: (r) =>
    `No MCP server was found. Looked in: ${r.places.map(quote).join(', ')}.` +
    (r.projects.length === 0 ? '' : ` There are some with --project ${r.projects.map(quote).join(' or ')}.`),
  NOTHING_TO_UNDO: (r) => `There is nothing to undo: Assay wrote nothing into ${quote(r.path)}.`,
  FILE_UNWRITABLE: (r) => `The file ${quote(r.path)} cannot be written: ${r.reason}.`,
};

/** A peer's text inside our sentence: one line, escaped; it is bounded already. */
function quote(text: string): string {
  return JSON.stringify(text);
}
