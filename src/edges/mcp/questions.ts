import { rpcErrorOf } from '../../core/errors.ts';
import { Slots } from '../../core/slots.ts';
import { refuseQuestion } from '../../gateway/catalog/askers.ts';
import { canBeAsked } from '../../gateway/catalog/link-choice.ts';
import type { Question, QuestionAnswer } from '../../gateway/ports/link.ts';
import type { NotificationMessage, ResponseMessage } from '../../protocol/message.ts';
import { questionFor, QUESTIONS } from '../../protocol/questions.ts';
import { notificationMessage } from '../../protocol/reply.ts';
import { memberOf, rawOf } from '../../protocol/spans.ts';

export interface QuestionsOptions {
  /** JSON text of what the client said that it can do for servers. */
  readonly capabilities: string;
  /** Longest time in ms that the client has to answer. */
  readonly limitMs: number;
}

/** Sends something to the client, and says whether that may arrive. */
export type Send = (bytes: Buffer) => boolean;

interface Open {
  readonly question: Question;
  readonly send: Send;
  readonly timer: NodeJS.Timeout;
}

/** What servers ask one legacy client, by ids of ours. Each question is answered once, whatever becomes of the client. */
export class Questions {
  readonly #options: QuestionsOptions;
  readonly #open = new Slots<Open>();
  #isOver = false;

  constructor(options: QuestionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Asks what the client said that it can answer, and the methods of others, which it knows for itself. */
  ask(question: Question, send: Send): void {
    const { capabilities, limitMs } = this.#options;
    const { method } = question.message;
    if (this.#isOver || (QUESTIONS.has(method) && !canBeAsked(capabilities, method))) {
      refuseQuestion(question);
      return;
    }
    const timer = setTimeout(() => this.#late(id), limitMs).unref();
    const id = this.#open.add({ question, send, timer });
    if (id === undefined) {
      clearTimeout(timer);
      question.answer(UNHEARD);
      return;
    }
    question.onWithdrawn(() => this.#withdraw(id, 'the server wants no answer any more'));
    if (send(questionFor(question.message, id))) return;
    this.#close(id);
    question.answer(UNHEARD);
  }

  /** Takes a response of the client; one to nothing that is open is ignored. */
  hear({ idText, bytes, root, isError }: ResponseMessage): void {
    const open = this.#close(Number(idText));
    const kind = isError ? 'error' : 'result';
    const member = memberOf(root, kind);
    if (member !== undefined) open?.question.answer({ kind, text: rawOf(bytes, member) });
  }

  /** The client tells how far it is with an answer; progress of nothing that is open is ignored. */
  progress(note: NotificationMessage): void {
    const token = memberOf(note.params, 'progressToken');
    if (token !== undefined) this.#open.get(Number(rawOf(note.bytes, token)))?.question.progress(note);
  }

  /** The client is gone. */
  end(): void {
    this.#isOver = true;
    for (const { question, timer } of this.#open.all()) {
      clearTimeout(timer);
      question.onWithdrawn(undefined);
      question.answer(GONE);
    }
  }

  #late(id: number | undefined): void {
    if (id === undefined) return;
    const open = this.#open.get(id);
    this.#withdraw(id, 'the time limit has passed');
    open?.question.answer(LATE);
  }

  #withdraw(id: number, reason: string): void {
    const open = this.#close(id);
    open?.send(notificationMessage('notifications/cancelled', { requestId: id, reason }));
  }

  #close(id: number): Open | undefined {
    const open = this.#open.get(id);
    if (open === undefined) return undefined;
    this.#open.delete(id);
    clearTimeout(open.timer);
    open.question.onWithdrawn(undefined);
    return open;
  }
}

const UNHEARD: QuestionAnswer = unanswered('the client has no stream on which it could be asked');
const GONE: QuestionAnswer = unanswered('the client is gone');
const LATE: QuestionAnswer = unanswered('the client did not answer in time');

function unanswered(reason: string): QuestionAnswer {
  const error = rpcErrorOf({ code: 'CLIENT_SILENT', reason }, true);
  return { kind: 'error', text: JSON.stringify(error) };
}
