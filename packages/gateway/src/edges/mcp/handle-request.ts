import type { Cancellation } from '@assay-mcp/kit/cancellation';
import { getReportedCodes, toRpcError, toToolError } from '../../core/errors.ts';
import { isSevereEnough, LOG_LEVELS } from '../../core/log-levels.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Identity } from '../../core/subject.ts';
import type { Reply, ServerRequestHandler } from '../../gateway/ports/link.ts';
import { type Answer, Call, type Caller, type ClientChannel } from '../../gateway/relay/call.ts';
import { type Era, METHODS } from '@assay-mcp/protocol/eras';
import type { NotificationMessage, RequestMessage } from '@assay-mcp/protocol/message';
import {
  buildErrorMessage,
  buildResultMessage,
  buildResultPieces,
  serializeResult,
} from '@assay-mcp/protocol/reply';
import { findMember, readRawValue, readJsonString } from '@assay-mcp/protocol/spans';
import { translateReply } from '@assay-mcp/protocol/translate';
import { findOwnFault } from './read-message.ts';
import { buildDiscoverResult } from './self.ts';

/** A response ready to be sent, and its HTTP status. */
export interface Outcome {
  /** The response in pieces, to be sent in order. */
  readonly pieces: readonly Buffer[];
  readonly status: number;
}

/** A client request, and how to reach the client before the response. */
export interface ReceivedRequest {
  readonly caller: Caller;
  readonly identity: Identity;
  readonly message: RequestMessage;
  readonly cancellation: Cancellation;
  readonly notify: (bytes: Buffer) => void;
  /** Sends a server request to a legacy client on the stream of this request. */
  readonly ask: ServerRequestHandler | undefined;
}

/** Answers one request in the format of the client's era. */
export async function handleRequest(request: ReceivedRequest): Promise<Outcome> {
  const { caller, message } = request;
  const { era, view, relay } = caller;
  const { method, idText } = message;
  const known = METHODS.get(method);
  if (known?.eras.includes(era) !== true)
    return toRefusalOutcome(idText, era, { code: 'METHOD_UNKNOWN', method });
  // Upstream servers reject invalid JSON themselves. Assay must check the requests that it answers itself.
  const fault = known.isRelayed === true ? undefined : findOwnFault(message);
  if (fault !== undefined) return toRefusalOutcome(idText, era, fault);
  switch (method) {
    case 'ping':
      return done(buildResultMessage(idText, serializeResult(method, era, {})));
    case 'server/discover':
      return done(
        buildResultMessage(
          idText,
          serializeResult(method, era, buildDiscoverResult({ view, tasks: relay.deps.tasks })),
        ),
      );
    case 'logging/setLevel':
      return setLogLevel(caller, message);
    default:
      return outcomeOf(await relay.answer(callOf(request)), message, era);
  }
}

function callOf({ caller, identity, message, cancellation, notify, ask }: ReceivedRequest): Call {
  const { era } = caller;
  const logLevel = era === 'modern' ? requestLogLevel(message) : caller.logLevel;
  const client: ClientChannel = {
    notify(note, bytes) {
      if (note.method !== 'notifications/message' || wantsLog(note, era, logLevel)) notify(bytes);
    },
    ask,
  };
  return new Call({ caller, identity, message, cancellation, client, logLevel });
}

function outcomeOf(answered: Answer, message: RequestMessage, era: Era): Outcome {
  const { idText, method } = message;
  switch (answered.kind) {
    case 'relayed': {
      const { reply, requestState, wrapTask } = answered;
      const change = { idText, method, from: reply.era, to: era, requestState, wrapTask };
      const status = era === 'modern' ? relayedStatus(reply) : 200;
      return { pieces: translateReply(reply.message, change), status };
    }
    case 'own':
      return { pieces: buildResultPieces(idText, answered.result), status: 200 };
    case 'refused':
      return refusedCall(answered.refusal, message, era) ?? toRefusalOutcome(idText, era, answered.refusal);
  }
}

/** A tool result that says why the tool was not called. Undefined for a call as a task: its client expects a task. */
function refusedCall(
  what: Refusal,
  { idText, method, params }: RequestMessage,
  era: Era,
): Outcome | undefined {
  const isResult = method === 'tools/call' && findMember(params, 'task') === undefined;
  const result = isResult ? toToolError(what) : undefined;
  return result && { pieces: buildResultPieces(idText, serializeResult(method, era, result)), status: 200 };
}

/** In the legacy era, errors of a request have status 200; in the modern era some have their own HTTP status. */
export function toRefusalOutcome(idText: string | undefined, era: Era, what: Refusal): Outcome {
  const status = era === 'legacy' && idText !== undefined ? 200 : getReportedCodes(what).http;
  return { pieces: [buildErrorMessage(idText, toRpcError(what, era === 'legacy'), era)], status };
}

function done(bytes: Buffer): Outcome {
  return { pieces: [bytes], status: 200 };
}

async function setLogLevel(caller: Caller, message: RequestMessage): Promise<Outcome> {
  const level = readJsonString(message.bytes, findMember(message.params, 'level'));
  if (level === undefined || !LOG_LEVELS.includes(level)) {
    const reason = `it must be one of ${LOG_LEVELS.join(', ')}`;
    return toRefusalOutcome(message.idText, 'legacy', {
      code: 'PARAMS_INVALID',
      field: 'params.level',
      reason,
    });
  }
  const kept = await caller.keep?.({ kind: 'log_level', level });
  if (kept?.ok === false) return toRefusalOutcome(message.idText, 'legacy', kept.error);
  caller.logLevel = level;
  await caller.view.requestLogLevel(level, caller.session);
  return done(buildResultMessage(message.idText, serializeResult(message.method, 'legacy', {})));
}

/** Without a level, a modern client gets no log messages; a legacy client gets all that its servers send. */
export function wantsLog(note: NotificationMessage, era: Era, wanted: string | undefined): boolean {
  if (wanted === undefined) return era === 'legacy';
  return isSevereEnough(readJsonString(note.bytes, findMember(note.params, 'level')), wanted);
}

function requestLogLevel(message: RequestMessage): string | undefined {
  const meta = findMember(message.params, '_meta')?.object;
  return readJsonString(message.bytes, findMember(meta, 'io.modelcontextprotocol/logLevel'));
}

/**
 * The HTTP status of a server's response for a modern client: the one that the server itself would have sent. Servers
 * of either era report an unknown method with the same code (2026-07-28,
 * basic/transports/streamable-http#protocol-version-header). Modern error codes are recognized only from modern servers
 * (basic/index#error-codes).
 */
function relayedStatus({ message, era }: Reply): number {
  if (!message.isError) return 200;
  const code = findMember(findMember(message.root, 'error')?.object, 'code');
  const text = code && readRawValue(message.bytes, code);
  if (text === METHOD_NOT_FOUND) return 404;
  return era === 'modern' && text !== undefined && BAD_REQUESTS.has(text) ? 400 : 200;
}

const METHOD_NOT_FOUND = '-32601';
/** Header mismatch, missing capability, unsupported revision. */
const BAD_REQUESTS: ReadonlySet<string> = new Set(['-32020', '-32021', '-32022']);
