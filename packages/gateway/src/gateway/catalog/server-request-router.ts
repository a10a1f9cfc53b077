import { toRpcError } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { FindStop } from '../../core/stops.ts';
import { Slots } from '../../core/slots.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { ClientSession } from './client-session.ts';
import type { ClientProfile, ServerRequest, ServerRequestHandler } from '../ports/link.ts';

/**
 * Calls in progress on a link that serves only one client and does not tie server requests to calls. Any of these calls
 * may carry a server request, because all are from that client.
 */
export class ServerRequestRouter {
  readonly #session: () => ClientSession | undefined;
  readonly #refusesAmbiguity: boolean;
  readonly #calls = new Slots<ServerRequestHandler>();

  /** `refusesAmbiguity`: instances of its client may share the link, so a request that could be of several calls is refused. */
  constructor(session: () => ClientSession | undefined, refusesAmbiguity = false) {
    this.#session = session;
    this.#refusesAmbiguity = refusesAmbiguity;
  }

  add(handler: ServerRequestHandler): number | undefined {
    return this.#calls.add(handler);
  }

  delete(id: number | undefined): void {
    if (id !== undefined) this.#calls.delete(id);
  }

  readonly handle = (serverRequest: ServerRequest): void => {
    const session = this.#session();
    const calls = this.#calls.all();
    if (this.#refusesAmbiguity && calls.length > 1) {
      refuseServerRequest(serverRequest, SEVERAL_CALLS);
      return;
    }
    const ask = calls.length === 1 || session === undefined ? calls.at(-1) : session.ask;
    if (ask === undefined) refuseServerRequest(serverRequest);
    else ask(serverRequest);
  };
}

const SEVERAL_CALLS: Refusal = {
  code: 'CLIENT_SILENT',
  reason: 'several of its calls are in progress, and nothing says to which one the request belongs',
};

/** What an operator has stopped, as it is now. */
export interface StopSource {
  readonly findStop?: FindStop | undefined;
}

/** Refuses the requests of a stopped server, and the answers to those it had made before it was stopped. */
export function refuseIfStopped(
  server: string,
  source: StopSource | undefined,
  handle: ServerRequestHandler,
): ServerRequestHandler {
  const refuse = (serverRequest: ServerRequest): boolean => {
    const stop = source?.findStop?.(server);
    if (stop !== undefined) refuseServerRequest(serverRequest, { code: 'CALL_STOPPED', stop });
    return stop !== undefined;
  };
  return (serverRequest) => {
    if (refuse(serverRequest)) return;
    handle({
      message: serverRequest.message,
      answer: (answer) => {
        if (!refuse(serverRequest)) serverRequest.answer(answer);
      },
      progress: (note) => {
        if (source?.findStop?.(server) === undefined) serverRequest.progress(note);
      },
      onWithdrawn: (listener) => serverRequest.onWithdrawn(listener),
    });
  };
}

/** Answers a server request with an error, by default METHOD_UNKNOWN. */
export function refuseServerRequest(serverRequest: ServerRequest, what?: Refusal): void {
  const refusal = what ?? { code: 'METHOD_UNKNOWN', method: serverRequest.message.method };
  serverRequest.answer({ kind: 'error', text: JSON.stringify(toRpcError(refusal, true)) });
}

/**
 * A client that declares all capabilities but offers nothing. Some servers list tools only for a capable client, so
 * lists are read on its behalf; calls never are.
 */
export const EMPTY_CLIENT: ClientProfile = {
  capabilities:
    '{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}',
  clientInfo: undefined,
  subject: LOCAL_USER.subject,
};

/** Answers `roots/list` with an empty list, and refuses everything else. */
export function answerEmpty(serverRequest: ServerRequest): void {
  if (serverRequest.message.method === 'roots/list')
    serverRequest.answer({ kind: 'result', text: '{"roots":[]}' });
  else refuseServerRequest(serverRequest);
}
