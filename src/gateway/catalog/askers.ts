import { rpcErrorOf } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import { Slots } from '../../core/slots.ts';
import { LOCAL } from '../../core/subject.ts';
import type { ClientSession } from './client-session.ts';
import type { Offer, Question } from '../ports/link.ts';

/** Asks the client of one call. */
export type Asker = (question: Question) => void;

/**
 * The calls under way on a link that one client has for itself, and that does not tie questions to calls. Whatever the
 * server asks is for that client; which call carries it is a matter of the way alone.
 */
export class Askers {
  readonly #session: () => ClientSession | undefined;
  readonly #calls = new Slots<Asker>();

  constructor(session: () => ClientSession | undefined) {
    this.#session = session;
  }

  add(asker: Asker): number | undefined {
    return this.#calls.add(asker);
  }

  delete(id: number | undefined): void {
    if (id !== undefined) this.#calls.delete(id);
  }

  readonly asked = (question: Question): void => {
    const session = this.#session();
    const calls = this.#calls.all();
    const ask = calls.length === 1 || session === undefined ? calls.at(-1) : session.ask;
    if (ask === undefined) refuseQuestion(question);
    else ask(question);
  };
}

/** Tells the server that nobody can answer it. */
export function refuseQuestion(question: Question, what?: Refusal): void {
  const refusal = what ?? { code: 'METHOD_UNKNOWN', method: question.message.method };
  question.answer({ kind: 'error', text: JSON.stringify(rpcErrorOf(refusal, true)) });
}

/**
 * A client that can do everything and has nothing. Some servers list tools only to a client that can be asked, so their
 * lists are read in its name; calls never are.
 */
export const EMPTY_CLIENT: Offer = {
  capabilities:
    '{"roots":{"listChanged":true},"sampling":{"tools":{},"context":{}},"elicitation":{"form":{},"url":{}}}',
  clientInfo: undefined,
  subject: LOCAL.subject,
};

/** It has no roots, and answers nothing else. */
export function answerEmpty(question: Question): void {
  if (question.message.method === 'roots/list') question.answer({ kind: 'result', text: '{"roots":[]}' });
  else refuseQuestion(question);
}
