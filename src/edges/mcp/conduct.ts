import type { Cancellation } from '../../core/cancellation.ts';
import { facesOf, rpcErrorOf } from '../../core/errors.ts';
import { isSevereEnough, LOG_LEVELS } from '../../core/log-levels.ts';
import type { Refusal } from '../../core/refusal.ts';
import { answer } from '../../gateway/relay/answer.ts';
import type { ServerRequestHandler } from '../../gateway/catalog/server-request-router.ts';
import type { ClientSession } from '../../gateway/catalog/client-session.ts';
import type { Reply } from '../../gateway/ports/link.ts';
import type { ClientSubscriptions } from '../../gateway/relay/client-subscriptions.ts';
import type { View } from '../../gateway/catalog/view.ts';
import { type Era, METHODS } from '../../protocol/eras.ts';
import type { NotificationMessage, RequestMessage } from '../../protocol/message.ts';
import type { HeaderLines } from '../../protocol/parameter-values.ts';
import { errorMessage, resultMessage, resultPieces, resultText } from '../../protocol/reply.ts';
import { memberOf, rawOf, textOf } from '../../protocol/spans.ts';
import { replyFor } from '../../protocol/translate.ts';
import { ownFault } from './read-message.ts';
import { discovery } from './self.ts';

/** Who asks: fixed for the life of a legacy session, read from each request in the modern era. */
export interface Caller {
  readonly era: Era;
  readonly view: View;
  /** The name under which it is answerable for what it does. */
  readonly subject: string;
  /** JSON text of the client's name and version, as a legacy client gave it at its handshake. */
  readonly clientInfo: string | undefined;
  /** The revision that a legacy client negotiated. */
  readonly version?: string;
  /** Of a legacy client. */
  readonly session?: ClientSession;
  /** The headers of this one request, which repeat what it says; of a modern client over HTTP. */
  readonly headerLines?: () => HeaderLines;
  /** The least severe level of log messages that the client wants; undefined: what its era has as default. */
  logLevel: string | undefined;
  /** Of whose updates a legacy client is told. */
  readonly subscriptions?: ClientSubscriptions | undefined;
}

/** A response, ready to be sent, and the HTTP status that belongs to it. */
export interface Outcome {
  /** The response in pieces, to be sent one after the other. */
  readonly pieces: readonly Buffer[];
  readonly status: number;
}

interface Conduct {
  readonly caller: Caller;
  readonly message: RequestMessage;
  readonly cancellation: Cancellation;
  /** Sends something to the client that belongs before the response. */
  readonly notify: (bytes: Buffer) => void;
  /** Asks a legacy client something on the stream of this request. */
  readonly ask?: ServerRequestHandler | undefined;
}

/** Leads one request through the gateway and gives the response in the client's own form. */
export async function conduct(conducted: Conduct): Promise<Outcome> {
  const { caller, message, cancellation, notify, ask } = conducted;
  const { era, view } = caller;
  const { method, idText } = message;
  if (METHODS.get(method)?.eras.includes(era) !== true)
    return refusal(idText, era, { code: 'METHOD_UNKNOWN', method });
  // A server refuses for itself what is no JSON after all; what Assay answers itself it must refuse itself.
  const fault = METHODS.get(method)?.isRelayed === true ? undefined : ownFault(message);
  if (fault !== undefined) return refusal(idText, era, fault);
  if (method === 'ping') return done(resultMessage(idText, resultText(method, era, {})));
  if (method === 'server/discover')
    return done(resultMessage(idText, resultText(method, era, discovery(view))));
  if (method === 'logging/setLevel') return setLogLevel(caller, message);
  const logLevel = era === 'modern' ? requestLogLevel(message) : caller.logLevel;
  const answered = await answer({
    view,
    message,
    era,
    version: caller.version,
    subject: caller.subject,
    clientInfo: caller.clientInfo,
    session: caller.session,
    ask,
    logLevel,
    wishes: caller.subscriptions,
    cancellation,
    headerLines: caller.headerLines,
    notify: (note, bytes) => {
      if (note.method !== 'notifications/message' || wantsLog(note, era, logLevel)) notify(bytes);
    },
  });
  switch (answered.kind) {
    case 'relayed': {
      const { reply, requestState, wrapTask } = answered;
      const change = { idText, method, from: reply.era, to: era, requestState, wrapTask };
      return {
        pieces: replyFor(reply.message, change),
        status: era === 'modern' ? relayedStatus(reply) : 200,
      };
    }
    case 'own':
      return { pieces: resultPieces(idText, answered.result), status: 200 };
    case 'refused':
      return refusal(idText, era, answered.refusal);
  }
}

/** In the legacy era errors of a request are answers like others; the modern era gives some of them an HTTP status. */
export function refusal(idText: string | undefined, era: Era, what: Refusal): Outcome {
  const status = era === 'legacy' && idText !== undefined ? 200 : facesOf(what).http;
  return { pieces: [errorMessage(idText, rpcErrorOf(what, era === 'legacy'), era)], status };
}

function done(bytes: Buffer): Outcome {
  return { pieces: [bytes], status: 200 };
}

async function setLogLevel(caller: Caller, message: RequestMessage): Promise<Outcome> {
  const level = textOf(message.bytes, memberOf(message.params, 'level'));
  if (level === undefined || !LOG_LEVELS.includes(level)) {
    const reason = `it must be one of ${LOG_LEVELS.join(', ')}`;
    return refusal(message.idText, 'legacy', { code: 'PARAMS_INVALID', field: 'params.level', reason });
  }
  caller.logLevel = level;
  await caller.view.requestLogLevel(level, caller.session);
  return done(resultMessage(message.idText, resultText(message.method, 'legacy', {})));
}

/** Without a level a modern client gets no log messages, a legacy client whatever its server sends. */
export function wantsLog(note: NotificationMessage, era: Era, wanted: string | undefined): boolean {
  if (wanted === undefined) return era === 'legacy';
  return isSevereEnough(textOf(note.bytes, memberOf(note.params, 'level')), wanted);
}

function requestLogLevel(message: RequestMessage): string | undefined {
  const meta = memberOf(message.params, '_meta')?.object;
  return textOf(message.bytes, memberOf(meta, 'io.modelcontextprotocol/logLevel'));
}

/**
 * The HTTP status of a server's answer for a modern client: the one that this server would have given itself. That a
 * method is not there says any server by the same code (2026-07-28, basic/transports/streamable-http#protocol-version-header);
 * the codes of the modern era mean something from a modern server alone (basic/index#error-codes).
 */
function relayedStatus({ message, era }: Reply): number {
  if (!message.isError) return 200;
  const code = memberOf(memberOf(message.root, 'error')?.object, 'code');
  const text = code && rawOf(message.bytes, code);
  if (text === METHOD_NOT_FOUND) return 404;
  return era === 'modern' && text !== undefined && BAD_REQUESTS.has(text) ? 400 : 200;
}

const METHOD_NOT_FOUND = '-32601';
/** The headers do not fit, a capability is missing, the revision is not spoken. */
const BAD_REQUESTS: ReadonlySet<string> = new Set(['-32020', '-32021', '-32022']);
