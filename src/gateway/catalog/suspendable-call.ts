import { Cancellation } from '../../core/cancellation.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { NotificationMessage, RequestMessage } from '../../protocol/message.ts';
import { progressTokenOf, withProgressToken } from '../../protocol/translate.ts';
import { refuseServerRequest } from './server-request-router.ts';
import { acceptsServerRequests, capabilitiesIn } from './link-choice.ts';
import type { ServerRequest, Reply } from '../ports/link.ts';

/** The request of a client that waits for a call at the moment. */
export interface Waiting {
  readonly message: RequestMessage;
  notify(note: NotificationMessage, bytes: Buffer): void;
}

/** How far a call has come: it is answered, or its server asks. */
export type Step =
  { readonly kind: 'replied'; readonly reply: Result<Reply, Refusal> } | { readonly kind: 'asks' };

/**
 * A call to a legacy server in whose course a modern client can be asked: it outlives the request that began it, and goes
 * on when the client comes again with answers. Whoever holds it ends it.
 */
export class SuspendableCall {
  /** Of the call itself; that of a request counts only while the request waits. */
  readonly cancellation: Cancellation = new Cancellation();
  readonly #serverRequests = new Map<string, ServerRequest>();
  #asked = 0;
  #waiting: Waiting | undefined;
  /** Of the client that waits, or waited last. */
  #capabilities = '{}';
  #done: Promise<Step> | undefined;
  #wake: (() => void) | undefined;

  start(run: Promise<Result<Reply, Refusal>>): void {
    this.#done = run.then((reply) => ({ kind: 'replied', reply }));
    // Somebody may ask for the next step only later.
    this.#done.catch(() => undefined);
  }

  /** The requests that the server waits for, by keys of ours. */
  get serverRequests(): readonly { readonly key: string; readonly message: ServerRequest['message'] }[] {
    return [...this.#serverRequests].map(([key, { message }]) => ({ key, message }));
  }

  /** Waits in the name of a request until the call is answered or its server asks. A client that goes away meanwhile cancels it. */
  async step(waiting: Waiting, cancellation: Cancellation): Promise<Step> {
    this.#waiting = waiting;
    this.#capabilities = capabilitiesIn(waiting.message);
    const asks = new Promise<Step>((resolve) => {
      // What a server asks at one time arrives together: one turn of the event loop gathers it.
      this.#wake = () => setImmediate(() => resolve({ kind: 'asks' }));
    });
    if (this.#serverRequests.size > 0) this.#wake?.();
    try {
      const reached = Promise.race([this.#done ?? asks, asks]);
      return await cancellation.during(() => this.cancellation.cancel(cancellation.reason), reached);
    } finally {
      this.#wake = undefined;
      this.#waiting = undefined;
    }
  }

  readonly take = (serverRequest: ServerRequest): void => {
    const { method } = serverRequest.message;
    if (!acceptsServerRequests(this.#capabilities, method)) {
      refuseServerRequest(serverRequest);
      return;
    }
    const key = String((this.#asked += 1));
    this.#serverRequests.set(key, serverRequest);
    serverRequest.onWithdrawn(() => this.#serverRequests.delete(key));
    this.#wake?.();
  };

  readonly notify = (note: NotificationMessage, bytes: Buffer): void => {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    const token = progressTokenOf(waiting.message);
    if (note.method !== 'notifications/progress') waiting.notify(note, bytes);
    else if (token !== undefined) waiting.notify(note, withProgressToken(note, token));
  };

  /** Hands the server what the client answered, as JSON text by key; what is missing is asked for again. */
  answer(responses: ReadonlyMap<string, string>): void {
    for (const [key, serverRequest] of this.#serverRequests) {
      const text = responses.get(key);
      if (text === undefined) continue;
      this.#serverRequests.delete(key);
      serverRequest.answer({ kind: 'result', text });
    }
  }

  /** The server is told that nobody answers. */
  refuse(refusal: Refusal): void {
    for (const serverRequest of this.#serverRequests.values()) refuseServerRequest(serverRequest, refusal);
    this.#serverRequests.clear();
  }

  end(reason: string): void {
    this.cancellation.cancel(reason);
  }

  /** Resolves when the server has answered, or was told that nobody waits. */
  async over(): Promise<void> {
    await this.#done?.catch(() => undefined);
  }
}
