import { causeJson } from './cause-text.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import type { Refusal, RefusalCode } from './refusal.ts';
import { bounded } from './bounded-refusal.ts';
import { sentenceOf } from './sentences.ts';

/** How a refusal is reported on each of the three surfaces. */
interface ReportedCodes {
  /** JSON-RPC error code, https://www.jsonrpc.org/specification#error_object and MCP basic/index#error-codes. */
  readonly rpc: number;
  /** JSON-RPC code in legacy protocol versions, if different. */
  readonly legacyRpc?: number;
  /** HTTP status if the refusal is decided before the message reaches a server. */
  readonly http: number;
  /** HTTP status in the REST API, if it differs from `http` (MCP may report the refusal within a 200 response). */
  readonly rest?: number;
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

const REPORTED_CODES: Readonly<Record<RefusalCode, ReportedCodes>> = {
  MESSAGE_NOT_JSON: { rpc: NOT_JSON, http: 400, exit: EXIT.usage },
  MESSAGE_INVALID: { rpc: INVALID_REQUEST, http: 400, exit: EXIT.usage },
  MESSAGE_TOO_LARGE: { rpc: INVALID_REQUEST, http: 413, exit: EXIT.usage },
  BODIES_FULL: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  METHOD_UNKNOWN: { rpc: METHOD_NOT_FOUND, http: 404, exit: EXIT.usage },
  PARAMS_INVALID: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: EXIT.usage },
  ENVELOPE_INVALID: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  HEADER_MISMATCH: { rpc: -32020, http: 400, exit: EXIT.usage },
  PROTOCOL_UNSUPPORTED: { rpc: -32022, http: 400, exit: EXIT.usage },
  SESSION_MISSING: { rpc: INVALID_REQUEST, http: 400, exit: EXIT.usage },
  SESSION_UNKNOWN: { rpc: INVALID_REQUEST, http: 404, exit: EXIT.usage },
  CONNECTION_LIMIT: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  SESSION_LIMIT: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  EVENT_UNKNOWN: { rpc: INVALID_REQUEST, http: 400, exit: EXIT.usage },
  TARGET_INVALID: { rpc: INVALID_REQUEST, http: 400, exit: EXIT.usage },
  HEADER_INVALID: { rpc: INVALID_REQUEST, http: 400, exit: EXIT.usage },
  HOST_FORBIDDEN: { rpc: INVALID_REQUEST, http: 403, exit: EXIT.usage },
  ORIGIN_FORBIDDEN: { rpc: INVALID_REQUEST, http: 403, exit: EXIT.usage },
  TOKEN_REQUIRED: { rpc: INVALID_REQUEST, http: 401, exit: EXIT.usage },
  LINK_UNUSABLE: { rpc: INVALID_REQUEST, http: 401, exit: EXIT.usage },
  ISSUER_UNAVAILABLE: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  HTTP_METHOD_UNKNOWN: { rpc: INVALID_REQUEST, http: 405, exit: EXIT.usage },
  MEDIA_TYPE_UNKNOWN: { rpc: INVALID_REQUEST, http: 415, exit: EXIT.usage },
  NOT_ACCEPTABLE: { rpc: INVALID_REQUEST, http: 406, exit: EXIT.usage },
  ENDPOINT_UNKNOWN: { rpc: INVALID_REQUEST, http: 404, exit: EXIT.usage },
  TOOL_UNKNOWN: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: EXIT.usage },
  NAME_AMBIGUOUS: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  TOOL_WITHHELD: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  PROMPT_UNKNOWN: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: EXIT.usage },
  RESOURCE_UNKNOWN: { rpc: INVALID_PARAMS, legacyRpc: -32002, http: 200, rest: 404, exit: EXIT.usage },
  SUBSCRIPTION_UNSUPPORTED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  SUBSCRIPTION_LIMIT: { rpc: INTERNAL, http: 429, exit: EXIT.unavailable },
  EVENT_STREAM_LIMIT: { rpc: INTERNAL, http: 429, exit: EXIT.unavailable },
  CURSOR_INVALID: { rpc: INVALID_PARAMS, http: 200, rest: 400, exit: EXIT.usage },
  TASK_UNKNOWN: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: EXIT.usage },
  TASK_UNSUPPORTED: { rpc: METHOD_NOT_FOUND, http: 200, rest: 409, exit: EXIT.usage },
  TASK_REQUIRED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  CAPABILITY_MISSING: { rpc: -32021, http: 400, exit: EXIT.usage },
  SERVER_UNAVAILABLE: { rpc: INTERNAL, http: 200, rest: 502, exit: EXIT.unavailable },
  SERVER_MESSAGE_INVALID: { rpc: INTERNAL, http: 200, rest: 502, exit: EXIT.unavailable },
  SERVER_ENDED: { rpc: INTERNAL, http: 200, rest: 502, exit: EXIT.unavailable },
  SANDBOX_UNAVAILABLE: { rpc: INTERNAL, http: 200, rest: 503, exit: EXIT.config },
  SANDBOX_DENIED: { rpc: INTERNAL, http: 200, rest: 403, exit: EXIT.failed },
  SERVER_UNREACHED: { rpc: INTERNAL, http: 200, rest: 502, exit: EXIT.unavailable },
  SERVER_TIMEOUT: { rpc: INTERNAL, http: 200, rest: 504, exit: EXIT.unavailable },
  SERVER_ASKS: { rpc: INTERNAL, http: 200, rest: 502, exit: EXIT.failed },
  QUESTION_UNANSWERED: { rpc: INTERNAL, http: 200, rest: 502, exit: EXIT.failed },
  CLIENT_SILENT: { rpc: INTERNAL, http: 200, rest: 502, exit: EXIT.failed },
  STATE_INVALID: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: EXIT.usage },
  CALL_REFUSED: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: EXIT.failed },
  APPROVAL_REQUIRED: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: EXIT.failed },
  APPROVAL_DENIED: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: EXIT.failed },
  APPROVALS_FULL: { rpc: INTERNAL, http: 200, rest: 429, exit: EXIT.unavailable },
  APPROVAL_UNKNOWN: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: EXIT.usage },
  APPROVAL_CLOSED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  APPROVAL_OWN: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: EXIT.usage },
  APPROVAL_SCOPE_INVALID: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: EXIT.usage },
  APPROVAL_ONCE_ONLY: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: EXIT.usage },
  CALL_EXPIRED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.unavailable },
  CALL_ELSEWHERE: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.unavailable },
  CANCELLED: { rpc: INTERNAL, http: 200, rest: 503, exit: EXIT.failed },
  SHUTTING_DOWN: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  INTERNAL: { rpc: INTERNAL, http: 500, exit: EXIT.failed },
  CONFIG_ABSENT: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  CONFIG_UNREADABLE: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  CONFIG_INVALID: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  PATH_UNSAFE: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  SETTING_INVALID: { rpc: INTERNAL, http: 500, rest: 422, exit: EXIT.config },
  ADDRESS_NEEDS_TOKEN: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  ADDRESS_UNUSABLE: { rpc: INTERNAL, http: 500, exit: EXIT.unavailable },
  ARGUMENTS_INVALID: { rpc: INVALID_PARAMS, http: 400, rest: 422, exit: EXIT.usage },
  SERVERS_ABSENT: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  STORE_UNAVAILABLE: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  WRITE_UNCONFIRMED: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  STORE_NOT_FOLLOWED: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  CHANGES_LIMIT: { rpc: INTERNAL, http: 200, rest: 429, exit: EXIT.unavailable },
  STORE_STALE: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  RECORD_UNREADABLE: { rpc: INTERNAL, http: 503, exit: EXIT.config },
  SCHEMA_TOO_NEW: { rpc: INTERNAL, http: 503, exit: EXIT.config },
  SCHEMA_TOO_OLD: { rpc: INTERNAL, http: 503, exit: EXIT.config },
  STORE_DAMAGED: { rpc: INTERNAL, http: 503, exit: EXIT.config },
  STORE_MOVED: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  REVOCATION_UNSAVED: { rpc: INTERNAL, http: 503, exit: EXIT.unavailable },
  TOKEN_EXISTS: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  LABELS_UNKNOWN: { rpc: INVALID_PARAMS, http: 404, exit: EXIT.usage },
  TOKEN_UNKNOWN: { rpc: INVALID_PARAMS, http: 404, exit: EXIT.usage },
  CALL_UNKNOWN: { rpc: INVALID_PARAMS, http: 404, exit: EXIT.usage },
  SCOPE_MISSING: { rpc: INVALID_REQUEST, http: 403, exit: EXIT.usage },
  TOO_MANY_FAILURES: { rpc: INVALID_REQUEST, http: 429, exit: EXIT.unavailable },
  CLIENT_BUSY: { rpc: INTERNAL, http: 429, exit: EXIT.unavailable },
  SERVER_BUSY: { rpc: INTERNAL, http: 200, rest: 503, exit: EXIT.unavailable },
  CLIENT_UNKNOWN: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  CLIENT_ABSENT: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  CLIENT_NEEDS_COMMAND: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  ENTRY_EXISTS: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  NOTHING_FOUND: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  NOTHING_TO_UNDO: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  FILE_UNREADABLE: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  FILE_UNWRITABLE: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  SERVER_UNKNOWN: { rpc: INVALID_PARAMS, http: 404, exit: EXIT.usage },
  AUTHORIZATION_NEEDED: { rpc: INTERNAL, http: 200, rest: 502, exit: EXIT.unavailable },
  AUTHORIZATION_FAILED: { rpc: INTERNAL, http: 500, exit: EXIT.failed },
  AUTHORIZATION_UNKNOWN: { rpc: INVALID_PARAMS, http: 404, exit: EXIT.usage },
  KEY_UNUSABLE: { rpc: INTERNAL, http: 500, exit: EXIT.config },
  TOOLSET_UNKNOWN: { rpc: INVALID_PARAMS, http: 404, exit: EXIT.usage },
  TOOLSET_EXISTS: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  TOOLSET_PROTECTED: { rpc: INVALID_PARAMS, http: 200, rest: 403, exit: EXIT.usage },
  TOOLSETS_TOO_LARGE: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  TOOLSETS_FULL: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  TOOLSET_FULL: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  TOOLSET_EQUIPPED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  TOOLSET_NOT_EQUIPPED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  TOOL_NOT_IN_TOOLSET: { rpc: INVALID_PARAMS, http: 200, rest: 404, exit: EXIT.usage },
  TOOL_CHANGED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  TOOL_DRIFTED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  CALL_TOOL_REQUIRED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  REF_UNKNOWN: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: EXIT.usage },
  REF_AMBIGUOUS: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: EXIT.usage },
  REF_DISAGREES: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: EXIT.usage },
  NOTE_EXISTS: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  NOTE_ACCEPTED: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  EXECUTE_OFF: { rpc: INVALID_REQUEST, http: 403, exit: EXIT.usage },
  VERIFICATION_UNSUPPORTED: { rpc: INVALID_PARAMS, http: 422, exit: EXIT.usage },
  VERIFICATION_RUNNING: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.unavailable },
  VERIFICATION_FAILED: { rpc: INTERNAL, http: 502, exit: EXIT.unavailable },
  GATEWAY_EXISTS: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  GATEWAY_INVALID: { rpc: INVALID_PARAMS, http: 422, exit: EXIT.usage },
  GATEWAY_READ_ONLY: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  TOOL_EXISTS: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  TOOL_INVALID: { rpc: INVALID_PARAMS, http: 422, exit: EXIT.usage },
  TOOL_READ_ONLY: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  MODULE_EXISTS: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  MODULE_INVALID: { rpc: INVALID_PARAMS, http: 422, exit: EXIT.usage },
  MODULE_UNKNOWN: { rpc: INVALID_PARAMS, http: 404, exit: EXIT.usage },
  MODULE_READ_ONLY: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.usage },
  BUNDLE_INVALID: { rpc: INVALID_PARAMS, http: 422, exit: EXIT.usage },
  BUNDLE_LOCKED: { rpc: INVALID_PARAMS, http: 422, exit: EXIT.usage },
  TOOL_DISABLED: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  HINTS_CONTRADICT: { rpc: INVALID_PARAMS, http: 422, exit: EXIT.usage },
  NOTE_UNKNOWN: { rpc: INVALID_PARAMS, http: 404, exit: EXIT.usage },
  NOTES_FULL: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  MODE_DIFFERS: { rpc: INVALID_PARAMS, http: 200, rest: 409, exit: EXIT.usage },
  BODY_NOT_JSON: { rpc: NOT_JSON, http: 400, exit: EXIT.usage },
  BODY_TOO_LARGE: { rpc: INVALID_REQUEST, http: 413, exit: EXIT.usage },
  BODY_INVALID: { rpc: INVALID_PARAMS, http: 422, exit: EXIT.usage },
  QUERY_INVALID: { rpc: INVALID_PARAMS, http: 400, exit: EXIT.usage },
  PRECONDITION_FAILED: { rpc: INVALID_REQUEST, http: 412, exit: EXIT.failed },
  SETTING_READ_ONLY: { rpc: INVALID_PARAMS, http: 403, exit: EXIT.config },
  SETTING_OVERRIDDEN: { rpc: INVALID_PARAMS, http: 409, exit: EXIT.config },
};

