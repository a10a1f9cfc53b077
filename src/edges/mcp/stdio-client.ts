import { LOCAL } from '../../core/subject.ts';
import type { ClientSession } from '../../gateway/client-session.ts';
import type { Offer, Question } from '../../gateway/ports.ts';
import type { Allowance, ResourceWishes } from '../../gateway/resource-wishes.ts';
import type { View } from '../../gateway/view.ts';
import type { NotificationMessage } from '../../protocol/message.ts';
import { wantsLog, type Caller } from './conduct.ts';
import { legacyWishes } from './legacy-wishes.ts';
import { Questions, type Send } from './questions.ts';

export interface StdioClientOptions {
  readonly view: View;
  readonly offer: Offer;
  readonly version: string;
  readonly send: Send;
  readonly allowance: Allowance;
  /** Longest time in ms that it has to answer a question. */
  readonly questionMs: number;
}

/** The legacy client on the other end of the line: its handshake was its only one. */
export class StdioClient implements Caller, ClientSession {
  readonly id = 'stdio';
  readonly era = 'legacy';
  readonly subject: string = LOCAL.subject;
  readonly view: View;
  readonly offer: Offer;
  readonly clientInfo: string | undefined;
  readonly version: string;
  readonly questions: Questions;
  readonly wishes: ResourceWishes;
  logLevel: string | undefined;
  readonly #send: Send;

  constructor({ view, offer, version, send, allowance, questionMs }: StdioClientOptions) {
    this.view = view;
    this.offer = offer;
    this.clientInfo = offer.clientInfo;
    this.version = version;
    this.#send = send;
    this.wishes = legacyWishes({ view, allowance, session: this }, (_, bytes) => void send(bytes));
    this.questions = new Questions({ capabilities: offer.capabilities, limitMs: questionMs });
  }

  get session(): this {
    return this;
  }

  readonly ask = (question: Question): void => this.questions.ask(question, this.#send);

  hear(note: NotificationMessage): void {
    if (note.method !== 'notifications/message' || wantsLog(note, 'legacy', this.logLevel))
      this.#send(note.bytes);
  }
}
