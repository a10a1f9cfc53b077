import type { RelayEnding, Tally, ToolOutcome } from '../../gateway/ports/telemetry.ts';

/** Upper bounds of the buckets for durations of requests, in seconds. */
export const BUCKETS_S: readonly number[] = [
  ...[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
];
/** Fewer, since there is a histogram for each tool. */
export const TOOL_BUCKETS_S: readonly number[] = [0.01, 0.05, 0.1, 0.5, 1, 2.5, 5, 10, 60];
/** For the store. */
export const STORE_BUCKETS_S: readonly number[] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10];

/** Durations, counted by bucket. */
export class Histogram {
  /** Upper bounds in seconds. */
  readonly bounds: readonly number[];
  readonly #boundsMs: Float64Array;
  /** Number of durations in each bucket alone, not cumulative; the last bucket is unbounded. */
  readonly buckets: Float64Array;
  sumMs = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#boundsMs = Float64Array.from(bounds, (bound) => bound * 1_000);
    this.buckets = new Float64Array(bounds.length + 1);
  }

  observe(durationMs: number): void {
    this.sumMs += durationMs;
    let bucket = 0;
    while (bucket < this.#boundsMs.length && durationMs > (this.#boundsMs[bucket] ?? 0)) bucket += 1;
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1;
  }
}

/** The counters of one method of one server. They are labelled and summed when metrics are requested. */
export class MethodTally implements Tally {
  readonly server: string;
  readonly method: string;
  readonly endings: Map<RelayEnding, number> = new Map<RelayEnding, number>([['ok', 0]]);
  readonly durations: Histogram = new Histogram(BUCKETS_S);
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
    this.inFlight -= 1;
    this.endings.set(ending, (this.endings.get(ending) ?? 0) + 1);
    this.durations.observe(performance.now() - beganMs);
  }
}

export const TOOL_OUTCOMES: readonly ToolOutcome[] = [
  'ok',
  'tool_error',
  'error',
  'input_required',
  'refused',
];

/** The counters of the calls of one tool. */
export class ToolTally {
  readonly server: string;
  /** The label, made from the name. */
  readonly tool: string;
  readonly outcomes: Readonly<Record<ToolOutcome, { count: number }>> = {
    ok: { count: 0 },
    tool_error: { count: 0 },
    error: { count: 0 },
    input_required: { count: 0 },
    refused: { count: 0 },
  };
  readonly durations: Histogram = new Histogram(TOOL_BUCKETS_S);

  constructor(server: string, tool: string) {
    this.server = server;
    this.tool = tool;
  }

  count(outcome: ToolOutcome, durationMs: number): void {
    this.outcomes[outcome].count += 1;
    this.durations.observe(durationMs);
  }
}
