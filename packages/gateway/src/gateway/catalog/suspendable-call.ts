import { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { NotificationMessage, RequestMessage } from '@assay-mcp/protocol/message';
import { findProgressToken, setProgressToken } from '@assay-mcp/protocol/translate';
import { refuseServerRequest } from './server-request-router.ts';
import { acceptsServerRequests, readCapabilities } from './link-choice.ts';
import type { ServerRequest, Reply } from '../ports/link.ts';

/** The client request that currently waits for a call. */
export interface Waiting {
  readonly message: RequestMessage;
  notify(note: NotificationMessage, bytes: Buffer): void;
}

/** The progress of a call: answered, or waiting for server requests to be answered. */
export type Step =
  { readonly kind: 'replied'; readonly reply: Result<Reply, Refusal> } | { readonly kind: 'asks' };

/**
 * A call to a legacy server during which a modern client can be asked. It outlives the request that began it, and
 * continues when the client returns with answers. The owner ends it.
 */
export class SuspendableCall {
  /** Cancels the call itself. A request's cancellation counts only while the request waits. */
  readonly cancellation: Cancellation = new Cancellation();
  readonly #serverRequests = new Map<string, ServerRequest>();
  #asked = 0;
  #waiting: Waiting | undefined;
  /** Capabilities of the client that waits, or waited last. */
  #capabilities = '{}';
  #done: Promise<Step> | undefined;
  #wake: (() => void) | undefined;

  start(run: Promise<Result<Reply, Refusal>>): void {
    this.#done = run.then((reply) => ({ kind: 'replied', reply }));
    // The next step may be awaited only later.
    this.#done.catch(() => undefined);
  }

  /** The pending server requests, by Assay's own keys. */
  get serverRequests(): readonly { readonly key: string; readonly message: ServerRequest['message'] }[] {
    return [...this.#serverRequests].map(([key, { message }]) => ({ key, message }));
  }

  /**
   * Waits on behalf of a request until the call is answered or the server makes requests. Cancels the call if the
   * client goes away meanwhile.
   */
  step(waiting: Waiting, cancellation: Cancellation): Promise<Step> {
    this.#waiting = waiting;
    this.#capabilities = readCapabilities(waiting.message);
    const cancel = (): void => this.cancellation.cancel(cancellation.reason);
    const leave = (): void => {
      cancellation.removeListener(cancel);
      if (this.#waiting !== waiting) return;
      this.#wake = undefined;
      this.#waiting = undefined;
    };
    return new Promise((resolve) => {
      const reach = (step: Step): void => {
        leave();
        resolve(step);
      };
      // Server requests sent together arrive together: one turn of the event loop collects them.
      this.#wake = () => setImmediate(reach, { kind: 'asks' });
      if (this.#serverRequests.size > 0) this.#wake();
      if (cancellation.isCancelled) cancel();
      else cancellation.addListener(cancel);
      const done = this.#done;
      done?.then(reach, () => {
        leave();
        resolve(done); // rejects with the same error
      });
    });
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
    const token = findProgressToken(waiting.message);
    if (note.method !== 'notifications/progress') waiting.notify(note, bytes);
    else if (token !== undefined) waiting.notify(note, setProgressToken(note, token));
  };

  /** Passes the client's answers to the server, as JSON text by key. Missing ones are asked for again. */
  answer(responses: ReadonlyMap<string, string>): void {
    for (const [key, serverRequest] of this.#serverRequests) {
      const text = responses.get(key);
      if (text === undefined) continue;
      this.#serverRequests.delete(key);
      serverRequest.answer({ kind: 'result', text });
    }
  }

  /** Refuses all pending server requests. */
  refuse(refusal: Refusal): void {
    for (const serverRequest of this.#serverRequests.values()) refuseServerRequest(serverRequest, refusal);
    this.#serverRequests.clear();
  }

  end(reason: string): void {
    this.cancellation.cancel(reason);
  }

  /** Resolves when the server has answered or was told of the cancellation. */
  async over(): Promise<void> {
    await this.#done?.catch(() => undefined);
  }
}
