import type { IncomingMessage, ServerResponse } from 'node:http';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import type { Settings } from '../../core/settings.ts';
import { RecentClients } from './recent-clients.ts';
import { SubscriptionQuota } from '../../gateway/relay/client-subscriptions.ts';

/** Identifies the client of a modern request for limits. */
export function getLimitKey({ socket }: IncomingMessage, subject: string): string {
  return `${subject} ${socket.remoteAddress ?? ''}`;
}

export type ClientLimits = Pick<Settings, 'limits.requestsPerClient'> &
  Partial<Pick<FixedLimits, 'subscriptionsPerClient'>>;

/**
 * The requests in progress of one client. Each counts until its response is fully sent or the connection is lost. This
 * also limits requests whose responses the client does not read.
 */
export class ClientLoad {
  readonly limit: number;
  /** Limits subscribed resources across all streams of the client. */
  readonly quota: SubscriptionQuota;
  #count = 0;

  constructor(limits: ClientLimits) {
    this.limit = limits['limits.requestsPerClient'];
    this.quota = new SubscriptionQuota(limits.subscriptionsPerClient ?? FIXED_LIMITS.subscriptionsPerClient);
  }

  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** Takes up to `wanted` free slots and returns how many it took. Closing the response frees them. */
  take(response: ServerResponse, wanted: number): number {
    const taken = Math.min(wanted, this.limit - this.#count);
    if (taken === 0 || response.destroyed) return taken;
    this.#count += taken;
    response.on('close', taken === 1 ? this.#giveBack : () => (this.#count -= taken));
    return taken;
  }

  /** Shared by all responses, since nearly all of them answer a single request. */
  readonly #giveBack = (): void => {
    this.#count -= 1;
  };
}

/** Above this number of clients, those without a request are forgotten. */
const MANY = 1_024;

/** The loads of clients without a session, and their identities. */
export class ClientLoads {
  /** Shown to operators. */
  readonly recent: RecentClients = new RecentClients();
  readonly #limits: ClientLimits;
  readonly #loads = new Map<string, ClientLoad>();

  constructor(limits: ClientLimits) {
    this.#limits = limits;
  }

  of(client: string): ClientLoad {
    const known = this.#loads.get(client);
    if (known !== undefined) return known;
    if (this.#loads.size >= MANY)
      for (const [name, { isIdle }] of this.#loads) if (isIdle) this.#loads.delete(name);
    const load = new ClientLoad(this.#limits);
    this.#loads.set(client, load);
    return load;
  }
}
