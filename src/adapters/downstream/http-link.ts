import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '../../core/result.ts';
import { Slots } from '../../core/slots.ts';
import type { Ask, Capabilities, Link, LinkEvents, Log, Reply } from '../../gateway/ports.ts';
import { HttpClient, type HttpRequest, type ResponseHeaders } from '../../platform/http-client.ts';
import type { Era } from '../../protocol/eras.ts';
import * as headers from '../../protocol/headers.ts';
import {
  readResponsePieces,
  type Message,
  type NoMessage,
  type NotificationMessage,
  type RequestMessage,
} from '../../protocol/message.ts';
import { notificationMessage } from '../../protocol/reply.ts';
import { requestFor } from '../../protocol/translate.ts';
import { Asides } from './asides.ts';
import { endSession } from './end-session.ts';
import type { Facts } from './handshake.ts';
import { exchangeHttp, isSuccess, statusCause, type HttpEnd } from './http-exchange.ts';
import { answerTo, heard, ownIdOf, progressIdOf } from './incoming.ts';
import { listenLegacy, resumption } from './legacy-listening.ts';
import { listen } from './listening.ts';
import { modernHeaders } from './modern-headers.ts';
import type { Offer } from './offer.ts';
import { Pending, tooMany } from './pending.ts';
import { exchangeResumably, NOT_BEGUN } from './resuming.ts';

export interface HttpLinkOptions {
  readonly server: string;
  readonly url: URL;
  /** Headers that the config gives to each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly events: LinkEvents;
  readonly log: Log;
  readonly ownInfo: string;
  readonly offer: Offer | undefined;
}

/** A request whose exchange is under way. */
interface Open {
  readonly id: number;
  readonly pending: Pending;
  readonly era: Era;
}

const SESSION_OVER = 'its session is over (HTTP 404)';
const NO_FACTS: Facts = { era: 'legacy', version: '', capabilities: {}, instructions: undefined };
/** Most messages beside requests that are on their way at a time. */
const MOST_POSTS = 1_024;

/** Streamable HTTP towards a server of either era: a request, and its answer on the same exchange. */
export class HttpLink implements Link {
  readonly #options: HttpLinkOptions;
  readonly #client: HttpClient;
  readonly #path: string;
  readonly #fixedHeaders: readonly string[];
  readonly #closing = new AbortController();
  readonly #open = new Slots<Pending>();
  #facts: Facts = NO_FACTS;
  #session: string | undefined;
  #ending: string | undefined;
  #isClosing = false;
  #posts = 0;
  readonly #asides: Asides;
  readonly untakenBytes = 0;

  constructor(options: HttpLinkOptions) {
    this.#options = options;
    this.#asides = new Asides({ ...options, isTaken: () => this.#posts < MOST_POSTS });
    this.#client = new HttpClient(options.url.origin);
    this.#path = options.url.pathname + options.url.search;
    this.#fixedHeaders = [
      ...Object.entries(options.headers).flat(),
      'content-type',
      'application/json',
      'accept',
      'application/json, text/event-stream',
    ];
  }

  get era(): Era {
    return this.#facts.era;
  }
  get version(): string {
    return this.#facts.version;
  }
  get capabilities(): Capabilities {
    return this.#facts.capabilities;
  }
  get instructions(): string | undefined {
    return this.#facts.instructions;
  }
  get hasHeaders(): boolean {
    return this.#facts.era === 'modern';
  }