/** All codes, in the order of the table. */
export const REFUSAL_CODES: readonly RefusalCode[] = Object.keys(REPORTED_CODES) as RefusalCode[]; // keys of a total record

/** The HTTP status of a refusal in the REST API. */
export function restStatusOf(code: RefusalCode): number {
  const { http, rest = http } = REPORTED_CODES[code];
  return rest;
}

export function reportedCodesOf(refusal: Pick<Refusal, 'code'>): ReportedCodes {
  return REPORTED_CODES[refusal.code];
}

/** The code of one of Assay's own refusals in a JSON-RPC error. Undefined if the error is not Assay's. */
export function refusalCodeIn(error: JsonObject): RefusalCode | undefined {
  const { data } = error;
  const code = isJsonObject(data) ? data['code'] : undefined;
  return REFUSAL_CODES.find((known) => known === code);
}

/** A refusal as the `error` member of a JSON-RPC response. `data` holds the code and details, with texts truncated. */
export function rpcErrorOf(
  refusal: Refusal,
  isLegacy: boolean,
): { readonly code: number; readonly message: string; readonly data: Readonly<Record<string, unknown>> } {
  const { rpc, legacyRpc = rpc } = reportedCodesOf(refusal);
  return { code: isLegacy ? legacyRpc : rpc, message: sentenceOf(refusal), data: dataOf(bounded(refusal)) };
}

