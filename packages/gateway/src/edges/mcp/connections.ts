import type { Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { chooseEviction } from '../../core/fair-share.ts';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Settings } from '../../core/settings.ts';
import { allows, type Holder, type Identity } from '../../core/subject.ts';
import { skipTurn } from '@assay-mcp/kit/turns';
import type { Log } from '../../gateway/ports/log.ts';
import { guardCallback } from '@assay-mcp/kit/platform/guarded';

export interface ConnectionsOptions {
  readonly limits: Pick<Settings, 'limits.connections'> &
    Partial<Pick<FixedLimits, 'adminConnections' | 'unreadMs'>>;
  readonly log: Log;
  readonly onAdmitted?: ((response: ServerResponse, identity: Identity) => void) | undefined;
}

interface Exchange {
  readonly response: ServerResponse;
  readonly beganMs: number;
  /** Undefined if the request was not admitted, or not yet. */
  holder: Holder | undefined;
}

interface Connection {
  readonly socket: Socket;
  /** Exchanges whose responses are not closed yet, in request order. */
  readonly exchanges: Exchange[];
  hasServed: boolean;
  /** When it last changed between idle and busy, as a sequence number over all connections. */
  changedAt: number;
  /** The connections of the subject last admitted on this one, if any. */
  owner: Owner | undefined;
}

/** The connections of one subject. */
interface Owner {
  readonly subject: string;
  readonly isAdmin: boolean;
  readonly connections: Set<Connection>;
}

/** Refusals are logged at most once in this many ms. */
const LOG_INTERVAL_MS = 60_000;
/** When its token is revoked, an exchange is cut off after this many ms even if its response has not begun. */
const LAST_ANSWER_MS = 2_000;

