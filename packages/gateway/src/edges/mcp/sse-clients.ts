import type { IncomingMessage, ServerResponse } from 'node:http';
import type { BodyBudget } from '../../core/body-budget.ts';
import type { Refusal } from '../../core/refusal.ts';
import { isSameHolder, type Identity } from '../../core/subject.ts';
import type { Settings } from '../../core/settings.ts';
import type { View } from '../../gateway/catalog/view.ts';
import type { Relay } from '../../gateway/relay/call.ts';
import * as headers from '@assay-mcp/protocol/headers';
import type { Message, NoMessage, RequestMessage } from '@assay-mcp/protocol/message';
import { buildResultMessage, serializeResult } from '@assay-mcp/protocol/reply';
import { receiveBody } from './http-post.ts';
import { sendRefusal } from './http-answer.ts';
import { answerRequest, refuse, type RequestAnswer } from './http-request.ts';
import { writeStreamHead } from './http-stream.ts';
import type { OpenRequests } from './in-flight.ts';
import {
  handleNotification,
  toInvalidMessageRefusal,
  readLegacyProfile,
  negotiateVersion,
} from './legacy-rules.ts';
import { isEnveloped } from './modern-rules.ts';
import { readFromClient } from './read-message.ts';
import { getRequestPath } from './request-path.ts';
import { buildInitializeResult } from './self.ts';
import type { Session } from './session.ts';
import type { Sessions } from './sessions.ts';

/** A GET or POST to an endpoint of the older transport. */
export interface SseExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly view: View;
  readonly identity: Identity;
}

export interface SseClientsOptions {
  readonly relay: Relay;
  readonly settings: Settings;
  readonly sessions: Sessions;
  readonly openRequests: OpenRequests;
  readonly bodies: BodyBudget;
}

/** The revision that has this transport; clients of later ones accept it too. */
const VERSION = '2024-11-05';
/** Time in ms that a client has for `initialize` after it has opened its stream. */
const HANDSHAKE_MS = 30_000;

/** A client with its stream. It has a session from `initialize` on. */
interface SseClient extends Pick<SseExchange, 'response' | 'view' | 'identity'> {
  session: Session | undefined;
}

/**
 * The older transport HTTP+SSE (2024-11-05, basic/transports#http-with-sse): a GET opens a stream whose first event
 * names an address. Messages for Assay are posted there, and all answers are sent on the stream. A session lasts as
 * long as its stream.
 */
export class SseClients {
  readonly #options: SseClientsOptions;
  readonly #clients = new Map<string, SseClient>();

  constructor(options: SseClientsOptions) {
    this.#options = options;
  }

  async answer(exchange: SseExchange): Promise<void> {
    const { method = '' } = exchange.request;
    if (method === 'GET') this.#open(exchange);
    else if (method === 'POST') await this.#receive(exchange);
    else sendRefusal(exchange.response, { code: 'HTTP_METHOD_UNKNOWN', method, allowed: 'GET, POST' });
  }

  /** Ends the streams on which no session has begun; those of sessions end with them. */
  close(): void {
    for (const { session, response } of this.#clients.values()) if (session === undefined) response.end();
  }

  #open({ request, response, view, identity }: SseExchange): void {
    const refusal = this.#refusalOf(request);
    if (refusal !== undefined) {
      sendRefusal(response, refusal);
      return;
    }
    const id = crypto.randomUUID();
    const client: SseClient = { response, view, identity, session: undefined };
    this.#clients.set(id, client);
    const handshake = setTimeout(() => {
      if (client.session === undefined) response.end();
    }, HANDSHAKE_MS).unref();
    response.once('close', () => {
      clearTimeout(handshake);
      this.#clients.delete(id);
      if (client.session !== undefined) this.#options.sessions.endLocal(client.session);
    });
    writeStreamHead(response);
    response.write(`event: endpoint\ndata: ${getRequestPath(request)}?sessionId=${id}\n\n`);
  }

