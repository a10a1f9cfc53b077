import { rpcErrorOf } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import { Slots } from '../../core/slots.ts';
import { LOCAL } from '../../core/subject.ts';
import type { ClientSession } from './client-session.ts';
import type { ClientProfile, ServerRequest, ServerRequestHandler } from '../ports/link.ts';

/**
 * The calls under way on a link that one client has for itself, and that does not tie questions to calls. Whatever the
 * server asks is for that client; which call carries it is a matter of the way alone.
 */
export class ServerRequestRouter {
  readonly #session: () => ClientSession | undefined;
  readonly #calls = new Slots<ServerRequestHandler>();

  constructor(session: () => ClientSession | undefined) {
    this.#session = session;
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
    const ask = calls.length === 1 || session === undefined ? calls.at(-1) : session.ask;
    if (ask === undefined) refuseServerRequest(serverRequest);
    else ask(serverRequest);
  };
}

/** Tells the server that nobody can answer it. */
export function refuseServerRequest(serverRequest: ServerRequest, what?: Refusal): void {
  const refusal = what ?? { code: 'METHOD_UNKNOWN', method: serverRequest.message.method };
  serverRequest.answer({ kind: 'error', text: JSON.stringify(rpcErrorOf(refusal, true)) });
}

/**
 * A client that can do everything and has nothing. Some servers list tools only to a client that can be asked, so their
 * lists are read in its name; calls never are.
 */
export const EMPTY_CLIENT: ClientProfile = {
  capabilities:
    '{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}',
  clientInfo: undefined,
  subject: LOCAL.subject,
};

/** It has no roots, and answers nothing else. */
export function answerEmpty(serverRequest: ServerRequest): void {
  if (serverRequest.message.method === 'roots/list')
    serverRequest.answer({ kind: 'result', text: '{"roots":[]}' });
  else refuseServerRequest(serverRequest);
}
