import { FIXED_LIMITS } from '../../core/fixed-limits.ts';
import type { Cause } from '../../core/cause.ts';
import type { Refusal } from '../../core/refusal.ts';
import { toCause } from '../../core/refusal-cause.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Transport } from '../../core/server-spec.ts';
import type { UpstreamRequest, Capabilities, Link, Reply } from '../../gateway/ports/link.ts';
import type { Authorizer } from '../../gateway/ports/credentials.ts';
import { HttpClient, type HttpReach } from '@assay-mcp/kit/platform/http-client';
import type { Era } from '@assay-mcp/protocol/eras';
import { buildNotification } from '@assay-mcp/protocol/reply';
import { NotificationLimiter } from './notification-limiter.ts';
import { openHttpReach } from './http-reach.ts';
import { Attempt, type LinkAttempt } from './opening.ts';
import { exchangeAuthorized } from './authorized-exchange.ts';
import { Conversation } from './conversation.ts';
import { initialize, type Facts } from './handshake.ts';
import { getAuthorizer, toStatusCause } from './http-posts.ts';
import { isHtml, isSuccess, type HttpEnd, type HttpExchangeOptions } from './http-exchange.ts';

/**
 * The older HTTP+SSE transport: the server sends on one long GET stream, whose first event names the address to POST to
 * (2024-11-05, basic/transports#http-with-sse).
 */
export async function openSse(
  opening: LinkAttempt,
  transport: Extract<Transport, { kind: 'http' }>,
): Promise<Result<Link, Cause>> {
  const attempt = new Attempt(opening.events);
  const authorizer = await getAuthorizer(opening);
  const reach = await openHttpReach(opening, transport);
  if (!reach.ok) return reach;
  const wire = new SseWire({ ...opening, events: attempt }, transport, { authorizer, reach: reach.value });
  const address = await wire.address;
  if (!address.ok) {
    await wire.close({ code: 'LINK_CLOSED' });
    return err(address.error);
  }
  const probe = (request: UpstreamRequest, to: Era): Promise<Result<Reply, Refusal>> =>
    wire.conversation.ask(request, to);
  const identity = { ownInfo: opening.deps.ownInfo, profile: opening.client };
  const facts = await initialize(probe, identity, opening.signal);
  if (!facts.ok) {
    await wire.close(facts.error.cause);
    return err(facts.error.cause);
  }
  attempt.succeeded();
  wire.conversation.say(buildNotification('notifications/initialized'));
  return ok(new SseLink(wire, facts.value));
}

/** A GET stream and the POSTs that belong to it. */
class SseWire {
  readonly conversation: Conversation;
  /** Resolves when the server has named the address for messages. */
  readonly address: Promise<Result<string, Cause>>;
  readonly #client: HttpClient;
  readonly #opening: LinkAttempt;
  readonly #headers: readonly string[];
  readonly #abort: () => void;
  readonly #limiter: NotificationLimiter;
  readonly #authorizer: Authorizer | undefined;
  #path = '';
  /** Bytes of unanswered POSTs. Those of an abandoned request still count. */
  unreadBytes = 0;

