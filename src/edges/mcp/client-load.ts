import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Settings } from '../../core/settings.ts';
import { SubscriptionQuota } from '../../gateway/relay/client-subscriptions.ts';

/** Who a request of the modern era comes from, as far as limits go. */
export function clientOf({ socket }: IncomingMessage, subject: string): string {
  return `${subject} ${socket.remoteAddress ?? ''}`;
}

export type ClientLimits = Pick<Settings, 'limits.requestsPerClient' | 'limits.subscriptionsPerClient'>;

/**
 * The requests of one client that are under way. Each counts until its answer was handed over whole, or the connection is
 * gone, so that it also bounds what a client asks for and does not read.
 */
export class ClientLoad {
  readonly limit: number;
  /** Of resources of whose updates it is told, over all its streams. */
  readonly quota: SubscriptionQuota;
  #count = 0;

  constructor(limits: ClientLimits) {
    this.limit = limits['limits.requestsPerClient'];
    this.quota = new SubscriptionQuota(limits['limits.subscriptionsPerClient']);
  }

  get isIdle(): boolean {
    return this.#count === 0;
  }

  /** Takes as many of the wanted places as are free, and says how many; they are free again when the answer is closed. */
  take(response: ServerResponse, wanted: number): number {
    const taken = Math.min(wanted, this.limit - this.#count);
    if (taken === 0 || response.destroyed) return taken;
    this.#count += taken;
    response.on('close', taken === 1 ? this.#giveBack : () => (this.#count -= taken));
    return taken;
  }

  /** One function for all answers, as nearly all are to one request. */
  readonly #giveBack = (): void => {
    this.#count -= 1;
  };
}

/** From so many clients on, those without a request are forgotten. */
const MANY = 1_024;

/** The loads of clients that have no session. */
export class ClientLoads {
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
