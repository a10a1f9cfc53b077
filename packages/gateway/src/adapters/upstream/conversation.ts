import type { Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import { Slots } from '../../core/slots.ts';
import type { UpstreamRequest, LinkEvents, Reply } from '../../gateway/ports/link.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Era } from '@assay-mcp/protocol/eras';
import { findJsonFault, type Message, type NoMessage } from '@assay-mcp/protocol/message';
import { buildNotification } from '@assay-mcp/protocol/reply';
import { translateRequest } from '@assay-mcp/protocol/translate';
import {
  buildInvalidReply,
  handleNotification,
  parseOwnId,
  receive,
  toMessageRefusal,
  findRequestId,
} from './incoming.ts';
import { Pending, refuseTooMany } from './pending.ts';
import { OpenServerRequests } from './open-server-requests.ts';

export interface ConversationOptions {
  readonly server: string;
  /** JSON text of Assay's own name and version. */
  readonly ownInfo: string;
  readonly events: LinkEvents;
  readonly log: Log;
  /** Sends one message, given in pieces. `id` is its request id, if it is a request. */
  readonly send: (pieces: readonly Buffer[], id: number | undefined) => void;
}

/** JSON-RPC over one pair of streams shared by all requests; ids match answers to requests. */
export class Conversation {
  /** The era detected for the server; legacy until then. */
  era: Era = 'legacy';
  readonly #options: ConversationOptions;
  readonly #pending = new Slots<Pending>();
  readonly #serverRequests = new OpenServerRequests();
  #ending: Cause | undefined;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  get hasEnded(): boolean {
    return this.#ending !== undefined;
  }

  ask(request: UpstreamRequest, to: Era = this.era): Promise<Result<Reply, Refusal>> {
    if (request.cancellation?.isCancelled === true) return Promise.resolve(err({ code: 'CANCELLED' }));
    return new Promise((settle) => {
      const { server, ownInfo } = this.#options;
      const pending: Pending = new Pending({
        server,
        request,
        settle: (result) => {
          if (id !== undefined) this.#pending.delete(id);
          settle(result);
        },
        isAsking: () => this.#serverRequests.size > 0,
        giveUp: (reason) =>
          this.#send([buildNotification('notifications/cancelled', { requestId: id, reason })]),
      });
      const id = this.#pending.add(pending);
      if (id === undefined) {
        settle(refuseTooMany(server));
        return;
      }
      if (this.#ending !== undefined) {
        pending.fail({ code: 'SERVER_UNREACHED', server, cause: this.#ending });
        return;
      }
      // A stdio server would drop a line it cannot parse and never answer.
      const fault = findJsonFault(request.message);
      if (fault !== undefined) {
        pending.fail({ code: 'MESSAGE_NOT_JSON', reason: fault });
        return;
      }
      this.#send(translateRequest(request.message, request, { id, to, ownInfo }), id);
    });
  }

  say(note: Buffer): void {
    this.#send([note]);
  }

  /** Takes one message from the server. A large one takes several turns of the event loop. */
  receive(bytes: Buffer): Promise<void> | undefined {
    return receive(bytes, this.#options, (message) => this.handle(message));
  }

  handle(message: Message | NoMessage): void {
    const { server, log, events } = this.#options;
    if (message.kind === 'none') {
      const refused = buildInvalidReply(message);
      if (refused !== undefined) this.#send([refused]);
      // An invalid response is lost, so fail the request now instead of letting it time out.
      else if (!message.isRequest)
        this.#pending.get(parseOwnId(message.idText) ?? -1)?.fail(toMessageRefusal(message, server));
    } else if (message.kind === 'response') {
      const pending = this.#pending.get(parseOwnId(message.idText) ?? -1);
      if (pending === undefined) log.debug('server answered a request that is no longer pending', { server });
      else pending.answer(message, this.era);
    } else if (message.kind === 'request') {
      this.#serverRequests.take(message, {
        to: events.requested,
        send: (bytes) => this.#send([bytes]),
        onOver: () => this.#pending.all().forEach((pending) => pending.refresh()),
      });
    } else if (!this.#serverRequests.cancelled(message)) {
      const id = findRequestId(message);
      if (id === undefined) handleNotification(message, server, this.#options);
      else this.#pending.get(id)?.note(message);
    }
  }

  /** Fails one request that could not be sent. */
  failed(id: number, cause: Cause): void {
    const pending = this.#pending.get(id);
    if (pending !== undefined) this.#fail(pending, cause);
  }

  /** The connection is gone. Fails everything pending with the cause; only the first cause counts. */
  end(cause: Cause): void {
    if (this.#ending !== undefined) return;
    this.#ending = cause;
    for (const pending of this.#pending.all()) this.#fail(pending, cause);
    this.#serverRequests.end();
    this.#options.events.ended(cause);
  }

  #fail(pending: Pending, cause: Cause): void {
    pending.fail({ code: 'SERVER_ENDED', server: this.#options.server, cause });
  }

  #send(pieces: readonly Buffer[], id?: number): void {
    if (this.#ending === undefined) this.#options.send(pieces, id);
  }
}
