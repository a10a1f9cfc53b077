import type { Refusal } from '../../core/errors.ts';
import type { Result } from '../../core/result.ts';
import { Slots } from '../../core/slots.ts';
import type { Ask, Capabilities, Link, LinkEvents, Log, Reply } from '../../gateway/ports.ts';
import { HttpClient, type HttpRequest } from '../../platform/http-client.ts';
import { atMost, pause } from '../../platform/waiting.ts';
import { METHODS, type Era } from '../../protocol/eras.ts';
import * as headers from '../../protocol/headers.ts';
import { readResponsePieces, type Message } from '../../protocol/message.ts';
import { notificationMessage } from '../../protocol/reply.ts';
import { memberOf, textOf } from '../../protocol/spans.ts';
import { requestFor } from '../../protocol/translate.ts';
import type { Facts } from './handshake.ts';
import { exchangeHttp, isSuccess, type HttpEnd } from './http-exchange.ts';
import { answerTo, heard, ownIdOf } from './incoming.ts';
import { listen } from './listening.ts';
import { Pending, tooMany } from './pending.ts';

export interface HttpLinkOptions {
  readonly server: string;
  readonly url: URL;
  /** Headers that the config gives to each request. */
  readonly headers: Readonly<Record<string, string>>;
  readonly events: LinkEvents;
  readonly log: Log;
  readonly ownInfo: string;
}

/** A request whose exchange is under way. */
interface Open {
  readonly id: number;
  readonly pending: Pending;
  readonly era: Era;
}

const SESSION_OVER = 'its session is over (HTTP 404)';
const NO_FACTS: Facts = { era: 'legacy', version: '', capabilities: {}, instructions: undefined };
const DELETE_LIMIT_MS = 1_000;
const FIRST_REOPEN_MS = 500;
const LONGEST_REOPEN_MS = 30_000;

/** Streamable HTTP towards a server of either era: a request, and its answer on the same exchange. */
export class HttpLink implements Link {
  readonly #options: HttpLinkOptions;
  readonly #client: HttpClient;
  readonly #path: string;
  readonly #fixedHeaders: readonly string[];
  readonly #closing = new AbortController();
  readonly #open = new Slots<Pending>();
  #abortListening: (() => void) | undefined;
  #facts: Facts = NO_FACTS;
  #session: string | undefined;
  #ending: string | undefined;

