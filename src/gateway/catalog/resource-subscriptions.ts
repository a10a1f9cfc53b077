import type { Refusal } from '../../core/refusal.ts';
import { ownRequest, type NotificationMessage } from '../../protocol/message.ts';
import { ownUpstreamRequest, type Link, type Log, type SubscriptionAnswer } from '../ports/link.ts';

/**
 * Called when a resource has changed, with the URI that was subscribed to. Without a notification it only may have
 * changed: the server could not be heard for a while.
 */
export type HearUpdate = (uri: string, note: NotificationMessage | undefined) => void;

/** The subscription to one resource: its listeners, and the link on which the server agreed. */
interface Wish {
  readonly uri: string;
  readonly hearers: Set<HearUpdate>;
  /** The link on which the server agreed. */
  on: Link | undefined;
  /** Whether the server ever agreed, so that it is asked again after each reconnect. */
  wasReady: boolean;
  /** Requests to the server run one after another, as they may overtake each other. */
  last: Promise<unknown>;
}

const HONOURED: SubscriptionAnswer = { kind: 'honoured' };
/** Maximum number of concurrent renewals after a reconnect. */
const MOST_AT_ONCE = 32;
/** Maximum number of URIs that a URI is checked against as a part, and its maximum length for that check. */
const MOST_WHOLES = 64;
const LONGEST_PART = 2_048;

/**
 * Subscriptions to resources of one server. The server is asked once per resource, however many listeners there are.
 */
export class ResourceSubscriptions {
  readonly #wishes = new Map<string, Wish>();
  readonly #server: string;
  readonly #log: Log;
  #link: Link | undefined;
  #timeoutMs = 0;

  constructor(server: string, log: Log) {
    this.#server = server;
    this.#log = log;
  }

  /** Whether there are no subscriptions. */
  get isEmpty(): boolean {
    return this.#wishes.size === 0;
  }

  /** Subscribes, unless the server already reports this resource. It may report updates before it has answered. */
  async want(uri: string, hear: HearUpdate): Promise<SubscriptionAnswer> {
    const wish = this.#wishes.get(uri) ?? newWish(uri);
    this.#wishes.set(uri, wish);
    wish.hearers.add(hear);
    const answer = await this.#bringUp(wish);
    if (answer.kind !== 'honoured') this.leave(uri, hear);
    return answer;
  }

  leave(uri: string, hear: HearUpdate): void {
    const wish = this.#wishes.get(uri);
    if (wish?.hearers.delete(hear) === true && wish.hearers.size === 0) void this.#bringUp(wish);
  }

  /** Renews subscriptions on a new link. Their resources may have changed meanwhile. */
  async linkReady(link: Link, timeoutMs: number): Promise<void> {
    this.#link = link;
    this.#timeoutMs = timeoutMs;
    const wishes = [...this.#wishes.values()].filter(({ wasReady }) => wasReady);
    for (let from = 0; from < wishes.length && this.#link === link; from += MOST_AT_ONCE)
      await Promise.all(wishes.slice(from, from + MOST_AT_ONCE).map((wish) => this.#renew(wish)));
  }

  linkLost(): void {
    this.#link = undefined;
  }

  /** The server could not be heard for a while. */
  missed(): void {
    for (const wish of this.#wishes.values()) if (wish.wasReady) tellMissed(wish);
  }

  /**
   * A resource may be part of one that was subscribed to (2025-11-25 and 2026-07-28, schema,
   * ResourceUpdatedNotification).
   */
  updated(uri: string, note: NotificationMessage): void {
    const told = new Set<HearUpdate>();
    for (const wished of withWholes(uri))
      for (const hear of this.#wishes.get(wished)?.hearers ?? []) {
        if (!told.has(hear)) hear(wished, note);
        told.add(hear);
      }
    if (told.size > 0) return;
    this.#log.debug('server told of a resource that nobody asked for', { server: this.#server, uri });
  }

  async #renew(wish: Wish): Promise<void> {
    const answer = await this.#bringUp(wish);
    if (answer.kind !== 'honoured')
      this.#log.warn('server does not tell of a resource any more', { server: this.#server, uri: wish.uri });
    tellMissed(wish);
  }

  #bringUp(wish: Wish): Promise<SubscriptionAnswer> {
    const work = wish.last.then(() => this.#work(wish));
    wish.last = work;
    return work;
  }

  /** Repeats until the server's state matches the current listeners on the current link. */
  async #work(wish: Wish): Promise<SubscriptionAnswer> {
    for (;;) {
      const link = this.#link;
      const isWanted = wish.hearers.size > 0;
      if (!isWanted && (link === undefined || wish.on !== link)) {
        if (this.#wishes.get(wish.uri) === wish) this.#wishes.delete(wish.uri);
        return HONOURED;
      }
      if (link === undefined) return { kind: 'failed', refusal: this.#ended() };
      if (isWanted && wish.on === link) return HONOURED;
      wish.on = undefined;
      if (!isWanted) {
        await this.#unsubscribe(link, wish.uri);
        continue;
      }
      const answer = await this.#subscribe(link, wish.uri);
      if (answer.kind !== 'honoured') return answer;
      wish.on = link;
      wish.wasReady = true;
    }
  }

  async #subscribe(link: Link, uri: string): Promise<SubscriptionAnswer> {
    if (link.resources !== undefined) return link.resources.add(uri);
    await link.listening; // updates sent before that would be lost
    return this.#ask(link, 'resources/subscribe', uri);
  }

  /** The server's answer does not matter: no listener is left. */
  async #unsubscribe(link: Link, uri: string): Promise<void> {
    if (link.resources === undefined) await this.#ask(link, 'resources/unsubscribe', uri);
    else link.resources.drop(uri);
  }

  async #ask(link: Link, method: string, uri: string): Promise<SubscriptionAnswer> {
    const reply = await link.send(ownUpstreamRequest(ownRequest(method, { uri }), this.#timeoutMs));
    if (!reply.ok) return { kind: 'failed', refusal: reply.error };
    return reply.value.message.isError ? { kind: 'refused', reply: reply.value } : HONOURED;
  }

  #ended(): Refusal {
    return { code: 'SERVER_ENDED', server: this.#server, cause: { code: 'LINK_CLOSED' } };
  }
}

function newWish(uri: string): Wish {
  return { uri, hearers: new Set(), on: undefined, wasReady: false, last: Promise.resolve() };
}

function tellMissed({ uri, hearers }: Wish): void {
  for (const hear of [...hearers]) hear(uri, undefined);
}

/** The URI, and all URIs it may be part of, by path, query or fragment. */
function withWholes(uri: string): readonly string[] {
  const wholes = [uri];
  if (uri.length > LONGEST_PART) return wholes;
  for (let at = uri.length - 1; at > 0 && wholes.length < MOST_WHOLES; at -= 1) {
    if (!PART_MARKS.includes(uri[at] ?? '')) continue;
    if (at < uri.length - 1) wholes.push(uri.slice(0, at + 1));
    wholes.push(uri.slice(0, at));
  }
  return wholes;
}

const PART_MARKS = '/?#';