  constructor(
    opening: LinkAttempt,
    { url, headers }: Extract<Transport, { kind: 'http' }>,
    { authorizer, reach }: { readonly authorizer: Authorizer | undefined; readonly reach: HttpReach },
  ) {
    const { spec, deps, events, signal } = opening;
    this.#opening = opening;
    this.#authorizer = authorizer;
    this.#client = new HttpClient(url.origin, reach);
    this.#headers = Object.entries(headers).flat();
    const { backlogBytes: maxBytes = FIXED_LIMITS.backlogBytes } = deps;
    const isTaken = (): boolean => this.unreadBytes < maxBytes;
    this.#limiter = new NotificationLimiter({ server: spec.name, log: deps.log, isTaken });
    this.conversation = new Conversation({
      server: spec.name,
      ownInfo: deps.ownInfo,
      events,
      log: deps.log,
      send: (pieces, id) => this.#send(pieces, id),
    });
    const named = Promise.withResolvers<Result<string, Cause>>();
    this.address = named.promise;
    const stream: HttpExchangeOptions = {
      client: this.#client,
      request: {
        method: 'GET',
        path: url.pathname + url.search,
        headers: [...this.#headers, 'accept', 'text/event-stream'],
        body: undefined,
      },
      isStream: true,
      endsWithResponse: false,
      server: spec.name,
      log: deps.log,
      onMessage: (message) => this.conversation.handle(message),
      onEvent: (event, data) => {
        if (event === 'endpoint') named.resolve(this.#take(data.toString(), url));
      },
      onStart: (status, headers) => {
        if (!isSuccess(status) || isHtml(headers))
          named.resolve(err(toStatusCause({ kind: 'answered', status, headers })));
      },
      onEnd: (end) => {
        const cause = causeOfStream(end);
        named.resolve(err(cause));
        this.conversation.end(cause);
      },
    };
    this.#abort = exchangeAuthorized(stream, authorizer);
    const late = err<Cause>({ code: 'ENDPOINT_TIMEOUT' });
    signal.addEventListener('abort', () => named.resolve(late), { once: true });
  }

  async close(cause: Cause): Promise<void> {
    this.conversation.end(cause);
    this.#abort();
    await this.#client.close();
  }

  /** The address must have the same origin, so that configured headers do not leak. */
  #take(given: string, base: URL): Result<string, Cause> {
    if (!URL.canParse(given, base.href)) return err({ code: 'ENDPOINT_INVALID' });
    const address = new URL(given, base);
    if (address.origin !== base.origin) return err({ code: 'ENDPOINT_NOT_ALLOWED' });
    this.#path = address.pathname + address.search;
    return ok(this.#path);
  }

  #send(body: readonly Buffer[], id: number | undefined): void {
    const { spec, deps, events } = this.#opening;
    if (id === undefined && !this.#limiter.mayGo()) return;
    const bytes = body.reduce((sum, piece) => sum + piece.length, 0);
    this.unreadBytes += bytes;
    const post: HttpExchangeOptions = {
      client: this.#client,
      request: {
        method: 'POST',
        path: this.#path,
        headers: [...this.#headers, 'content-type', 'application/json'],
        body,
      },
      isStream: false,
      endsWithResponse: false,
      server: spec.name,
      log: deps.log,
      onMessage: (message) => this.conversation.handle(message),
      onEnd: (end) => {
        this.unreadBytes -= bytes;
        events.drained();
        if (end.kind === 'answered' && isSuccess(end.status)) return;
        if (id !== undefined) this.conversation.failed(id, causeOfPost(end));
      },
    };
    exchangeAuthorized(post, this.#authorizer);
  }
}

function causeOfStream(end: HttpEnd): Cause {
  if (end.kind !== 'answered') return end.cause;
  return end.refusal === undefined ? { code: 'STREAM_CLOSED' } : toCause(end.refusal);
}

function causeOfPost(end: HttpEnd): Cause {
  if (end.kind !== 'answered') return end.cause;
  return end.refusal === undefined ? toStatusCause(end) : toCause(end.refusal);
}

class SseLink implements Link {
  readonly era = 'legacy';
  readonly correlatesServerRequests = false;
  readonly version: string;
  readonly capabilities: Capabilities;
  readonly instructions: string | undefined;
  readonly #wire: SseWire;

  constructor(wire: SseWire, facts: Facts) {
    this.#wire = wire;
    this.version = facts.version;
    this.capabilities = facts.capabilities;
    this.instructions = facts.instructions;
  }

  get unreadBytes(): number {
    return this.#wire.unreadBytes;
  }

  send(request: UpstreamRequest): Promise<Result<Reply, Refusal>> {
    return this.#wire.conversation.ask(request);
  }

  notify(note: Buffer): void {
    this.#wire.conversation.say(note);
  }

  close(cause: Cause): Promise<void> {
    return this.#wire.close(cause);
  }
}
