import type { Refusal } from '../../core/refusal.ts';
import { buildOwnRequest, type NotificationMessage } from '@assay-mcp/protocol/message';
import { buildOwnUpstreamRequest, type Link, type SubscriptionAnswer } from '../ports/link.ts';
import type { Log } from '../ports/log.ts';

/**
 * Called when a resource has changed, with the URI that was subscribed to. Without a notification it may have changed:
 * notifications were lost for a while.
 */
export type UpdateListener = (uri: string, note: NotificationMessage | undefined) => void;

/** The subscription to one resource: its listeners, and the link on which the server agreed. */
interface Subscription {
  readonly uri: string;
  readonly listeners: Set<UpdateListener>;
  /** The link on which the server agreed. */
  on: Link | undefined;
  /** Whether the server ever agreed, so that it is asked again after each reconnect. */
  wasReady: boolean;
  /** Requests to the server run one after another, as they may overtake each other. */
  last: Promise<unknown>;
}

const HONOURED: SubscriptionAnswer = { kind: 'honoured' };
/** Maximum number of concurrent renewals after a reconnect. */
const MAX_CONCURRENT = 32;
/** Maximum number of URIs that a URI is checked against as a part, and its maximum length for that check. */
const MAX_PARENTS = 64;
const MAX_PART_LENGTH = 2_048;

/**
 * Subscriptions to resources of one server. The server is asked once per resource, however many listeners there are.
 */
export class ResourceSubscriptions {
  readonly #subscriptions = new Map<string, Subscription>();
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
    return this.#subscriptions.size === 0;
  }

  /** Subscribes, unless the server already reports this resource. It may report updates before it has answered. */
  async subscribe(uri: string, listener: UpdateListener): Promise<SubscriptionAnswer> {
    const subscription = this.#subscriptions.get(uri) ?? newSubscription(uri);
    this.#subscriptions.set(uri, subscription);
    subscription.listeners.add(listener);
    const answer = await this.#reconcile(subscription);
    if (answer.kind !== 'honoured') this.unsubscribe(uri, listener);
    return answer;
  }

  unsubscribe(uri: string, listener: UpdateListener): void {
    const subscription = this.#subscriptions.get(uri);
    if (subscription?.listeners.delete(listener) === true && subscription.listeners.size === 0)
      void this.#reconcile(subscription);
  }

  /** Renews subscriptions on a new link. Their resources may have changed meanwhile. */
  async linkReady(link: Link, timeoutMs: number): Promise<void> {
    this.#link = link;
    this.#timeoutMs = timeoutMs;
    const subscriptions = [...this.#subscriptions.values()].filter(({ wasReady }) => wasReady);
    for (let from = 0; from < subscriptions.length && this.#link === link; from += MAX_CONCURRENT)
      await Promise.all(
        subscriptions.slice(from, from + MAX_CONCURRENT).map((subscription) => this.#renew(subscription)),
      );
  }

  linkLost(): void {
    this.#link = undefined;
  }

  /** Notifications of the server may have been lost. */
  missed(): void {
    for (const subscription of this.#subscriptions.values())
      if (subscription.wasReady) notifyMissed(subscription);
  }

  /**
   * A resource may be part of one that was subscribed to (2025-11-25 and 2026-07-28, schema,
   * ResourceUpdatedNotification).
   */
  updated(uri: string, note: NotificationMessage): void {
    const notified = new Set<UpdateListener>();
    for (const subscribedUri of withParents(uri))
      for (const listener of this.#subscriptions.get(subscribedUri)?.listeners ?? []) {
        if (!notified.has(listener)) listener(subscribedUri, note);
        notified.add(listener);
      }
    if (notified.size > 0) return;
    this.#log.debug('server told of a resource that nobody asked for', { server: this.#server, uri });
  }

  async #renew(subscription: Subscription): Promise<void> {
    const answer = await this.#reconcile(subscription);
    if (answer.kind !== 'honoured')
      this.#log.warn('server does not tell of a resource any more', {
        server: this.#server,
        uri: subscription.uri,
      });
    notifyMissed(subscription);
  }

  #reconcile(subscription: Subscription): Promise<SubscriptionAnswer> {
    const work = subscription.last.then(() => this.#reconcileNow(subscription));
    subscription.last = work;
    return work;
  }

  /** Repeats until the server's state matches the current listeners on the current link. */
  async #reconcileNow(subscription: Subscription): Promise<SubscriptionAnswer> {
    for (;;) {
      const link = this.#link;
      const isWanted = subscription.listeners.size > 0;
      if (!isWanted && (link === undefined || subscription.on !== link)) {
        if (this.#subscriptions.get(subscription.uri) === subscription)
          this.#subscriptions.delete(subscription.uri);
        return HONOURED;
      }
      if (link === undefined) return { kind: 'failed', refusal: this.#ended() };
      if (isWanted && subscription.on === link) return HONOURED;
      subscription.on = undefined;
      if (!isWanted) {
        await this.#unsubscribe(link, subscription.uri);
        continue;
      }
      const answer = await this.#subscribe(link, subscription.uri);
      if (answer.kind !== 'honoured') return answer;
      subscription.on = link;
      subscription.wasReady = true;
    }
  }

  async #subscribe(link: Link, uri: string): Promise<SubscriptionAnswer> {
    if (link.resources !== undefined) return link.resources.add(uri);
    await link.listening; // Updates sent before that would be lost.
    return this.#ask(link, 'resources/subscribe', uri);
  }

  /** The server's answer does not matter: no listener is left. */
  async #unsubscribe(link: Link, uri: string): Promise<void> {
    if (link.resources === undefined) await this.#ask(link, 'resources/unsubscribe', uri);
    else link.resources.drop(uri);
  }

  async #ask(link: Link, method: string, uri: string): Promise<SubscriptionAnswer> {
    const reply = await link.send(buildOwnUpstreamRequest(buildOwnRequest(method, { uri }), this.#timeoutMs));
    if (!reply.ok) return { kind: 'failed', refusal: reply.error };
    return reply.value.message.isError ? { kind: 'refused', reply: reply.value } : HONOURED;
  }

  #ended(): Refusal {
    return { code: 'SERVER_ENDED', server: this.#server, cause: { code: 'LINK_CLOSED' } };
  }
}

function newSubscription(uri: string): Subscription {
  return { uri, listeners: new Set(), on: undefined, wasReady: false, last: Promise.resolve() };
}

function notifyMissed({ uri, listeners }: Subscription): void {
  for (const listener of [...listeners]) listener(uri, undefined);
}

/** The URI, and all URIs it may be part of, by path, query or fragment. */
function withParents(uri: string): readonly string[] {
  const wholes = [uri];
  if (uri.length > MAX_PART_LENGTH) return wholes;
  for (let at = uri.length - 1; at > 0 && wholes.length < MAX_PARENTS; at -= 1) {
    if (!PART_MARKS.includes(uri[at] ?? '')) continue;
    if (at < uri.length - 1) wholes.push(uri.slice(0, at + 1));
    wholes.push(uri.slice(0, at));
  }
  return wholes;
}

const PART_MARKS = '/?#';
