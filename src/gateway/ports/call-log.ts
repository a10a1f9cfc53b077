import type { CallFacts, FinishedCall } from '../../core/activity/call-entry.ts';
import type { ChainBounds, EntryBatch, StoredEntry } from '../../core/activity/call-chain.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';

/** Records calls that have ended. */
export interface CallLog {
  readonly arguments: 'none' | 'masked' | 'full';
  /** Never waits. If the store cannot keep up, calls are counted instead. */
  add(call: FinishedCall): void;
}

/** What to keep; older entries are removed, a bounded number with each write. */
export interface Retention {
  readonly maxCalls: number;
  /** Entries from before this time are removed. */
  readonly sinceMs: number;
}

export interface CallQuery extends CallFacts {
  /** Only entries with smaller ids, newest first; if absent, from the newest. */
  readonly before?: number | undefined;
  /** Only entries with larger ids, oldest first. */
  readonly after?: number | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly limit: number;
}

export interface CallPage extends ChainBounds {
  readonly entries: readonly StoredEntry[];
}

/** A span of time in slots of equal length, the first of which begins at `sinceMs`. */
export interface CallSpan {
  readonly sinceMs: number;
  readonly slotMs: number;
  readonly slotCount: number;
}

export interface CallCount {
  /** From 0. */
  readonly slot: number;
  readonly decision: string | undefined;
  readonly outcome: string | undefined;
  readonly count: number;
}

/** The part of a store that keeps the call record. Each method is one transaction. */
export interface CallStore {
  /**
   * Appends entries and removes old ones. Skips entries that an earlier try already appended. Returns the hash of the
   * last entry.
   */
  addCalls(batch: EntryBatch, retention: Retention): Promise<Result<string, Refusal>>;
  calls(query: CallQuery): Promise<Result<CallPage, Refusal>>;
}

export interface CallCountStore {
  /** Numbers of calls by slot, decision and outcome; combinations without calls are absent. */
  callCounts(span: CallSpan): Promise<Result<readonly CallCount[], Refusal>>;
}
