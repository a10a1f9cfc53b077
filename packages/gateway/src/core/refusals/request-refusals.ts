import { quote } from '@assay-mcp/kit/printable';
import { type FieldError, fieldErrorsText } from '../field-error.ts';
import {
  INTERNAL,
  INVALID_PARAMS,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  NOT_JSON,
  type RefusalTable,
} from './refusal-row.ts';

/** Refusals about requests: their HTTP, their messages and their bodies. */
export type RequestRefusal =
  | { readonly code: 'MESSAGE_NOT_JSON'; readonly reason: string }
  | { readonly code: 'MESSAGE_INVALID'; readonly reason: string }
  | { readonly code: 'MESSAGE_TOO_LARGE'; readonly limitBytes: number }
  | { readonly code: 'BODIES_FULL'; readonly limitBytes: number; readonly waitSeconds: number }
  | { readonly code: 'METHOD_UNKNOWN'; readonly method: string }
  | { readonly code: 'PARAMS_INVALID'; readonly field: string; readonly reason: string }
  | { readonly code: 'ENVELOPE_INVALID'; readonly field: string; readonly reason: string }
  | { readonly code: 'HEADER_MISMATCH'; readonly header: string; readonly reason: string }
  | {
      readonly code: 'PROTOCOL_UNSUPPORTED';
      readonly requested: string;
      readonly supported: readonly string[];
    }
  | {
      readonly code: 'CAPABILITY_MISSING';
      /** In the format of client capabilities (2026-07-28, basic/index#error-codes). */
      readonly requiredCapabilities: Readonly<Record<string, unknown>>;
    }
  | { readonly code: 'CURSOR_INVALID' }
  | { readonly code: 'SESSION_MISSING' }
  | { readonly code: 'SESSION_UNKNOWN' }
  | { readonly code: 'SESSION_LIMIT' }
  | { readonly code: 'SESSION_STATE_LIMIT'; readonly limitBytes: number }
  | { readonly code: 'ANSWER_UNDELIVERED'; readonly reason: string }
  | { readonly code: 'CONNECTION_LIMIT'; readonly limit: number }
  | { readonly code: 'EVENT_UNKNOWN' }
  | { readonly code: 'EVENT_STREAM_LIMIT'; readonly limit: number }
  | { readonly code: 'TARGET_INVALID'; readonly reason: string }
  | { readonly code: 'HEADER_INVALID'; readonly header: string; readonly reason: string }
  | { readonly code: 'HTTP_METHOD_UNKNOWN'; readonly method: string; readonly allowed: string }
  | { readonly code: 'MEDIA_TYPE_UNKNOWN'; readonly type: string }
  | { readonly code: 'NOT_ACCEPTABLE' }
  | { readonly code: 'ENDPOINT_UNKNOWN'; readonly path: string; readonly known: readonly string[] }
  /** `field`: the argument, by its name in a request, such as `notes.0.name`. */
  | { readonly code: 'ARGUMENTS_INVALID'; readonly field?: string; readonly reason: string }
  | { readonly code: 'BODY_NOT_JSON'; readonly reason: string }
  | { readonly code: 'BODY_TOO_LARGE'; readonly limitBytes: number }
  | { readonly code: 'BODY_INVALID'; readonly fieldErrors: readonly FieldError[] }
  | { readonly code: 'QUERY_INVALID'; readonly fieldErrors: readonly FieldError[] }
  | {
      readonly code: 'PRECONDITION_FAILED';
      /** The current ETag. */
      readonly etag: string;
    };