/** Refusals about what a model wants to do, not about the form of its request. */
const FOR_MODELS: ReadonlySet<RefusalCode> = new Set([
  'CALL_REFUSED',
  'SANDBOX_UNAVAILABLE',
  'SANDBOX_DENIED',
  'APPROVAL_REQUIRED',
  'APPROVAL_DENIED',
  'APPROVALS_FULL',
  'CHANGES_LIMIT',
]);

/** Member of a tool result's `_meta` that holds the refusal with its code. */
const REFUSAL_MEMBER = 'assay/refusal';

/**
 * A refusal as a tool result: clients need not show protocol errors to models, but models should read why they may not
 * do something. Undefined if the refusal is a protocol error.
 */
export function toolErrorOf(refusal: Refusal): JsonObject | undefined {
  if (!FOR_MODELS.has(refusal.code)) return undefined;
  const content = [{ type: 'text', text: sentenceOf(refusal) }];
  return { content, isError: true, _meta: { [REFUSAL_MEMBER]: dataOf(bounded(refusal)) } };
}

/** The code of a refusal that arrived as a tool result. */
export function toolErrorCodeIn({ _meta: meta }: JsonObject): RefusalCode | undefined {
  return isJsonObject(meta) ? refusalCodeIn({ data: meta[REFUSAL_MEMBER] }) : undefined;
}

function dataOf(refusal: Refusal): Readonly<Record<string, unknown>> {
  return 'cause' in refusal && refusal.cause !== undefined
    ? { ...refusal, ...causeJson(refusal.cause) }
    : refusal;
}

/** Why something could not be stored, as a phrase. Undefined if the refusal is not about the store. */
export function unsavedReason(refusal: Refusal): string | undefined {
  if (refusal.code === 'STORE_UNAVAILABLE' || refusal.code === 'WRITE_UNCONFIRMED') return refusal.reason;
  if (refusal.code !== 'STORE_MOVED') return undefined;
  return 'the file of the store was deleted, moved or replaced';
}
