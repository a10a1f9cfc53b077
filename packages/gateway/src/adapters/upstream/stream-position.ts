import type { SseParser } from '@assay-mcp/protocol/sse';
import { computeBackoffMs } from '@assay-mcp/kit/backoff';

/** Delay in ms before reconnecting if the server names none; doubles up to the maximum after failed attempts. */
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 30_000;
/** Maximum delay in ms that a server may ask for; anything longer is treated as a mistake. */
const MAX_REQUESTED_MS = 5 * 60_000;
/** Minimum delay that is doubled, so that a server asking for 0 ms does not cause a tight loop. */
const MIN_DOUBLED_MS = 50;
/** Maximum number of ids kept to detect duplicate events; replays follow the last of them. */
const MAX_IDS = 4_096;
/** Ids that need no escaping in a header. */
const HEADER_SAFE = /^[!-~](?:[ -~]{0,1022}[!-~])?$/;

/**
 * How far one stream of events was read, across all its connections
 * (2025-11-25, basic/transports#resumability-and-redelivery).
 */
export class StreamPosition {
  /** The connection on which each event arrived, by id. */
  #seen: Map<string, number> | undefined;
  #connection = 0;
  #lastId: string | undefined;
  #retryMs: number | undefined;
  /** Number of connections in a row that delivered nothing. */
  #vain = 0;

  /** The id to resume after; undefined if the stream cannot be resumed. */
  get lastId(): string | undefined {
    return this.#lastId;
  }

  /** Time in ms to wait before the stream is reopened. */
  get waitMs(): number {
    const askedMs = Math.min(this.#retryMs ?? FIRST_WAIT_MS, MAX_REQUESTED_MS);
    if (this.#vain === 0) return askedMs;
    const firstMs = Math.max(askedMs, MIN_DOUBLED_MS);
    return Math.max(askedMs, computeBackoffMs(this.#vain, { firstMs, maxMs: MAX_WAIT_MS }));
  }

  /** A connection is being opened; it counts as one without events until the first arrives. */
  begin(): void {
    this.#connection += 1;
    this.#vain += 1;
  }

  /** Something arrived, so the next wait is short. */
  advance(): void {
    this.#vain = 0;
  }

  /** Takes over the position of a connection's parser. */
  follow({ lastId, retryMs }: Pick<SseParser, 'lastId' | 'retryMs'>): void {
    if (retryMs !== undefined) this.#retryMs = retryMs;
    if (lastId !== undefined) this.#lastId = HEADER_SAFE.test(lastId) ? lastId : undefined;
  }

  /** Whether an event did not arrive on an earlier connection. Unique ids within one are up to the server. */
  isNew(id: string | undefined): boolean {
    if (id === undefined || id === '') return true;
    const seen = (this.#seen ??= new Map<string, number>());
    const connection = seen.get(id) ?? this.#connection;
    seen.set(id, connection);
    if (seen.size > MAX_IDS) seen.delete(seen.keys().next().value ?? '');
    return connection === this.#connection;
  }

  /** The stream cannot be resumed; if it is opened again, it starts over. */
  forget(): void {
    this.#lastId = undefined;
  }
}