  #refusalOf({ headers: { accept } }: IncomingMessage): Refusal | undefined {
    const { openRequests, settings } = this.#options;
    if (!headers.parseAccept(accept).sse) return { code: 'NOT_ACCEPTABLE' };
    if (openRequests.isStopping) return { code: 'SHUTTING_DOWN' };
    return this.#clients.size >= settings['limits.sessions'] ? { code: 'SESSION_LIMIT' } : undefined;
  }

  async #receive(exchange: SseExchange): Promise<void> {
    const { request, response, view, identity } = exchange;
    const client = this.#clients.get(sessionIdIn(request));
    const isOwn = client?.view === view && isSameHolder(client.identity, identity);
    if (client === undefined || !isOwn) {
      sendRefusal(response, { code: 'SESSION_UNKNOWN' });
      return;
    }
    const body = await receiveBody(exchange, this.#options);
    if (body === undefined) return;
    try {
      await this.#handle(await readFromClient(body.bytes), client, exchange);
    } finally {
      body.reservation.release();
    }
  }

  async #handle(message: Message | NoMessage, client: SseClient, exchange: SseExchange): Promise<void> {
    const refusal = this.#faultOf(message, client);
    if (refusal !== undefined)
      refuse(exchange, refusal, {
        idText: message.kind === 'notification' ? undefined : message.idText,
        era: 'legacy',
      });
    else await this.#take(message as Message, client, exchange);
  }

  #faultOf(message: Message | NoMessage, { session }: SseClient): Refusal | undefined {
    if (message.kind === 'none') return toInvalidMessageRefusal(message);
    const isFirst = message.kind === 'request' && message.method === 'initialize';
    const isLate = session !== undefined && isFirst;
    if (isLate || (session === undefined && !isFirst))
      return { code: 'MESSAGE_INVALID', reason: '"initialize" must be the first message, and come once' };
    if (message.kind !== 'request') return undefined;
    if (this.#options.openRequests.isStopping) return { code: 'SHUTTING_DOWN' };
    if (isEnveloped(message))
      return { code: 'MESSAGE_INVALID', reason: `it is a request of a revision after ${VERSION}` };
    const isBusy = session !== undefined && session.inFlight.size >= session.limit;
    return isBusy ? { code: 'CLIENT_BUSY', limit: session.limit } : undefined;
  }

  async #take(message: Message, client: SseClient, exchange: SseExchange): Promise<void> {
    const { response, identity } = exchange;
    const { session } = client;
    if (session === undefined) {
      if (message.kind === 'request') this.#begin(message, client, exchange);
      return;
    }
    response.writeHead(202).end();
    if (message.kind === 'notification') handleNotification(message, session);
    else if (message.kind === 'response') session.forwarded.receive(message);
    else {
      const { openRequests } = this.#options;
      const source = { caller: session, identity, inFlight: session.inFlight, session };
      await answerRequest({ response, openRequests, answer: answerOn(session) }, message, source);
    }
  }

  #begin(message: RequestMessage, client: SseClient, exchange: SseExchange): void {
    const { view, identity } = client;
    const target = { idText: message.idText, era: 'legacy' } as const;
    const version = negotiateVersion(message);
    if (!version.ok) {
      refuse(exchange, version.error, target);
      return;
    }
    const profile = readLegacyProfile(message, identity.subject);
    const { relay } = this.#options;
    const session = this.#options.sessions.begin({
      relay,
      view,
      version: VERSION,
      profile,
      holder: identity,
    });
    if (session === undefined) {
      refuse(exchange, { code: 'SESSION_LIMIT' }, target);
      return;
    }
    client.session = session;
    relay.deps.telemetry?.traffic?.connected({
      client: session.clientInfo,
      transport: 'sse',
      revision: VERSION,
      endpoint: getRequestPath(exchange.request),
      subject: session.subject,
      isStateless: false,
    });
    session.streams.listen(client.response);
    exchange.response.writeHead(202).end();
    const result = serializeResult(
      'initialize',
      'legacy',
      buildInitializeResult({ view, tasks: relay.deps.tasks }, VERSION),
    );
    session.streams.respond([buildResultMessage(message.idText, result)]);
  }
}

function sessionIdIn({ url = '' }: IncomingMessage): string {
  const query = url.indexOf('?');
  return query < 0 ? '' : (new URLSearchParams(url.slice(query)).get('sessionId') ?? '');
}

/** Answers are sent on the session's stream, not to the POST. */
function answerOn(session: Session): RequestAnswer {
  return {
    notify: (bytes) => session.send(bytes),
    respond: ({ pieces }) => session.streams.respond(pieces),
    withdraw: () => undefined,
  };
}
