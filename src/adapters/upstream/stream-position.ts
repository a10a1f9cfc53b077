import type { SseParser } from '../../protocol/sse.ts';

/** A server that says nothing of it is asked again after so many ms, or more where it is asked in vain; at most after the longest. */
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** A server must be given the time that it asks for; more than this in ms is taken for a mistake. */
const LONGEST_ASKED_MS = 5 * 60_000;
/** Even one that asks for none is not asked in a circle without a pause. */
const LEAST_DOUBLED_MS = 50;
/** So many ids are kept to know an event that comes twice; what is replayed follows the last of them. */
const MOST_IDS = 4_096;
/** What can stand in a header as it is. */
const HEADER_SAFE = /^[!-~](?:[ -~]{0,1022}[!-~])?$/;

/**
 * How far one stream of events was read, over all the connections on which it comes
 * (2025-11-25, basic/transports#resumability-and-redelivery).
 */
export class StreamPosition {
  /** The connection on which each event came. */
  #seen: Map<string, number> | undefined;
  #connection = 0;
  #lastId: string | undefined;
  #retryMs: number | undefined;
  /** Connections in a row that brought nothing. */
  #vain = 0;

  /** The id after which the stream is to go on; undefined where it cannot. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  /** How long to wait now before the stream is opened again. */
  get waitMs(): number {
    const askedMs = Math.min(this.#retryMs ?? FIRST_WAIT_MS, LONGEST_ASKED_MS);
    if (this.#vain === 0) return askedMs;
    const doubledMs = Math.max(askedMs, LEAST_DOUBLED_MS) * 2 ** Math.min(this.#vain - 1, 16);
    return Math.max(askedMs, Math.min(doubledMs, LONGEST_WAIT_MS));
  }

  /** A connection is opened; it counts as one that brings nothing until it does. */
  begin(): void {
    this.#connection += 1;
    this.#vain += 1;
  }

  /** Something came, so that the next wait is a short one. */
  advance(): void {
    this.#vain = 0;
  }

  /** Takes over how far a connection was read. */
  follow({ lastId, retryMs }: Pick<SseParser, 'lastId' | 'retryMs'>): void {
    if (retryMs !== undefined) this.#retryMs = retryMs;
    if (lastId !== undefined) this.#lastId = HEADER_SAFE.test(lastId) ? lastId : undefined;
  }

  /** Whether an event did not come on an earlier connection. That ids differ on one is for the server to see to. */
  isNew(id: string | undefined): boolean {
    if (id === undefined || id === '') return true;
    const seen = (this.#seen ??= new Map<string, number>());
    const connection = seen.get(id) ?? this.#connection;
    seen.set(id, connection);
    if (seen.size > MOST_IDS) seen.delete(seen.keys().next().value ?? '');
    return connection === this.#connection;
  }

  /** The stream cannot go on where it was, so that it begins anew, if at all. */
  forget(): void {
    this.#lastId = undefined;
  }
}
