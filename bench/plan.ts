// The amount of work in a full run and in a quick one.

export interface Workload {
  readonly name: string;
  readonly payloadBytes: number;
  readonly concurrency: number;
}

export interface Plan {
  /** Many and short: a shared machine may change its speed from one second to the next, so ratios are taken within a round. */
  readonly rounds: number;
  readonly firstWarmUpMs: number;
  readonly warmUpMs: number;
  readonly cellMs: number;
  readonly listPasses: number;
  readonly startRounds: number;
  readonly lockRounds: number;
  readonly pageRounds: number;
  readonly replicaRounds: number;
  /** Long, as the system counts processor time in steps of 10 ms. */
  readonly replicaMs: number;
  readonly idleSettleMs: number;
  /** Size of the record of calls whose lists are measured. */
  readonly recordedCalls: number;
  /** Memory growth is measured between these two calls. */
  readonly growth: { readonly fromCall: number; readonly toCall: number };
}

export const FULL: Plan = {
  rounds: 24,
  firstWarmUpMs: 2_000,
  warmUpMs: 60,
  cellMs: 250,
  listPasses: 12,
  startRounds: 15,
  lockRounds: 15,
  pageRounds: 9,
  replicaRounds: 12,
  replicaMs: 8_000,
  idleSettleMs: 20_000,
  recordedCalls: 1_000_000,
  growth: { fromCall: 100_000, toCall: 400_000 },
};

export const QUICK: Plan = {
  rounds: 3,
  firstWarmUpMs: 400,
  warmUpMs: 80,
  cellMs: 240,
  listPasses: 3,
  startRounds: 5,
  lockRounds: 3,
  pageRounds: 3,
  replicaRounds: 3,
  replicaMs: 4_000,
  idleSettleMs: 20_000,
  recordedCalls: 50_000,
  growth: { fromCall: 4_000, toCall: 16_000 },
};

export const SMALL_BYTES = 100;
export const LARGE_BYTES = 100_000;

export const WORKLOADS: readonly Workload[] = [SMALL_BYTES, LARGE_BYTES].flatMap((payloadBytes) =>
  [1, 16, 64].map((concurrency) => ({
    name: workloadName(payloadBytes, concurrency),
    payloadBytes,
    concurrency,
  })),
);

export function workloadName(payloadBytes: number, concurrency: number): string {
  const size = payloadBytes >= 1000 ? `${String(payloadBytes / 1000)} kB` : `${String(payloadBytes)} B`;
  return `${size}, c=${String(concurrency)}`;
}
