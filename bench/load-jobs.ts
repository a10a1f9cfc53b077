// The messages between the bench and its load process.
import type { Era } from './messages.ts';

export interface Stream {
  readonly era: Era;
  readonly tool: string;
  /** Sent with each call. */
  readonly token?: string;
}

/** Calls until the time or the number is reached; the streams are assigned to concurrent slots in turn. */
export interface CallsJob {
  readonly kind: 'calls';
  readonly endpoint: string;
  /** Further endpoints of the same tools; the concurrent slots are assigned to all of them in turn. */
  readonly others?: readonly string[];
  readonly streams: readonly Stream[];
  readonly concurrency: number;
  /**
   * Each slot starts a call at this interval in ms, later only if the previous one is still unanswered; the latency of
   * a late call counts from when it was due. If absent, each slot calls as soon as it gets its answer.
   */
  readonly intervalMs?: number;
  readonly payloadBytes: number;
  readonly warmUpMs: number;
  readonly until: { readonly ms: number } | { readonly calls: number };
}

/** Lists all pages of the endpoint, each beside the same bytes from `plainOrigin`. */
export interface PagesJob {
  readonly kind: 'pages';
  readonly endpoint: string;
  readonly plainOrigin: string;
  readonly passes: number;
}

export type Job = CallsJob | PagesJob;

export interface CallsOutcome {
  readonly calls: number;
  readonly elapsedMs: number;
  readonly loadCpuMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly flaw: string | undefined;
}

export interface PagesOutcome {
  readonly listedMs: readonly number[];
  readonly plainMs: readonly number[];
}

/** `warm` asks the bench to read its counters; the measured part starts with `go`. */
export type FromLoad =
  | { readonly kind: 'warm' }
  | { readonly kind: 'calls-done'; readonly outcome: CallsOutcome }
  | { readonly kind: 'pages-done'; readonly outcome: PagesOutcome }
  | { readonly kind: 'failed'; readonly reason: string };

export type ToLoad = { readonly kind: 'go' } | { readonly kind: 'job'; readonly job: Job };
