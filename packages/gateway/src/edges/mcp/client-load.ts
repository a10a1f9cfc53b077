import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import { isJsonObject } from '@assay-mcp/kit/json-object';
import type { Settings } from '../../core/settings.ts';
import { truncateText } from '@assay-mcp/kit/shorten';
import type { View } from '../../gateway/catalog/view.ts';
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

/** The name and version that the client gives itself. */
interface ClientIdentity {
  readonly name: string;
  readonly version?: string;
}

/** A modern client that made a request recently. It has no session, and a stream only if it requests one. */
export interface RecentClient {
  readonly view: View;
  readonly identity: ClientIdentity;
  readonly subject: string;
  lastUsedMs: number;
}

/** After this many ms without a request, a client counts as gone. */
const FORGOTTEN_AFTER_MS = 600_000;
const MAX_CLIENTS = 500;

/** The modern clients of the last ten minutes, for operators. */
class RecentClients {
  readonly #byKey = new Map<string, RecentClient>();
  /** The client of each connection, cached: reading each envelope would cost more. */
  readonly #bySocket = new WeakMap<Socket, RecentClient>();

  /** Records a request. `clientInfo` is read only from the first one of a connection to an endpoint. */
  seen(
    socket: Socket,
    { view, subject }: Pick<RecentClient, 'view' | 'subject'>,
    clientInfo: () => string | undefined,
  ): void {
    const nowMs = performance.now();
    const last = this.#bySocket.get(socket);
    if (last?.view === view && last.subject === subject) {
      last.lastUsedMs = nowMs;
      return;
    }
    const client = this.#add({
      view,
      subject,
      identity: parseClientIdentity(clientInfo()),
      lastUsedMs: nowMs,
    });
    this.#bySocket.set(socket, client);
  }

  get all(): readonly RecentClient[] {
    const sinceMs = performance.now() - FORGOTTEN_AFTER_MS;
    return [...this.#byKey.values()].filter(({ lastUsedMs }) => lastUsedMs >= sinceMs);
  }

  #add(client: RecentClient): RecentClient {
    const { identity, subject, view } = client;
    const key = JSON.stringify([view.endpoint, subject, identity.name, identity.version]);
    const known = this.#byKey.get(key);
    if (known !== undefined) {
      known.lastUsedMs = client.lastUsedMs;
      return known;
    }
    this.#byKey.set(key, client);
    if (this.#byKey.size > MAX_CLIENTS) this.#forgetOldest();
    return client;
  }

  #forgetOldest(): void {
    const kept = [...this.#byKey]
      .toSorted(([, a], [, b]) => b.lastUsedMs - a.lastUsedMs)
      .slice(0, MAX_CLIENTS / 2);
    this.#byKey.clear();
    for (const [key, client] of kept) this.#byKey.set(key, client);
  }
}

const MAX_NAME_LENGTH = 80;

/** Reads the client's JSON text with its name and version. */
export function parseClientIdentity(clientInfo: string | undefined): ClientIdentity {
  const info: unknown = clientInfo === undefined ? undefined : JSON.parse(clientInfo);
  const { name, version } = isJsonObject(info) ? info : {};
  return {
    name: typeof name === 'string' ? truncateText(name, MAX_NAME_LENGTH) : 'unknown',
    ...(typeof version === 'string' && { version: truncateText(version, MAX_NAME_LENGTH) }),
  };
}
