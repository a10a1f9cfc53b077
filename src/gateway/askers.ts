import { rpcErrorOf } from '../core/errors.ts';
import type { Refusal } from '../core/refusal.ts';
import { Slots } from '../core/slots.ts';
import type { ClientSession } from './client-session.ts';
import type { Question } from './ports.ts';

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
