import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '../../core/result.ts';
import { Slots } from '../../core/slots.ts';
import type { Ask, LinkEvents, Log, Reply } from '../../gateway/ports.ts';
import type { Era } from '../../protocol/eras.ts';
import { jsonFault, type Message, type NoMessage } from '../../protocol/message.ts';
import { notificationMessage } from '../../protocol/reply.ts';
import { requestFor } from '../../protocol/translate.ts';
import { answerTo, heard, ownIdOf, progressIdOf, received } from './incoming.ts';
import type { Offer } from './offer.ts';
import { Pending, tooMany } from './pending.ts';

export interface ConversationOptions {
  readonly server: string;
  /** JSON text of Assay's own name and version. */
  readonly ownInfo: string;
  readonly events: LinkEvents;
  readonly log: Log;
  readonly offer: Offer | undefined;
  /** Sends one message, which comes in pieces; `id` is that of the request in it, if it is one. */
  readonly send: (pieces: readonly Buffer[], id: number | undefined) => void;
}

/** JSON-RPC over one pair of streams that all requests share: ids tell which answer belongs to which request. */
export class Conversation {
  /** The era that the server was found to speak; legacy until then. */
  era: Era = 'legacy';
  readonly #options: ConversationOptions;
  readonly #pending = new Slots<Pending>();
  #ending: string | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  ask(ask: Ask, to: Era = this.era): Promise<Result<Reply, Refusal>> {
    if (ask.cancellation?.isCancelled === true) return Promise.resolve(err({ code: 'CANCELLED' }));
    return new Promise((settle) => {
      const { server, ownInfo } = this.#options;
      const pending: Pending = new Pending({
        server,
        ask,
        settle: (result) => {
          if (id !== undefined) this.#pending.delete(id);
          settle(result);
        },
        giveUp: (reason) =>
          this.#send([notificationMessage('notifications/cancelled', { requestId: id, reason })]),
      });
      const id = this.#pending.add(pending);
      if (id === undefined) {
        settle(tooMany(server));
        return;
      }
      if (this.#ending !== undefined) {
        this.#fail(pending, this.#ending);
        return;
      }
      // A server on a line would drop what it cannot parse, and never answer.
      const fault = jsonFault(ask.message);
      if (fault !== undefined) {
        pending.fail({ code: 'MESSAGE_NOT_JSON', reason: fault });
        return;
      }
      const clientInfo = ask.clientInfo ?? ownInfo;
      const { message, era: from, name, trace } = ask;
      this.#send(requestFor(message, { id, from, to, name, clientInfo, trace }), id);
    });
  }

  notify(method: string): void {
    this.#send([notificationMessage(method)]);
  }

  /** Takes one message from the server. */
  receive(bytes: Buffer): void {
    this.hear(received(bytes, this.#options.server, this.#options.log));
  }

  hear(message: Message | NoMessage): void {
    const { server, log, offer } = this.#options;
    if (message.kind === 'none') {
      // What would have been the answer to a request is lost, so whoever waits for it need not wait longer.
      const id = ownIdOf(message.idText);
      if (id !== undefined)
        this.failed(id, `it answered with what is no JSON-RPC response: ${message.reason}`);
    } else if (message.kind === 'response') {
      const pending = this.#pending.get(ownIdOf(message.idText) ?? -1);
      if (pending === undefined) log.debug('server answered a request that nobody waits for', { server });
      else pending.answer(message, this.era);
    } else if (message.kind === 'request') {
      this.#send([answerTo(message, offer)]);
    } else {
      const id = progressIdOf(message);
      if (id === undefined) heard(message, server, this.#options);
      else this.#pending.get(id)?.note(message);
    }
  }

  /** One request could not be sent. */
  failed(id: number, cause: string): void {
    const pending = this.#pending.get(id);
    if (pending !== undefined) this.#fail(pending, cause);
  }

  /** The other side is gone. All that waits is told why; the first cause counts. */
  end(cause: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = cause;
    for (const pending of this.#pending.all()) this.#fail(pending, cause);
    this.#options.events.ended(cause);
  }

  #fail(pending: Pending, cause: string): void {
    pending.fail({ code: 'SERVER_ENDED', server: this.#options.server, cause });
  }

  #send(pieces: readonly Buffer[], id?: number): void {
    if (this.#ending === undefined) this.#options.send(pieces, id);
  }
}
