import { sha256 } from '@assay-mcp/kit/digest';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import type {
  StoredResult,
  StoredResultBounds,
  StoredResultKey,
  StoredResultStore,
} from '../ports/stored-results.ts';

export interface StoredResultsOptions {
  /** Opens the store, or returns the open one. */
  readonly open: () => Promise<Result<StoredResultStore, Refusal>>;
  /** A new id of 128 random bits in base64url. */
  readonly createId: () => string;
  readonly nowMs: () => number;
  readonly ttlMs?: number | undefined;
  readonly bounds?: StoredResultBounds | undefined;
}

const TTL_MS = 15 * 60 * 1_000;
const MIB = 1024 * 1024;
const BOUNDS: StoredResultBounds = { bytesPerSubject: 64 * MIB, totalBytes: 512 * MIB };

const PREFIX = 'assay://results/';
const URI = /^assay:\/\/results\/([\w-]{22})$/;

/** The id in the URI of a stored result. Undefined for all other URIs. */
export function findStoredResultId(uri: string): string | undefined {
  return URI.exec(uri)?.[1];
}

/** Whole results of which clients got a part, in the store of all replicas, for a while. */
export class StoredResults {
  readonly #options: StoredResultsOptions;
  #timer: NodeJS.Timeout | undefined;
  #lastExpiresMs = 0;

  constructor(options: StoredResultsOptions) {
    this.#options = options;
  }

  get ttlMs(): number {
    return this.#options.ttlMs ?? TTL_MS;
  }

  /** Returns its URI. Undefined if it is larger than a subject may store. */
  async keep(result: Omit<StoredResult, 'hash' | 'expiresMs'>): Promise<Result<string | undefined, Refusal>> {
    const { open, createId, nowMs, bounds = BOUNDS } = this.#options;
    const store = await open();
    if (!store.ok) return store;
    const id = createId();
    const now = nowMs();
    const expiresMs = now + this.ttlMs;
    const added = await store.value.addStoredResult({ ...result, hash: sha256(id), expiresMs }, bounds, now);
    if (!added.ok) return added;
    this.#lastExpiresMs = Math.max(this.#lastExpiresMs, expiresMs);
    this.#removeLater();
    return ok(added.value ? PREFIX + id : undefined);
  }

  /** Undefined if there is none, or if it belongs to another caller or endpoint. */
  async find(
    id: string,
    key: Omit<StoredResultKey, 'hash'>,
  ): Promise<Result<StoredResult | undefined, Refusal>> {
    const { open, nowMs } = this.#options;
    const store = await open();
    return store.ok ? store.value.storedResult({ ...key, hash: sha256(id) }, nowMs()) : store;
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  /** Expired results are not read, and do not stay either if no other is stored. */
  #removeLater(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#removeExpired();
    }, this.ttlMs + 1).unref();
  }

  async #removeExpired(): Promise<void> {
    const { open, nowMs } = this.#options;
    const store = await open();
    if (store.ok) await store.value.removeExpiredResults(nowMs());
    if (this.#lastExpiresMs > nowMs()) this.#removeLater();
  }
}