  /** The handshake is done. From here on the server's own messages are heard. */
  begin(facts: Facts): void {
    this.#facts = facts;
    if (facts.era === 'modern') {
      const { events } = this.#options;
      void listen({ facts, events, signal: this.#closing.signal, ask: (ask) => this.ask(ask) });
    } else {
      this.#post(notificationMessage('notifications/initialized'));
      this.#listenLegacy();
    }
  }

  ask(ask: Ask, to: Era = this.#facts.era): Promise<Result<Reply, Refusal>> {
    if (ask.cancellation?.isCancelled === true) return Promise.resolve(err({ code: 'CANCELLED' }));
    return new Promise((settle) => {
      const { server, ownInfo, log } = this.#options;
      let exchange = NOT_BEGUN;
      const pending: Pending = new Pending({
        server,
        ask,
        settle: (result) => {
          if (id !== undefined) this.#open.delete(id);
          exchange.rest();
          settle(result);
          if (this.#isClosing && this.#open.size === 0) void this.#client.close();
        },
        giveUp: (reason) => {
          // In the legacy era a closed connection cancels nothing (2025-11-25, basic/transports#sending-messages-to-the-server).
          if (to === 'legacy')
            this.#post(notificationMessage('notifications/cancelled', { requestId: id, reason }));
          exchange.abort();
        },
      });
      const id = this.#open.add(pending);
      if (id === undefined) {
        settle(tooMany(server));
        return;
      }
      if (this.#ending !== undefined) {
        pending.fail({ code: 'SERVER_UNREACHED', server, cause: this.#ending });
        return;
      }
      const { message, name, era: from, clientInfo = ownInfo, trace } = ask;
      const body = requestFor(message, { id, from, to, name, clientInfo, trace });
      exchange = exchangeResumably({
        client: this.#client,
        request: this.#request(body, to === 'modern' ? modernHeaders(ask) : this.#legacyHeaders()),
        isOver: () => pending.isOver,
        ...(to === 'legacy' && { resume: (lastId) => resumption(this.#listening(), lastId) }),
        onLost: (end) => this.#lost(end),
        isStream: message.method === 'subscriptions/listen',
        endsWithResponse: true,
        server,
        log,
        onMessage: (received) => this.#heard(received, { id, pending, era: to }),
        ...(ask.isRelayed &&
          from === to && { onPieces: (pieces) => this.#heardPieces(pieces, { id, pending, era: to }) }),
        onStart: (status, given) => this.#started(status, given, { message, pending }),
        onEnd: (end) => this.#over(end, pending),
      });
    });
  }

  #started(
    status: number,
    given: ResponseHeaders,
    { message, pending }: { readonly message: RequestMessage; readonly pending: Pending },
  ): void {
    const { server } = this.#options;
    // The session is over, so whatever else the answer says, the request was not carried out.
    if (status === 404 && this.#session !== undefined) {
      pending.fail({ code: 'SERVER_UNREACHED', server, cause: SESSION_OVER });
      this.#end(SESSION_OVER);
      return;
    }
    const session = given[headers.SESSION_ID];
    if (message.method === 'initialize' && isSuccess(status) && typeof session === 'string')
      this.#session = session;
  }

  async close(cause: string): Promise<void> {
    this.#closing.abort();
    this.#isClosing = true;
    if (this.#ending === undefined) {
      this.#end(cause);
      const { server } = this.#options;
      for (const pending of this.#open.all()) pending.fail({ code: 'SERVER_ENDED', server, cause: cause });
      // A server may refuse to end sessions, or be gone: nothing depends on the answer.
      const request = { ...this.#request(undefined, this.#legacyHeaders()), method: 'DELETE' } as const;
      if (this.#session !== undefined) await endSession({ ...this.#options, client: this.#client, request });
    }
    // Requests of a session that is over end by themselves, each with what its server says to it.
    if (this.#open.size === 0) await this.#client.close();
  }

  /** Nothing but the id of the response changes on its way to this client, so it need not be read whole. */
  #heardPieces(pieces: readonly Buffer[], open: Open): boolean {
    const message = readResponsePieces(pieces);
    if (message === undefined) return false;
    this.#heard(message, open);
    return true;
  }

  #heard(message: Message | NoMessage, { id: expected, pending, era }: Open): void {
    const { server, log } = this.#options;
    if (message.kind === 'none') {
      const cause = `it answered with what is no JSON-RPC response: ${message.reason}`;
      pending.fail({ code: 'SERVER_ENDED', server, cause });
    } else if (message.kind === 'response') {
      if (message.idText === undefined || ownIdOf(message.idText) === expected) pending.answer(message, era);
      else log.warn('server answered another request than it was asked; that is ignored', { server });
    } else if (message.kind === 'request') {
      // In the modern era a server requests nothing, and clients send no responses (2026-07-28, streamable-http).
      if (era === 'legacy') this.#post(answerTo(message, this.#options.offer));
    } else if (message.method === 'notifications/message') pending.note(message);
    else this.#note(message);
  }

  /** Progress goes to the request whose id is its token, on whichever stream it comes. */
  #note(message: NotificationMessage): void {
    const { server, log, events } = this.#options;
    const id = progressIdOf(message);
    if (id === undefined) heard(message, server, { events, log });
    else this.#open.get(id)?.note(message);
  }

  #over(end: HttpEnd, pending: Pending): void {
    const { server } = this.#options;
    if (end.kind === 'unreached') {
      pending.fail({ code: 'SERVER_UNREACHED', server, cause: end.cause });
      this.#end(end.cause);
    } else if (end.kind === 'broken') pending.fail({ code: 'SERVER_ENDED', server, cause: end.cause });
    else if (isSuccess(end.status)) pending.fail({ code: 'SERVER_ENDED', server, cause: statusCause(end) });
    else
      pending.fail({ code: 'SERVER_UNAVAILABLE', server, cause: statusCause(end), httpStatus: end.status });
  }

  #listenLegacy(): void {
    const { server, log } = this.#options;
    void listenLegacy({
      client: this.#client,
      request: this.#listening(),
      server,
      log,
      signal: this.#closing.signal,
      onMessage: (message) => {
        if (message.kind === 'request') this.#post(answerTo(message, this.#options.offer));
        else if (message.kind === 'notification') this.#note(message);
      },
      onEnd: (end) => this.#lost(end),
    });
  }

  /** A stream that belongs to the session has ended, which may say that nothing more comes of the session. */
  #lost(end: HttpEnd): void {
    if (end.kind === 'unreached') this.#end(end.cause);
    if (end.kind === 'answered' && end.status === 404 && this.#session !== undefined) this.#end(SESSION_OVER);
  }

  #listening(): HttpRequest {
    return { ...this.#request(undefined, this.#legacyHeaders()), method: 'GET' };
  }

  /** Sends what needs no answer: a notification or a response. */
  #post(body: Buffer): void {
    const { server, log } = this.#options;
    if (!this.#asides.mayGo()) return;
    this.#posts += 1;
    exchangeHttp({
      client: this.#client,
      request: this.#request([body], this.#legacyHeaders()),
      isStream: false,
      endsWithResponse: true,
      server,
      log,
      onMessage: () => undefined,
      onEnd: (end) => {
        this.#posts -= 1;
        if (end.kind !== 'answered') log.debug('a notification did not arrive', { server, cause: end.cause });
      },
    });
  }

  #request(body: readonly Buffer[] | undefined, extra: readonly string[]): HttpRequest {
    return { method: 'POST', path: this.#path, headers: this.#headers(extra), body };
  }

  #headers(extra: readonly string[]): readonly string[] {
    return this.#fixedHeaders.concat(extra);
  }

  #legacyHeaders(): readonly string[] {
    const session = this.#session === undefined ? [] : [headers.SESSION_ID, this.#session];
    return this.#facts.version === '' ? session : [headers.PROTOCOL_VERSION, this.#facts.version, ...session];
  }

  /** The link is of no use any more, whatever becomes of the requests that are open. */
  #end(cause: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = cause;
    this.#options.events.ended(cause);
  }
}
