import type { Socket } from 'node:net';
import { isJsonObject } from '../../core/json-object.ts';
import type { View } from '../../gateway/catalog/view.ts';
import { truncateText } from '../../core/shorten.ts';

/** The name and version that the client gives itself. */
export interface ClientIdentity {
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
export class RecentClients {
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