/**
 * The connections of clients. The owner of a connection is known only from its first request, so a few more than
 * `limits.connections` may be open, and administrators may keep those. When subjects use up the limit, the one with the
 * most connections makes room. A client that does not read its pending responses is disconnected.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  /** By subject; administrators have separate entries. */
  readonly #owners = new Map<string, Owner>();
  /** Connections of subjects that are not administrators. */
  #ordinary = 0;
  #changes = 0;
  #refused = 0;
  #logTimer: NodeJS.Timeout | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** The refusal for clients that are not admitted. */
  get limit(): Refusal {
    return { code: 'CONNECTION_LIMIT', limit: this.#options.limits['limits.connections'] };
  }

  /** Tracks the connections of a server; call it before the server listens. */
  watch(server: HttpServer): void {
    // Node reports connections without traffic for this long, including idle ones.
    server.setTimeout(this.#options.limits.unreadMs ?? FIXED_LIMITS.unreadMs);
    const forSocket =
      <A extends readonly unknown[]>(handle: (socket: Socket, ...rest: A) => void) =>
      (socket: Socket, ...rest: A): void =>
        guardCallback({ name: 'client', end: () => void socket.destroy() }, handle)(socket, ...rest);
    const onRequest = forSocket((socket, response: ServerResponse) => this.#onRequest(socket, response));
    server.on(
      'timeout',
      forSocket((socket) => this.#onTimeout(socket)),
    );
    server.on(
      'connection',
      forSocket((socket) => this.#onConnection(socket)),
    );
    server.prependListener('request', ({ socket }, response) => onRequest(socket, response));
  }

  /** Admits a request under this identity. Returns false if the subject may not have another connection. */
  admit(response: ServerResponse, identity: Identity): boolean {
    this.#options.onAdmitted?.(response, identity);
    const connection = this.#open.get(response.req.socket);
    const exchange = connection?.exchanges.find((one) => one.response === response);
    if (connection === undefined || exchange === undefined) return true;
    const isAdmin = allows(identity, 'admin');
    const { owner } = connection;
    const isOwner = owner?.subject === identity.subject && owner.isAdmin === isAdmin;
    if (!isOwner && !this.#assignOwner(connection, identity.subject, isAdmin)) {
      this.#countRefused();
      return false;
    }
    exchange.holder = identity;
    return true;
  }

  /** Cuts off exchanges whose holder is no longer valid. */
  endOthers(isHolder: (holder: Holder) => boolean): void {
    const nowMs = performance.now();
    for (const { exchanges } of this.#open.values())
      for (const { response, beganMs, holder } of [...exchanges]) {
        const isInFlight = response.headersSent || nowMs - beganMs > LAST_ANSWER_MS;
        if (holder !== undefined && isInFlight && !response.writableEnded && !isHolder(holder))
          response.destroy();
      }
  }

  #onConnection(socket: Socket): void {
    skipTurn();
    const { 'limits.connections': max, adminConnections: reserve = FIXED_LIMITS.adminConnections } =
      this.#options.limits;
    if (this.#open.size >= max + reserve && !this.#evictAny()) {
      socket.destroy();
      this.#countRefused();
      return;
    }
    const connection: Connection = {
      socket,
      exchanges: [],
      hasServed: false,
      changedAt: ++this.#changes,
      owner: undefined,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#forget(connection);
      // Older Node versions emit `close` only on the response being sent, not on those queued behind it.
      if (connection.exchanges.length > 0)
        setImmediate(() => connection.exchanges.splice(0).forEach(({ response }) => response.emit('close')));
    });
  }

  #onRequest(socket: Socket, response: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    const exchange: Exchange = { response, beganMs: performance.now(), holder: undefined };
    connection.exchanges.push(exchange);
    connection.changedAt = ++this.#changes;
    response.on('close', () => this.#onResponseClosed(connection, exchange));
  }

  #onResponseClosed(connection: Connection, exchange: Exchange): void {
    const at = connection.exchanges.indexOf(exchange);
    if (at >= 0) connection.exchanges.splice(at, 1);
    connection.hasServed = true;
    connection.changedAt = ++this.#changes;
  }

  /** A client may be silent while it waits for us. A separate time limit applies until its first request. */
  #onTimeout(socket: Socket): void {
    const connection = this.#open.get(socket);
    const isKept = connection === undefined || (connection.hasServed && connection.exchanges.length === 0);
    if (isKept || socket.writableLength > 0) socket.destroy();
  }

  #assignOwner(connection: Connection, subject: string, isAdmin: boolean): boolean {
    const before = connection.owner;
    this.#clearOwner(connection);
    const max = this.#options.limits['limits.connections'];
    if (!isAdmin && this.#ordinary >= max && !this.#evictFor(subject)) {
      if (before !== undefined) this.#setOwner(connection, before);
      return false;
    }
    const key = keyOf(subject, isAdmin);
    const owner = this.#owners.get(key) ?? { subject, isAdmin, connections: new Set() };
    this.#owners.set(key, owner);
    this.#setOwner(connection, owner);
    return true;
  }

  #setOwner(connection: Connection, owner: Owner): void {
    connection.owner = owner;
    owner.connections.add(connection);
    if (!owner.isAdmin) this.#ordinary += 1;
  }

  #clearOwner(connection: Connection): void {
    const { owner } = connection;
    if (owner?.connections.delete(connection) !== true) return;
    connection.owner = undefined;
    if (!owner.isAdmin) this.#ordinary -= 1;
    if (owner.connections.size === 0) this.#owners.delete(keyOf(owner.subject, owner.isAdmin));
  }

  /** Makes room for a connection whose owner is unknown: closes one without an owner, else an idle one. */
  #evictAny(): boolean {
    const unowned = [...this.#open.values()].filter(({ owner }) => owner === undefined);
    return this.#close(this.#leastNeeded(unowned) ?? this.#leastNeeded(this.#open.values()));
  }

  /** Makes room for another connection of this subject. Closes one in use only if its subject has far more of them. */
  #evictFor(subject: string): boolean {
    const counts = new Map<string, number>();
    for (const owner of this.#owners.values())
      if (!owner.isAdmin) counts.set(owner.subject, owner.connections.size);
    const candidate = chooseEviction(counts, subject);
    const connections = this.#owners.get(keyOf(candidate.subject, false))?.connections ?? [];
    const oldest = candidate.mayEvictInUse ? oldestOf(connections) : undefined;
    return this.#close(this.#leastNeeded(connections) ?? oldest);
  }

  /** The connection needed least. Undefined if all are in use. */
  #leastNeeded(connections: Iterable<Connection>): Connection | undefined {
    const longest: Partial<Record<Need, Connection>> = {};
    let unproven = 0;
    for (const connection of connections) {
      const need = needOf(connection);
      if (need === 'unproven') unproven += 1;
      if (connection.changedAt < (longest[need]?.changedAt ?? Infinity)) longest[need] = connection;
    }
    // A few are always waiting for their first request. More than that are a flood and go first.
    const isFlood = unproven > this.#options.limits['limits.connections'] / 10;
    return (isFlood ? longest.unproven : undefined) ?? longest.idle ?? longest.unproven ?? longest.sending;
  }

  #close(connection: Connection | undefined): boolean {
    if (connection === undefined) return false;
    this.#forget(connection);
    connection.socket.destroy();
    return true;
  }

  #forget(connection: Connection): void {
    this.#open.delete(connection.socket);
    this.#clearOwner(connection);
  }

  #countRefused(): void {
    this.#refused += 1;
    if (this.#logTimer !== undefined) return;
    this.#logRefused();
    this.#logTimer = setInterval(() => this.#logRefused(), LOG_INTERVAL_MS).unref();
  }

  #logRefused(): void {
    if (this.#refused === 0) {
      clearInterval(this.#logTimer);
      this.#logTimer = undefined;
      return;
    }
    const { limits, log } = this.#options;
    const max = limits['limits.connections'];
    log.warn('connections were refused, as all are in use', { refused: this.#refused, max });
    this.#refused = 0;
  }
}

function keyOf(subject: string, isAdmin: boolean): string {
  return `${isAdmin ? 'admin' : 'other'} ${subject}`;
}

function oldestOf(connections: Iterable<Connection>): Connection | undefined {
  let oldest: Connection | undefined;
  for (const connection of connections)
    if (connection.changedAt < (oldest?.changedAt ?? Infinity)) oldest = connection;
  return oldest;
}

/** `unproven`: no complete request has arrived. `sending`: its next request has not arrived completely. */
type Need = 'unproven' | 'idle' | 'sending' | 'in_use';

function needOf({ exchanges, hasServed }: Connection): Need {
  if (exchanges.some(({ response }) => response.req.complete)) return 'in_use';
  if (!hasServed) return 'unproven';
  return exchanges.length === 0 ? 'idle' : 'sending';
}
