import type { RelayEnding, Tally } from '../../gateway/ports/telemetry.ts';

/** Upper bounds of the duration buckets, in seconds. */
export const BUCKETS_S: readonly number[] = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
];
const BUCKETS_MS = Float64Array.from(BUCKETS_S, (bound) => bound * 1_000);

/** The counters of one method of one server. They are labelled and summed when metrics are requested. */
export class MethodTally implements Tally {
  readonly server: string;
  readonly method: string;
  readonly endings: Map<RelayEnding, number> = new Map<RelayEnding, number>([['ok', 0]]);
  /** Number of calls in each bucket alone, not cumulative; the last bucket is unbounded. */
  readonly buckets: Float64Array = new Float64Array(BUCKETS_MS.length + 1);
  sumMs = 0;
  inFlight = 0;

  constructor(server: string, method: string) {
    this.server = server;
    this.method = method;
  }

  begin(): number {
    this.inFlight += 1;
    return performance.now();
  }

  end(ending: RelayEnding, beganMs: number): void {
    const durationMs = performance.now() - beganMs;
    this.inFlight -= 1;
    this.endings.set(ending, (this.endings.get(ending) ?? 0) + 1);
    this.sumMs += durationMs;
    let bucket = 0;
    while (bucket < BUCKETS_MS.length && durationMs > (BUCKETS_MS[bucket] ?? 0)) bucket += 1;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
  }
}
