import type { Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import { Slots } from '../../core/slots.ts';
import type { UpstreamRequest, Capabilities, Link, Reply, ResourceStream } from '../../gateway/ports/link.ts';
import { waitAtMost } from '@assay-mcp/kit/platform/pause';
import { HttpClient, type HttpRequest, type ResponseHeaders } from '@assay-mcp/kit/platform/http-client';
import type { Era } from '@assay-mcp/protocol/eras';
import * as headers from '@assay-mcp/protocol/headers';
import type { Message, NoMessage, NotificationMessage, RequestMessage } from '@assay-mcp/protocol/message';
import { buildNotification } from '@assay-mcp/protocol/reply';
import { translateRequest } from '@assay-mcp/protocol/translate';
import type { Facts } from './handshake.ts';
import {
  type HttpLinkOptions,
  HttpPosts,
  findLastCause,
  buildModernHeaders,
  toEndRefusal,
} from './http-posts.ts';
import {
  buildInvalidReply,
  handleNotification,
  IS_OF_LINK,
  isId,
  toMessageRefusal,
  findRequestId,
} from './incoming.ts';
import { exchangeAuthorized } from './authorized-exchange.ts';
import { isSuccess, type HttpEnd, type HttpExchangeOptions } from './http-exchange.ts';
import { listenLegacy, buildResumption } from './legacy-listening.ts';
import { Listening } from './listening.ts';
import { Pending, refuseTooMany } from './pending.ts';
import { OpenServerRequests } from './open-server-requests.ts';
import { findSessionFault, toSessionRefusal } from './session-fault.ts';
import { exchangeResumably, NOT_BEGUN, type ResumableOptions } from './resuming.ts';

/** A request whose exchange is in progress. */
interface Open {
  readonly id: number;
  readonly pending: Pending;
  readonly era: Era;
  /** Of the last response head. */
  status: number;
}

const SESSION_OVER: Cause = { code: 'SESSION_EXPIRED' };
const NO_FACTS: Facts = { era: 'legacy', version: '', capabilities: {}, instructions: undefined };
const DELETE_LIMIT_MS = 1_000;
/** No heartbeat in use is so slow that a delay of this many ms is usual. */
const MIN_SILENCE_MS = 30_000;

/** Streamable HTTP to a server of either era; each request is answered on its own exchange. */
export class HttpLink implements Link {
  readonly #options: HttpLinkOptions;
  readonly #client: HttpClient;
  /** Options shared by all exchanges. */
  readonly #common: Pick<HttpExchangeOptions, 'client' | 'server' | 'log' | 'endsWithResponse'>;
  readonly #path: string;
  readonly #fixedHeaders: readonly string[];
  readonly #minSilenceMs: number;
  readonly #closing = new AbortController();
  readonly #open = new Slots<Pending>();
  readonly #serverRequests = new OpenServerRequests();
  #facts: Facts = NO_FACTS;
  #session: string | undefined;
  #ending: Cause | undefined;
  #isClosing = false;
  readonly #posts: HttpPosts;
  #listening: Listening | undefined;
  listening: Promise<unknown> | undefined;
  readonly unreadBytes = 0;
  readonly correlatesServerRequests = true;

  constructor(options: HttpLinkOptions) {
    this.#options = options;
    this.#minSilenceMs = options.minSilenceMs ?? MIN_SILENCE_MS;
    this.#client = new HttpClient(options.url.origin, options.reach);
    const { server, log } = options;
    this.#common = { client: this.#client, server, log, endsWithResponse: true };
    this.#path = options.url.pathname + options.url.search;
    this.#posts = new HttpPosts({
      ...options,
      exchange: (one) => this.#send({ ...this.#common, ...one }),
      request: (method, body) => ({
        method,
        path: this.#path,
        headers: this.#headers(this.#legacyHeaders()),
        body: body && [body],
      }),
    });
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

  get resources(): ResourceStream | undefined {
    return this.#listening;
  }

  /** Called when the handshake is done. Starts listening to the server's own messages. */
  begin(facts: Facts): void {
    this.#facts = facts;
    if (facts.era === 'modern') {
      const { signal } = this.#closing;
      this.#listening = new Listening({
        ...this.#options,
        facts,
        signal,
        ask: (request) => this.send(request),
      });
    } else {
      this.#posts.post(buildNotification('notifications/initialized'));
      this.#listenLegacy();
    }
  }

  send(request: UpstreamRequest, to: Era = this.#facts.era): Promise<Result<Reply, Refusal>> {
    if (request.cancellation?.isCancelled === true) return Promise.resolve(err({ code: 'CANCELLED' }));
    return new Promise((settle) => {
      const { server, ownInfo } = this.#options;
      let exchange = NOT_BEGUN;
      const pending: Pending = new Pending({
        server,
        request,
        settle: (result) => {
          if (id !== undefined) this.#open.delete(id);
          exchange.rest();
          settle(result);
          if (this.#isClosing && this.#open.size === 0) void this.#client.close();
        },
        giveUp: (reason) => {
          // In the legacy era, closing the connection does not cancel
          // (2025-11-25, basic/transports#sending-messages-to-the-server).
          if (to === 'legacy')
            this.#posts.post(buildNotification('notifications/cancelled', { requestId: id, reason }));
          exchange.abort();
        },
      });
      const id = this.#open.add(pending);
      if (id === undefined) {
        settle(refuseTooMany(server));
        return;
      }
      if (this.#ending !== undefined) {
        pending.fail({ code: 'SERVER_UNREACHED', server, cause: this.#ending });
        return;
      }
      const { message } = request;
      const body = translateRequest(message, request, { id, to, ownInfo });
      const own = to === 'modern' ? buildModernHeaders(request) : this.#legacyHeaders();
      const { client, log, endsWithResponse } = this.#common;
      const open: Open = { id, pending, era: to, status: 0 };
      // Member by member, as this runs for each call.
      const options: ResumableOptions = {
        client,
        server,
        log,
        endsWithResponse,
        request: this.#request(body, own),
        isOver: () => pending.isOver,
        resume: to === 'legacy' ? (lastId) => buildResumption(this.#listenRequest(), lastId) : undefined,
        onLost: (end) => this.#lost(end),
        isStream: pending.isStream,
        minSilenceMs: pending.isStream ? this.#minSilenceMs : undefined,
        onMessage: (received) => this.#handleMessage(received, open),
        onStart: (status, given) => {
          open.status = status;
          this.#started(status, given, { message, pending });
        },
        onEnd: (end) => this.#over(end, pending),
      };
      exchange = exchangeResumably(options, this.#send);
    });
  }

  #started(
    status: number,
    given: ResponseHeaders,
    { message, pending }: { readonly message: RequestMessage; readonly pending: Pending },
  ): void {
    const { server } = this.#options;
    // The session has expired, so the request was not executed, whatever else the answer contains.
    if (status === 404 && this.#session !== undefined) {
      pending.fail({ code: 'SERVER_UNREACHED', server, cause: SESSION_OVER });
      this.#end(SESSION_OVER);
      return;
    }
    const session = given[headers.SESSION_ID];
    if (message.method === 'initialize' && isSuccess(status) && typeof session === 'string')
      this.#session = session;
  }

  async close(cause: Cause): Promise<void> {
    this.#closing.abort();
    this.#isClosing = true;
    if (this.#ending === undefined) {
      this.#end(cause);
      const { server } = this.#options;
      for (const pending of this.#open.all()) pending.fail({ code: 'SERVER_ENDED', server, cause });
      // Ignore the answer: a server may refuse to end sessions, or be gone.
      if (this.#session !== undefined) await waitAtMost(this.#posts.delete(), DELETE_LIMIT_MS);
    }
    // Open requests of an expired session end by themselves, each with its server's own answer.
    if (this.#open.size === 0) await this.#client.close();
  }

  #handleMessage(message: Message | NoMessage, open: Open): void {
    const { server, log } = this.#options;
    const { id: expected, pending, era } = open;
    if (message.kind === 'none') {
      const refused = era === 'legacy' ? buildInvalidReply(message) : undefined;
      if (refused === undefined) pending.fail(toMessageRefusal(message, server));
      else this.#posts.post(refused);
    } else if (message.kind === 'response') {
      const fault =
        open.status === 400 && this.#session !== undefined ? findSessionFault(message) : undefined;
      if (fault !== undefined) this.#sessionLost(fault, pending, message.idText === undefined);
      else if (message.idText === undefined || isId(message.idText, expected)) pending.answer(message, era);
      else log.warn('server answered another request; ignored', { server, code: 'RESPONSE_UNMATCHED' });
    } else if (message.kind === 'request') {
      // Modern servers send no requests, and clients send no responses (2026-07-28, streamable-http).
      if (era === 'legacy') pending.asked(message, this.#serverRequests, this.#posts.post);
    } else if (!pending.isStream && (IS_OF_LINK.has(message.method) || !pending.takesLogs))
      this.#note(message);
    else if (!this.#serverRequests.cancelled(message)) pending.note(message);
  }

  /** Routes progress and subscription notifications to the request they name, on whichever stream they come. */
  #note(message: NotificationMessage): void {
    const { server, log, events } = this.#options;
    const id = findRequestId(message);
    if (id === undefined) handleNotification(message, server, { events, log });
    else this.#open.get(id)?.note(message);
  }

  /** The server answered a request in words that it does not know its session. */
  #sessionLost(message: string, pending: Pending, isUnread: boolean): void {
    const cause: Cause = { code: 'SESSION_EXPIRED', message };
    pending.fail(toSessionRefusal(this.#options.server, cause, isUnread));
    this.#end(cause);
  }

  #over(end: HttpEnd, pending: Pending): void {
    const fault = end.kind === 'answered' && this.#session !== undefined ? findSessionFault(end) : undefined;
    if (fault !== undefined) this.#sessionLost(fault, pending, false);
    pending.fail(toEndRefusal(end, this.#options.server));
    const cause = findLastCause(end);
    if (cause !== undefined) this.#end(cause);
  }

  #listenLegacy(): void {
    const { server, log } = this.#options;
    this.listening = listenLegacy({
      client: this.#client,
      authorizer: this.#options.authorizer,
      request: this.#listenRequest(),
      server,
      log,
      minSilenceMs: this.#minSilenceMs,
      signal: this.#closing.signal,
      onMessage: (message) => {
        const refused = message.kind === 'none' ? buildInvalidReply(message) : undefined;
        if (refused !== undefined) this.#posts.post(refused);
        else if (message.kind === 'request')
          this.#serverRequests.take(message, {
            to: this.#options.events.requested,
            send: this.#posts.post,
            onOver: () => undefined,
          });
        else if (message.kind === 'notification' && !this.#serverRequests.cancelled(message))
          this.#note(message);
      },
      onReturn: () => this.#options.events.missed(),
      onEnd: (end) => this.#lost(end),
    });
  }

  notify(note: Buffer): void {
    if (this.era === 'legacy') this.#posts.post(note);
  }

  readonly #send = (options: HttpExchangeOptions): (() => void) =>
    exchangeAuthorized(options, this.#options.authorizer);

  /** A stream of the session has ended; checks whether the session itself is over. */
  #lost(end: HttpEnd): void {
    if (end.kind === 'unreached') this.#end(end.cause);
    if (end.kind !== 'answered' || this.#session === undefined) return;
    const message = findSessionFault(end);
    if (end.status === 404) this.#end(SESSION_OVER);
    else if (message !== undefined) this.#end({ code: 'SESSION_EXPIRED', message });
  }

  #listenRequest(): HttpRequest {
    return { ...this.#request(undefined, this.#legacyHeaders()), method: 'GET' };
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

  /** Marks the link as unusable. Open requests may still complete. */
  #end(cause: Cause): void {
    if (this.#ending !== undefined) return;
    this.#ending = cause;
    this.#serverRequests.end();
    this.#options.events.ended(cause);
  }
}
