// The rounds: each runs every workload on every target, so that a slow minute affects all alike.
import type { LoadProcess } from './load-process.ts';
import { LARGE_BYTES, type Plan, SMALL_BYTES, type Workload, WORKLOADS } from './plan.ts';
import { cpuMsOf, cpuMsOfTrees } from './proc.ts';
import type { Started, Target } from './targets.ts';

/** Above this busy share, the load generator itself limits the measurement. */
export const SATURATED_SHARE = 0.9;

export interface Sample {
  readonly target: string;
  readonly workload: string;
  readonly round: number;
  readonly calls: number;
  readonly callsPerSecond: number;
  readonly proxyCpuMsPerCall: number | undefined;
  readonly allCpuMsPerCall: number | undefined;
  readonly loadCpuShare: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The first wrong answer; it invalidates the numbers beside it. */
  readonly flaw: string | undefined;
}

export interface Contender {
  readonly target: Target;
  readonly started: Started;
}

export async function measureCells(
  contenders: readonly Contender[],
  bench: { load: LoadProcess; plan: Plan; tell: (line: string) => void },
): Promise<readonly Sample[]> {
  const { load, plan, tell } = bench;
  for (const contender of contenders) {
    tell(`warming up ${contender.target.name}`);
    for (const workload of firstWorkloads(contender)) {
      const cellMs = plan.firstWarmUpMs / 2;
      await measureCell(contender, { load, workload, round: 0, warmUpMs: 0, cellMs });
    }
  }
  const samples: Sample[] = [];
  for (let round = 1; round <= plan.rounds; round += 1) {
    for (const workload of WORKLOADS) {
      tell(`round ${String(round)} of ${String(plan.rounds)}: ${workload.name}`);
      const meeting = contenders.filter((contender) => meets(contender, workload));
      // Consecutive measurements are compared, so the order alternates.
      for (const contender of round % 2 === 0 ? meeting.toReversed() : meeting) {
        const { warmUpMs, cellMs } = plan;
        const sample = await measureCell(contender, { load, workload, round, warmUpMs, cellMs });
        if (sample.flaw !== undefined) {
          tell(`VOID: ${sample.target}, ${sample.workload}: ${sample.flaw}`);
        }
        samples.push(sample);
      }
    }
  }
  return samples;
}

function firstWorkloads(contender: Contender): readonly Workload[] {
  return [SMALL_BYTES, LARGE_BYTES]
    .map((payloadBytes) => ({ name: 'warm-up', payloadBytes, concurrency: 16 }))
    .filter((workload) => meets(contender, workload));
}

function meets({ target }: Contender, workload: Workload): boolean {
  return target.onlySmall !== true || workload.payloadBytes === SMALL_BYTES;
}

async function measureCell(
  { target, started }: Contender,
  cell: {
    load: LoadProcess;
    workload: Workload;
    round: number;
    warmUpMs: number;
    cellMs: number;
  },
): Promise<Sample> {
  const { workload, round } = cell;
  let before = readCpu(started);
  const outcome = await cell.load.call(
    {
      kind: 'calls',
      endpoint: started.endpoint,
      streams: [{ era: target.era, tool: 'echo' }],
      concurrency: workload.concurrency,
      payloadBytes: workload.payloadBytes,
      warmUpMs: cell.warmUpMs,
      until: { ms: cell.cellMs },
    },
    () => (before = readCpu(started)),
  );
  const after = readCpu(started);
  const { calls } = outcome;
  return {
    target: target.name,
    workload: workload.name,
    round,
    calls,
    callsPerSecond: (calls / outcome.elapsedMs) * 1000,
    proxyCpuMsPerCall: perCall(after.proxyMs, before.proxyMs, calls),
    allCpuMsPerCall: perCall(after.allMs, before.allMs, calls),
    loadCpuShare: outcome.loadCpuMs / outcome.elapsedMs,
    p50Ms: outcome.p50Ms,
    p99Ms: outcome.p99Ms,
    flaw: outcome.flaw,
  };
}

interface CpuReading {
  readonly proxyMs: number | undefined;
  readonly allMs: number | undefined;
}

function readCpu({ proxy, behind }: Started): CpuReading {
  const roots = [...(proxy === undefined ? [] : [proxy]), ...behind].map(({ pid }) => pid);
  return {
    proxyMs: proxy === undefined ? undefined : cpuMsOf(proxy.pid),
    allMs: cpuMsOfTrees(roots),
  };
}

function perCall(
  afterMs: number | undefined,
  beforeMs: number | undefined,
  calls: number,
): number | undefined {
  if (afterMs === undefined || beforeMs === undefined || calls === 0) return undefined;
  return (afterMs - beforeMs) / calls;
}
