import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

/** A result that was too large for its client, which can read it for a while. */
export interface StoredResult {
  /** SHA-256 of the id in its URI, in hexadecimal. */
  readonly hash: string;
  readonly subject: string;
  /** The token of the call, with which it is deleted. Empty if it is none of the store. */
  readonly tokenId: string;
  readonly endpoint: string;
  readonly server: string;
  /** The server's own name for the tool. */
  readonly tool: string;
  /** Its public name at the time of the call. */
  readonly publicName: string;
  /** Whether a person approved the call. */
  readonly isApproved: boolean;
  readonly expiresMs: number;
  /** JSON text of the result, as its server wrote it. */
  readonly bytes: Buffer;
}

export type StoredResultKey = Pick<StoredResult, 'hash' | 'subject' | 'tokenId' | 'endpoint'>;

export interface StoredResultBounds {
  readonly bytesPerSubject: number;
  readonly totalBytes: number;
}

export interface StoredResultStore {
  /**
   * Removes expired results, and the oldest ones that leave no room: first of the subject, then of all. Returns false if
   * it alone exceeds a bound.
   */
  addStoredResult(
    result: StoredResult,
    bounds: StoredResultBounds,
    nowMs: number,
  ): Promise<Result<boolean, Refusal>>;
  /** Undefined if there is none, it has expired, or it belongs to another subject, token or endpoint. */
  storedResult(wanted: StoredResultKey, nowMs: number): Promise<Result<StoredResult | undefined, Refusal>>;
  removeExpiredResults(nowMs: number): Promise<Result<undefined, Refusal>>;
}
