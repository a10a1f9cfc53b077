import { setTimeout as delay } from 'node:timers/promises';
import { err, type Result } from '@assay-mcp/kit/result';
import type { EmbeddingFault } from './embedding-provider.ts';
import { computeBackoffMs } from '@assay-mcp/kit/backoff';

/** Time and randomness, so that tests are fast and deterministic. */
export interface Clock {
  now(): number;
  /** Resolves early on abort. */
  wait(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** From 0 to below 1. */
  random(): number;
}

export const SYSTEM_CLOCK: Clock = {
  now: () => performance.now(),
  wait: (ms, signal) => delay(ms, undefined, signal && { signal }).catch(() => undefined),
  random: () => Math.random(),
};

const MAX_ATTEMPTS = 5;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 8_000;
/** From the first attempt to the start of the last one. */
const MAX_TOTAL_MS = 90_000;

/**
 * Repeats a request that may succeed later: after a status of 429, 500, 502, 503 or 504, a lost connection or a
 * time-out. The wait doubles with each attempt, is shortened at random so that clients do not stay in step, and is
 * never less than the service asks for. A refused connection is not retried: nothing listens there.
 */
export async function withRetries<T>(
  attempt: () => Promise<Result<T, EmbeddingFault>>,
  clock: Clock,
  signal: AbortSignal | undefined,
): Promise<Result<T, EmbeddingFault>> {
  const startMs = clock.now();
  for (let count = 1; ; count += 1) {
    const result = await attempt();
    if (result.ok || !isTransient(result.error) || count === MAX_ATTEMPTS) return result;
    const backoff = { firstMs: FIRST_WAIT_MS, maxMs: LONGEST_WAIT_MS, chance: clock.random() };
    const waitMs = Math.max(computeBackoffMs(count, backoff), askedWaitMs(result.error));
    if (clock.now() - startMs + waitMs > MAX_TOTAL_MS) return result;
    await clock.wait(waitMs, signal);
    if (signal?.aborted === true) return err({ code: 'CANCELLED' });
  }
}

function askedWaitMs(fault: EmbeddingFault): number {
  return fault.code === 'STATUS' ? (fault.retryAfterMs ?? 0) : 0;
}

const TRANSIENT_STATUS: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);

function isTransient(fault: EmbeddingFault): boolean {
  switch (fault.code) {
    case 'STATUS':
      return TRANSIENT_STATUS.has(fault.status);
    case 'UNREACHABLE':
      return fault.fault.code === 'CONNECTION_CLOSED' || fault.fault.code === 'CONNECTION_TIMEOUT';
    case 'TIMED_OUT':
      return true;
    case 'ANSWER_TOO_LARGE':
    case 'ANSWER_INVALID':
    case 'CANCELLED':
      return false;
  }
}