  constructor(options: HttpLinkOptions) {
    this.#options = options;
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

  /** The handshake is done. From here on the server's own messages are heard. */
  begin(facts: Facts): void {
    this.#facts = facts;
    if (facts.era === 'modern') {
      const { events } = this.#options;
      void listen({ facts, events, signal: this.#closing.signal, ask: (ask) => this.ask(ask) });
    } else {
      this.#post(notificationMessage('notifications/initialized'));
      void this.#listenLegacy();
    }
  }

  ask(ask: Ask, to: Era = this.#facts.era): Promise<Result<Reply, Refusal>> {
    return new Promise((settle) => {
      const { server, ownInfo, log } = this.#options;
      let abort = (): void => undefined;
      const pending: Pending = new Pending({
        server,
        ask,
        settle: (result) => {
          if (id !== undefined) this.#open.delete(id);
          settle(result);
        },
        giveUp: (reason) => {
          // In the legacy era a closed connection cancels nothing (2025-11-25, basic/transports#sending-messages-to-the-server).
          if (to === 'legacy')
            this.#post(notificationMessage('notifications/cancelled', { requestId: id, reason }));
          abort();
        },
      });
      const id = this.#open.add(pending);
      if (id === undefined) {
        settle(tooMany(server));
        return;
      }
      if (this.#ending !== undefined) {
        pending.fail({ code: 'SERVER_ENDED', server, cause: this.#ending });
        return;
      }
      const { message, name, era: from } = ask;
      const body = requestFor(message, { id, from, to, name, clientInfo: ask.clientInfo ?? ownInfo });
      abort = exchangeHttp({
        client: this.#client,
        request: this.#request(body, to === 'modern' ? modernHeaders(ask) : this.#legacyHeaders()),
        isStream: message.method === 'subscriptions/listen',
        server,
        log,
        onMessage: (received) => this.#heard(received, { id, pending, era: to }),
        ...(from === to && { onPieces: (pieces) => this.#heardPieces(pieces, { id, pending, era: to }) }),
        onStart: (status, given) => {
          // The session is over, so whatever else the answer says, the request was not carried out.
          if (status === 404 && this.#session !== undefined) {
            pending.fail({ code: 'SERVER_FORGOT', server });
            this.#end(SESSION_OVER);
            return;
          }
          const session = given[headers.SESSION_ID];
          if (message.method === 'initialize' && isSuccess(status) && typeof session === 'string')
            this.#session = session;
        },
        onEnd: (end) => this.#over(end, pending),
      });
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#abortListening?.();
    const hadSession = this.#session !== undefined && this.#ending === undefined;
    this.#end('Assay closed it');
    if (hadSession) {
      // A server may refuse to end sessions, or be gone: nothing depends on the answer.
      await atMost(this.#delete(), DELETE_LIMIT_MS);
    }
    await this.#client.close();
  }

  /** Nothing but the id of the response changes on its way to this client, so it need not be read whole. */
  #heardPieces(pieces: readonly Buffer[], open: Open): boolean {
    const message = readResponsePieces(pieces);
    if (message === undefined) return false;
    this.#heard(message, open);
    return true;
  }

  #heard(message: Message, { id: expected, pending, era }: Open): void {
    const { server, log, events } = this.#options;
    if (message.kind === 'response') {
      const id = ownIdOf(message.idText);
      if (id === undefined || id === expected) pending.answer(message, era);
      else log.warn('server answered another request than it was asked; that is ignored', { server });
    } else if (message.kind === 'request') this.#post(answerTo(message));
    else if (message.method === 'notifications/progress' || message.method === 'notifications/message')
      pending.note(message);
    else heard(message, server, { events, log });
  }

  #over(end: HttpEnd, pending: Pending): void {
    const { server } = this.#options;
    if (end.kind === 'broken') {
      pending.fail({ code: 'SERVER_ENDED', server, cause: end.cause });
      if (end.cause.includes('ECONNREFUSED')) this.#end(end.cause);
      return;
    }
    const cause = statusCause(end);
    pending.fail({ code: isSuccess(end.status) ? 'SERVER_ENDED' : 'SERVER_UNAVAILABLE', server, cause });
  }

  /** The stream on which a legacy server speaks unasked (2025-11-25, basic/transports#listening-for-messages-from-the-server). */
  async #listenLegacy(): Promise<void> {
    const { server, log, events } = this.#options;
    let waitMs = FIRST_REOPEN_MS;
    while (!this.#closing.signal.aborted && this.#ending === undefined) {
      const end = await new Promise<HttpEnd>((resolve) => {
        const abort = exchangeHttp({
          client: this.#client,
          request: {
            method: 'GET',
            path: this.#path,
            headers: this.#headers(this.#legacyHeaders()),
            body: undefined,
          },
          isStream: true,
          server,
          log,
          onMessage: (message) => {
            waitMs = FIRST_REOPEN_MS;
            if (message.kind === 'request') this.#post(answerTo(message));
            else if (message.kind === 'notification') heard(message, server, { events, log });
          },
          onEnd: resolve,
        });
        this.#abortListening = abort;
      });
      if (end.kind === 'answered' && end.status === 404 && this.#session !== undefined)
        this.#end(SESSION_OVER);
      if (end.kind === 'answered' && !isSuccess(end.status)) return; // it offers no such stream
      await pause(waitMs, this.#closing.signal);
      waitMs = Math.min(waitMs * 2, LONGEST_REOPEN_MS);
    }
  }

  /** Sends what needs no answer: a notification or a response. */
  #post(body: Buffer): void {
    const { server, log } = this.#options;
    exchangeHttp({
      client: this.#client,
      request: this.#request([body], this.#legacyHeaders()),
      isStream: false,
      server,
      log,
      onMessage: () => undefined,
      onEnd: (end) => {
        if (end.kind === 'broken') log.debug('a notification did not arrive', { server, cause: end.cause });
      },
    });
  }

  #delete(): Promise<HttpEnd> {
    const { server, log } = this.#options;
    return new Promise((resolve) => {
      const request: HttpRequest = {
        method: 'DELETE',
        path: this.#path,
        headers: this.#headers(this.#legacyHeaders()),
        body: undefined,
      };
      exchangeHttp({
        client: this.#client,
        request,
        isStream: false,
        server,
        log,
        onMessage: () => undefined,
        onEnd: resolve,
      });
    });
  }

  #request(body: readonly Buffer[], extra: readonly string[]): HttpRequest {
    return { method: 'POST', path: this.#path, headers: this.#headers(extra), body };
  }

  #headers(extra: readonly string[]): readonly string[] {
    return this.#fixedHeaders.concat(extra);
  }

  #legacyHeaders(): readonly string[] {
    const session = this.#session === undefined ? [] : [headers.SESSION_ID, this.#session];
    return this.#facts.version === '' ? session : [headers.PROTOCOL_VERSION, this.#facts.version, ...session];
  }

  #end(cause: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = cause;
    for (const pending of this.#open.all())
      pending.fail({ code: 'SERVER_ENDED', server: this.#options.server, cause });
    this.#options.events.ended(cause);
  }
}

/** The headers that repeat what the body says (2026-07-28, basic/transports/streamable-http#request-metadata). */
function modernHeaders({ message, name }: Ask): readonly string[] {
  const fixed = [headers.PROTOCOL_VERSION, '2026-07-28', headers.METHOD, message.method];
  const source = METHODS.get(message.method)?.named;
  const value = name ?? (source && textOf(message.bytes, memberOf(message.params, source)));
  return source === undefined || value === undefined
    ? fixed
    : [...fixed, headers.NAME, headers.encodeHeader(value)];
}

function statusCause({ status, headers: given }: Extract<HttpEnd, { kind: 'answered' }>): string {
  if (isSuccess(status)) return 'its answer ended before the result';
  if (status === 401 || status === 403)
    return `it answers HTTP ${status}: it wants other credentials; set "headers" in its config entry`;
  if (status >= 300 && status < 400)
    return `it answers HTTP ${status} and points to ${JSON.stringify(given['location'])}; set that as its "url"`;
  return `it answers HTTP ${status}`;
}
