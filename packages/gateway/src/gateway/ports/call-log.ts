import type { BatchPage, CallBatch, StoredCall } from '../../core/activity/call-chain.ts';
import type { CallFacts, FinishedCall } from '../../core/activity/call-entry.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

/** Records calls that have ended. */
export interface CallLog {
  readonly arguments: 'none' | 'masked' | 'full';
  /** Never waits. If the store cannot keep up, calls are counted instead. */
  add(call: FinishedCall): void;
}

/** What to keep; older batches are removed, a bounded number with each write. */
export interface Retention {
  /** Removed are batches beyond this number of calls. */
  readonly maxCalls: number;
  /** Batches from before this time are removed. */
  readonly sinceMs: number;
}

/** Calls are ordered by id: the order in which they were written, a second at most after their end. */
export interface CallQuery extends CallFacts {
  /** Only this call. */
  readonly id?: number | undefined;
  /** Only calls before this one, newest first; if absent, from the newest. */
  readonly before?: number | undefined;
  /** Only calls after this one, oldest first. */
  readonly after?: number | undefined;
  readonly sinceMs?: number | undefined;
  readonly untilMs?: number | undefined;
  readonly limit: number;
}

export interface ListedCall extends StoredCall {
  /** The link of a hash chain that it belongs to. */
  readonly batch: { readonly chain: string; readonly number: number; readonly hash: string };
}

export interface CallPage {
  readonly calls: readonly ListedCall[];
  /** Calls up to this id were removed. */
  readonly prunedId: number;
  readonly lastId: number;
}

/** A span of time in slots of equal length. */
export interface CallSpan {
  /** The first minute, counted from the epoch. */
  readonly sinceMinute: number;
  readonly slotMinutes: number;
  readonly slotCount: number;
}

export interface CallCount {
  /** From 0. */
  readonly slot: number;
  readonly decision: string | undefined;
  readonly outcome: string;
  readonly count: number;
}

/** The part of a store that keeps the call record. Each method is one transaction. */
export interface CallStore {
  /** Appends a batch, unless an earlier try did, and removes old batches. Returns its hash. */
  addCalls(batch: CallBatch, retention: Retention): Promise<Result<string, Refusal>>;
  calls(query: CallQuery): Promise<Result<CallPage, Refusal>>;
  /** Whole batches after this position, oldest first. */
  callBatches(after: BatchPosition): Promise<Result<BatchPage, Refusal>>;
}

export interface BatchPosition {
  readonly lastBatch: number;
  readonly lastId: number;
}

export interface CallCountStore {
  /** Numbers of calls by slot, decision and outcome; combinations without calls are absent. */
  callCounts(span: CallSpan): Promise<Result<readonly CallCount[], Refusal>>;
}
