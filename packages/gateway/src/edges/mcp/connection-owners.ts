import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import { LOCAL_USER, type Identity } from '../../core/subject.ts';

/**
 * The connections of modern clients without a token. Each owns the processes that were started for it: the name that a
 * client gives proves nothing.
 */
export class ConnectionOwners {
  readonly #ids = new WeakMap<Socket, string>();
  readonly #onGone: (id: string) => void;

  /** `onGone` is called when a connection that has an id is closed. */
  constructor(onGone: (id: string) => void) {
    this.#onGone = onGone;
  }

  /** Undefined for a client with a token, which is known by that. */
  getConnectionId(socket: Socket, identity: Identity): string | undefined {
    if (identity !== LOCAL_USER || socket.destroyed) return undefined;
    const known = this.#ids.get(socket);
    if (known !== undefined) return known;
    const id = randomUUID();
    this.#ids.set(socket, id);
    socket.once('close', () => this.#onGone(id));
    return id;
  }
}
