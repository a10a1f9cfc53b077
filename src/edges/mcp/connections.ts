import type { Server as HttpServer, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Settings } from '../../core/settings.ts';
import type { Log } from '../../gateway/ports.ts';

export interface ConnectionsOptions {
  readonly limits: Pick<Settings, 'limits.connections' | 'limits.unreadMs'>;
  readonly log: Log;
}

interface Connection {
  readonly socket: Socket;
  /** Answers that are not closed yet, in the order of their requests. */
  readonly responses: ServerResponse[];
  hasServed: boolean;
  /** When it last changed between idle and busy, counted in such changes of all connections. */
  changedAt: number;
}

/** Time in ms within which refusals are told once. */
const TELL_EVERY_MS = 60_000;

/**
 * The connections of clients. When all are taken a new one gets the place of the one that is needed least, so that who
 * opens many and says nothing locks nobody out. A client that takes nothing of what waits for it loses its connection.
 */
export class Connections {
  readonly #options: ConnectionsOptions;
  readonly #open = new Map<Socket, Connection>();
  #changes = 0;
  #refused = 0;
  #telling: NodeJS.Timeout | undefined;

  constructor(options: ConnectionsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#open.size;
  }

  /** Takes care of the connections of a server that does not listen yet. */
  watch(server: HttpServer): void {
    // Node tells of a connection on which nothing moved for so long; of its own idle ones, too.
    server.setTimeout(this.#options.limits['limits.unreadMs']);
    server.on('timeout', (socket: Socket) => this.#stoodStill(socket));
    server.on('connection', (socket) => this.#came(socket));
    server.prependListener('request', ({ socket }, response) => this.#began(socket, response));
  }

  #came(socket: Socket): void {
    if (this.#open.size >= this.#options.limits['limits.connections'] && !this.#makeRoom()) {
      socket.destroy();
      this.#refuse();
      return;
    }
    const connection: Connection = {
      socket,
      responses: [],
      hasServed: false,
      changedAt: ++this.#changes,
    };
    this.#open.set(socket, connection);
    socket.once('close', () => {
      this.#open.delete(socket);
      // Older Node tells the end of a connection only to the answer whose turn it was, not to those behind it.
      if (connection.responses.length > 0)
        setImmediate(() => connection.responses.splice(0).forEach((response) => response.emit('close')));
    });
  }

  #began(socket: Socket, response: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection === undefined) return;
    connection.responses.push(response);
    connection.changedAt = ++this.#changes;
    response.on('close', () => this.#ended(connection, response));
  }

  #ended(connection: Connection, response: ServerResponse): void {
    const at = connection.responses.indexOf(response);
    if (at >= 0) connection.responses.splice(at, 1);
    connection.hasServed = true;
    connection.changedAt = ++this.#changes;
  }

  /** A client that only waits for us may stand still, and one that has not asked yet has a time limit of its own. */
  #stoodStill(socket: Socket): void {
    const connection = this.#open.get(socket);
    const isKept = connection === undefined || (connection.hasServed && connection.responses.length === 0);
    if (isKept || socket.writableLength > 0) socket.destroy();
  }

  /** Closes the connection that is needed least; false where all are in use. */
  #makeRoom(): boolean {
    const longest: Partial<Record<Need, Connection>> = {};
    let unproven = 0;
    for (const connection of this.#open.values()) {
      const need = needOf(connection);
      if (need === 'unproven') unproven += 1;
      if (connection.changedAt < (longest[need]?.changedAt ?? Infinity)) longest[need] = connection;
    }
    // A few are on their way to their first request at any time; more than that are a flood, and go first.
    const isFlood = unproven > this.#options.limits['limits.connections'] / 10;
    const least =
      (isFlood ? longest.unproven : undefined) ?? longest.idle ?? longest.unproven ?? longest.sending;
    if (least === undefined) return false;
    this.#open.delete(least.socket);
    least.socket.destroy();
    return true;
  }

  #refuse(): void {
    this.#refused += 1;
    if (this.#telling !== undefined) return;
    this.#tell();
    this.#telling = setInterval(() => this.#tell(), TELL_EVERY_MS).unref();
  }

  #tell(): void {
    if (this.#refused === 0) {
      clearInterval(this.#telling);
      this.#telling = undefined;
      return;
    }
    const { limits, log } = this.#options;
    const most = limits['limits.connections'];
    log.warn('connections were refused, as all are in use', { refused: this.#refused, most });
    this.#refused = 0;
  }
}

/** `unproven`: no request of it ever arrived whole. `sending`: it had one, and its next has not arrived whole. */
type Need = 'unproven' | 'idle' | 'sending' | 'in use';

function needOf({ responses, hasServed }: Connection): Need {
  if (responses.some(({ req }) => req.complete)) return 'in use';
  if (!hasServed) return 'unproven';
  return responses.length === 0 ? 'idle' : 'sending';
}
