import { Cancellation } from '@assay-mcp/kit/cancellation';
import type { Refusal } from '../../core/refusal.ts';
import { maskRefusal } from '../../core/refusal-cause.ts';
import { declares } from '@assay-mcp/protocol/capabilities';
import { ok, type Result } from '@assay-mcp/kit/result';
import { chooseLink, type LinkUser } from '../catalog/link-choice.ts';
import type { Link, SubscriptionAnswer } from '../ports/link.ts';
import type { UpdateListener, ResourceSubscriptions } from '../catalog/resource-subscriptions.ts';
import type { Server } from '../catalog/server.ts';
import { computeServerLabels } from '../catalog/server-labels.ts';
import type { RelayDeps } from '../catalog/call-deps.ts';
import type { View } from '../catalog/view.ts';

/** Limits the resources that one client may subscribe to, across all its streams. */
export class SubscriptionQuota {
  readonly limit: number;
  #taken = 0;

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Whether `count` more are allowed. */
  has(count: number): boolean {
    return this.#taken + count <= this.limit;
  }

  take(): boolean {
    if (!this.has(1)) return false;
    this.#taken += 1;
    return true;
  }

  giveBack(): void {
    this.#taken -= 1;
  }
}

export interface ClientSubscriptionsOptions {
  readonly relay: { readonly deps: Pick<RelayDeps, 'labels' | 'policy' | 'telemetry'> };
  readonly view: View;
  readonly quota: SubscriptionQuota;
  /** The subscriber. If it has its own link to the server, that link is used. */
  readonly client: LinkUser;
  /** Receives updates until the subscriptions end. */
  readonly onUpdate: UpdateListener;
}

interface ClientSubscription {
  readonly isRenewal: boolean;
  target: Target | undefined;
  /** Receives updates from the time of the request to the server. */
  listener: UpdateListener | undefined;
  isOver: boolean;
  readonly answer: Promise<SubscriptionAnswer>;
}

/** Maximum URI length in characters. Each URI is kept until its client leaves. */
const MAX_URI_LENGTH = 8_192;

/** The resource subscriptions of one client on one channel: its session, or one of its streams. */
export class ClientSubscriptions {
  readonly #options: ClientSubscriptionsOptions;
  readonly #subscriptions = new Map<string, ClientSubscription>();

  constructor(options: ClientSubscriptionsOptions) {
    this.#options = options;
  }

  /**
   * Subscribes at the server of the resource. A cancelled request leaves no subscription. SUBSCRIPTION_LIMIT: too many.
   */
  subscribe(uri: string, cancellation: Cancellation): Promise<SubscriptionAnswer> {
    return this.#subscribe(uri, cancellation, false);
  }

  /**
   * Subscribes again in a session that continues here. A process that the session has at another replica is left there.
   */
  renew(uri: string): Promise<SubscriptionAnswer> {
    return this.#subscribe(uri, new Cancellation(), true);
  }

  has(uri: string): boolean {
    return this.#subscriptions.has(uri);
  }