export const REQUEST_REFUSALS: RefusalTable<RequestRefusal> = {
  MESSAGE_NOT_JSON: {
    reported: { rpc: NOT_JSON, http: 400, exit: 'usage' },
    sentence: (r) => `Parse error: ${r.reason}. Send one JSON-RPC 2.0 message in UTF-8.`,
  },
  MESSAGE_INVALID: {
    reported: { rpc: INVALID_REQUEST, http: 400, exit: 'usage' },
    sentence: (r) => `Invalid request: ${r.reason}.`,
  },
  MESSAGE_TOO_LARGE: {
    reported: { rpc: INVALID_REQUEST, http: 413, exit: 'usage' },
    sentence: (r) =>
      `The message is larger than ${r.limitBytes} bytes. Send less, or raise ASSAY_MAX_BODY_BYTES.`,
  },
  BODIES_FULL: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) =>
      `The bodies of requests in progress have reached ${r.limitBytes} bytes in total. The request was not carried out; retry it in ${r.waitSeconds} s.`,
  },
  METHOD_UNKNOWN: {
    reported: { rpc: METHOD_NOT_FOUND, http: 404, exit: 'usage' },
    sentence: (r) => `Method not found: ${quote(r.method)}.`,
  },
  PARAMS_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 422, exit: 'usage' },
    sentence: (r) => `Invalid params: ${r.field}: ${r.reason}.`,
  },
  ENVELOPE_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 400, exit: 'usage' },
    sentence: (r) => `Invalid params: ${r.field}: ${r.reason}.`,
  },
  HEADER_MISMATCH: {
    reported: { rpc: -32020, http: 400, exit: 'usage' },
    sentence: (r) => `Header mismatch: ${r.header}: ${r.reason}.`,
  },
  PROTOCOL_UNSUPPORTED: {
    reported: { rpc: -32022, http: 400, exit: 'usage' },
    sentence: (r) =>
      `Unsupported protocol version ${quote(r.requested)}. Supported: ${r.supported.join(', ')}.`,
  },
  CAPABILITY_MISSING: {
    reported: { rpc: -32021, http: 400, exit: 'usage' },
    sentence: (r) =>
      `Missing required client capability. Declare with each request: ${JSON.stringify(r.requiredCapabilities)}.`,
  },
  CURSOR_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 200, rest: 400, exit: 'usage' },
    sentence: () => 'The cursor is no longer valid. Start the list again, without a cursor.',
  },
  SESSION_MISSING: {
    reported: { rpc: INVALID_REQUEST, http: 400, exit: 'usage' },
    sentence: () =>
      'The Mcp-Session-Id header is missing. Send "initialize" first, or speak revision 2026-07-28.',
  },
  SESSION_UNKNOWN: {
    reported: { rpc: INVALID_REQUEST, http: 404, exit: 'usage' },
    sentence: () => 'Unknown session: it has ended, or never existed. Send "initialize" again.',
  },
  SESSION_LIMIT: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: () => 'All sessions are in use. End one with DELETE, or try again later.',
  },
  SESSION_STATE_LIMIT: {
    reported: { rpc: INTERNAL, http: 429, exit: 'unavailable' },
    sentence: (r) =>
      `What is kept for this session, or for all sessions of this caller, would become too large (${r.limitBytes} bytes for one session). End some resource subscriptions first.`,
  },
  ANSWER_UNDELIVERED: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) =>
      `The answer could not be passed on to the replica of Assay that asked: ${r.reason}. The server that asked gets no answer.`,
  },
  CONNECTION_LIMIT: {
    reported: { rpc: INTERNAL, http: 503, exit: 'unavailable' },
    sentence: (r) =>
      `All ${r.limit} connections are in use (limits.connections). Close one of yours, or try again later.`,
  },
  EVENT_UNKNOWN: {
    reported: { rpc: INVALID_REQUEST, http: 400, exit: 'usage' },
    sentence: () =>
      'The Last-Event-ID does not match any event that this session still keeps. Missed messages cannot be recovered; open a stream without that header.',
  },
  EVENT_STREAM_LIMIT: {
    reported: { rpc: INTERNAL, http: 429, exit: 'unavailable' },
    sentence: (r) =>
      `This caller has ${r.limit} streams of /events open, the maximum. Close one, or use one stream for several readers.`,
  },
  TARGET_INVALID: {
    reported: { rpc: INVALID_REQUEST, http: 400, exit: 'usage' },
    sentence: (r) =>
      `The request target cannot be used: ${r.reason}. Send a plain path of this server, such as /mcp.`,
  },
  HEADER_INVALID: {
    reported: { rpc: INVALID_REQUEST, http: 400, exit: 'usage' },
    sentence: (r) => `The ${r.header} header is not valid: ${r.reason}.`,
  },
  HTTP_METHOD_UNKNOWN: {
    reported: { rpc: INVALID_REQUEST, http: 405, exit: 'usage' },
    sentence: (r) =>
      `HTTP method ${quote(r.method)} is not allowed here. Allowed: ${r.allowed}${r.allowed === 'POST' ? '; with an Mcp-Session-Id of an older revision also GET and DELETE' : ''}.`,
  },
  MEDIA_TYPE_UNKNOWN: {
    reported: { rpc: INVALID_REQUEST, http: 415, exit: 'usage' },
    sentence: (r) =>
      r.type === ''
        ? 'The Content-Type header is missing. Send the body with "Content-Type: application/json".'
        : `Content-Type ${quote(r.type)} is not supported. Send the body as JSON, with "Content-Type: application/json".`,
  },
  NOT_ACCEPTABLE: {
    reported: { rpc: INVALID_REQUEST, http: 406, exit: 'usage' },
    sentence: () => 'The Accept header allows neither application/json nor text/event-stream. Accept both.',
  },
  ENDPOINT_UNKNOWN: {
    reported: { rpc: INVALID_REQUEST, http: 404, exit: 'usage' },
    sentence: (r) => `There is no endpoint ${quote(r.path)}. Known endpoints: ${r.known.join(', ')}.`,
  },
  ARGUMENTS_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 400, rest: 422, exit: 'usage' },
    sentence: (r) =>
      `The arguments are not valid: ${r.field === undefined ? '' : `${r.field}: `}${r.reason}.`,
  },
  BODY_NOT_JSON: {
    reported: { rpc: NOT_JSON, http: 400, exit: 'usage' },
    sentence: (r) => `The body is not JSON: ${r.reason}. Send one JSON value in UTF-8.`,
  },
  BODY_TOO_LARGE: {
    reported: { rpc: INVALID_REQUEST, http: 413, exit: 'usage' },
    sentence: (r) => `The body is larger than the maximum of ${r.limitBytes} bytes.`,
  },
  BODY_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 422, exit: 'usage' },
    sentence: (r) => `The body is not valid: ${fieldErrorsText(r.fieldErrors)}.`,
  },
  QUERY_INVALID: {
    reported: { rpc: INVALID_PARAMS, http: 400, exit: 'usage' },
    sentence: (r) => `The query is not valid: ${fieldErrorsText(r.fieldErrors)}.`,
  },
  PRECONDITION_FAILED: {
    reported: { rpc: INVALID_REQUEST, http: 412, exit: 'failed' },
    sentence: (r) => `The resource changed since you read it; its ETag is now ${r.etag}. Fetch it and retry.`,
  },
};