  async #subscribe(uri: string, cancellation: Cancellation, isRenewal: boolean): Promise<SubscriptionAnswer> {
    const known = this.#subscriptions.get(uri);
    if (known !== undefined) return known.answer;
    const { quota, relay } = this.#options;
    const reason = `it is longer than ${MAX_URI_LENGTH} characters`;
    if (uri.length > MAX_URI_LENGTH) return failed({ code: 'PARAMS_INVALID', field: 'uri', reason });
    if (!quota.take()) return failed({ code: 'SUBSCRIPTION_LIMIT', limit: quota.limit });
    const asked = Promise.withResolvers<SubscriptionAnswer>();
    const subscription: ClientSubscription = {
      isRenewal,
      target: undefined,
      listener: undefined,
      isOver: false,
      answer: asked.promise,
    };
    this.#subscriptions.set(uri, subscription);
    const answer = await this.#ask(uri, subscription, cancellation);
    if (answer.kind !== 'honoured' || cancellation.isCancelled) this.#forget(uri, subscription);
    const { telemetry } = relay.deps;
    asked.resolve(
      answer.kind === 'failed' && telemetry !== undefined
        ? failed(maskRefusal(answer.refusal, telemetry.mask))
        : answer,
    );
    return asked.promise;
  }

  unsubscribe(uri: string): void {
    const subscription = this.#subscriptions.get(uri);
    if (subscription !== undefined) this.#forget(uri, subscription);
  }

  /** The client has left or ended this channel. */
  end(): void {
    for (const uri of [...this.#subscriptions.keys()]) this.unsubscribe(uri);
  }

  async #ask(
    uri: string,
    subscription: ClientSubscription,
    cancellation: Cancellation,
  ): Promise<SubscriptionAnswer> {
    const { relay, view, onUpdate, client } = this.#options;
    const found = await view.resource(uri);
    if (!found.ok) return failed(found.error);
    const server = found.value;
    const stop = relay.deps.policy.findStop?.(server.spec.name);
    if (stop !== undefined) return failed({ code: 'CALL_STOPPED', stop });
    const up = await server.waitUntilReady(cancellation);
    if (!up.ok) return failed(up.error);
    if (subscription.isOver) return failed({ code: 'CANCELLED' });
    if (!declares(up.value.capabilities, 'resources', 'subscribe'))
      return failed({ code: 'SUBSCRIPTION_UNSUPPORTED', server: server.spec.name, uri });
    const isElsewhere = client.session?.hasProcess?.(server.spec.name) === false;
    if (subscription.isRenewal && isElsewhere)
      return failed({ code: 'SERVER_STATE_LOST', server: server.spec.name });
    const target = await targetOf(server, client, up.value);
    if (!target.ok) return failed(target.error);
    if (isOver(subscription)) {
      target.value.release();
      return failed({ code: 'CANCELLED' });
    }
    subscription.target = target.value;
    // Updates are dropped while the view hides the server or an operator has stopped it, and resume afterwards.
    subscription.listener = (...update) => {
      if (!view.servers.some(({ spec }) => spec.name === server.spec.name)) return;
      if (relay.deps.policy.findStop?.(server.spec.name) !== undefined) return;
      const labels = computeServerLabels(server.spec);
      void relay.deps.labels.add(client.subject, labels, `${server.spec.name} resources/subscribe`);
      onUpdate(...update);
    };
    const answer = await target.value.subscriptions.subscribe(uri, subscription.listener);
    if (isOver(subscription)) target.value.release();
    return answer;
  }

  #forget(uri: string, subscription: ClientSubscription): void {
    if (subscription.isOver) return;
    subscription.isOver = true;
    this.#subscriptions.delete(uri);
    this.#options.quota.giveBack();
    if (subscription.listener !== undefined)
      subscription.target?.subscriptions.unsubscribe(uri, subscription.listener);
    subscription.target?.release();
  }
}

/** The server's subscriptions to use for a client, until released. */
interface Target {
  readonly subscriptions: ResourceSubscriptions;
  release(): void;
}

async function targetOf(server: Server, client: LinkUser, link: Link): Promise<Result<Target, Refusal>> {
  const choice = chooseLink(client, server, link);
  if (choice.kind !== 'own') server.sharedRequests?.use(client);
  if (choice.kind !== 'own') return ok({ subscriptions: server.subscriptions, release: () => undefined });
  const taken = await server.privateLinks.take(
    { choice, session: client.session },
    { timeoutMs: server.spec.timeoutMs, cancellation: undefined },
  );
  if (!taken.ok) return taken;
  const { value: own } = taken;
  return ok({ subscriptions: own.subscriptions, release: once(() => own.release()) });
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (!isDone) work();
    isDone = true;
  };
}

function isOver(subscription: ClientSubscription): boolean {
  return subscription.isOver;
}

function failed(refusal: Refusal): SubscriptionAnswer {
  return { kind: 'failed', refusal };
}
