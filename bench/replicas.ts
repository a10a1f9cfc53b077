// The processor time of a call with three gateways on one PostgreSQL, of that with one.
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { startPostgresServer } from '../test/support/postgres-server.ts';
import type { CallsJob } from './load-jobs.ts';
import type { LoadProcess } from './load-process.ts';
import { SMALL_BYTES, type Plan } from './plan.ts';
import { cpuMsOf } from './proc.ts';
import type { Running } from './processes.ts';
import { median } from './statistics.ts';
import { type Place, untilEchoes } from './targets.ts';

const REPLICAS = 3;
/** 300 calls per second and gateway, far from saturation: each caller has a call every 50 ms. */
const CALLERS = 15;
const INTERVAL_MS = 50;
const FIRST_WARM_UP_MS = 5_000;
const WARM_UP_MS = 500;

/** CPU per call of all gateway processes together, without PostgreSQL and the server behind them. */
export interface ReplicaRound {
  readonly oneMs: number;
  /** Three gateways share the calls that the one had. */
  readonly sharedMs: number;
  /** Each of three gateways has as many calls as the one. */
  readonly eachMs: number;
}

export interface ReplicaCost {
  readonly callsPerSecond: number;
  readonly rounds: readonly ReplicaRound[];
  /** Per second without calls, of one gateway. */
  readonly idleCpuMs: number;
}

export function replicaRatio(
  rounds: readonly ReplicaRound[],
  three: (round: ReplicaRound) => number,
): number | undefined {
  return median(rounds.map((round) => three(round) / round.oneMs));
}

interface Group {
  readonly endpoints: readonly string[];
  readonly gateways: readonly Running[];
}

/** Rejects on a wrong answer. Both groups run all the time, and are loaded in turn. */
export async function measureReplicas(
  place: Place,
  { load, plan }: { readonly load: LoadProcess; readonly plan: Plan },
): Promise<ReplicaCost> {
  const postgres = await startPostgresServer();
  try {
    const one = await startGroup(place, { url: await createDatabase(postgres.url, 'one'), count: 1 });
    const three = await startGroup(place, {
      url: await createDatabase(postgres.url, 'three'),
      count: REPLICAS,
    });
    const loads = {
      oneMs: { group: one, callers: CALLERS },
      sharedMs: { group: three, callers: CALLERS },
      eachMs: { group: three, callers: CALLERS * REPLICAS },
    };
    for (const each of [loads.oneMs, loads.eachMs])
      await cpuMsPerCall(load, { ...each, ms: FIRST_WARM_UP_MS });
    const rounds: ReplicaRound[] = [];
    const names = ['oneMs', 'sharedMs', 'eachMs'] as const;
    for (let round = 0; round < plan.replicaRounds; round += 1) {
      const measured = { oneMs: NaN, sharedMs: NaN, eachMs: NaN };
      for (const name of round % 2 === 0 ? names : names.toReversed())
        measured[name] = await cpuMsPerCall(load, { ...loads[name], ms: plan.replicaMs });
      rounds.push(measured);
    }
    const idleBefore = cpuMsOfAll(three);
    await sleep(plan.replicaMs);
    const idleCpuMs = ((cpuMsOfAll(three) - idleBefore) / plan.replicaMs / REPLICAS) * 1_000;
    for (const gateway of [...one.gateways, ...three.gateways]) gateway.end();
    return { callsPerSecond: (CALLERS * 1_000) / INTERVAL_MS, rounds, idleCpuMs };
  } finally {
    await postgres.stop();
  }
}

async function startGroup(
  place: Place,
  { url, count }: { readonly url: string; readonly count: number },
): Promise<Group> {
  const echo = await place.echo(10);
  const config = { mcpServers: { echo: { url: echo.endpoint, prefix: false } } };
  const env = {
    ASSAY_DATABASE_URL: url,
    ASSAY_ENCRYPTION_KEY: randomBytes(32).toString('base64'),
  };
  const started = [];
  for (let at = 1; at <= count; at += 1) {
    const assay = await place.assay(`replica-${String(at)}-of-${String(count)}`, config, { env });
    const { endpoint, running } = assay;
    await untilEchoes({ endpoint, proxy: running, behind: [echo.running] }, 'modern', 'echo');
    started.push(assay);
  }
  return {
    endpoints: started.map(({ endpoint }) => endpoint),
    gateways: started.map(({ running }) => running),
  };
}

async function cpuMsPerCall(
  load: LoadProcess,
  { group, callers, ms }: { readonly group: Group; readonly callers: number; readonly ms: number },
): Promise<number> {
  const [endpoint = '', ...others] = group.endpoints;
  const job: CallsJob = {
    kind: 'calls',
    ...{ endpoint, others },
    streams: [{ era: 'modern', tool: 'echo' }],
    concurrency: callers,
    intervalMs: INTERVAL_MS,
    payloadBytes: SMALL_BYTES,
    warmUpMs: WARM_UP_MS,
    until: { ms },
  };
  let beforeMs = NaN;
  const outcome = await load.call(job, () => (beforeMs = cpuMsOfAll(group)));
  if (outcome.flaw !== undefined) throw new Error(outcome.flaw);
  return (cpuMsOfAll(group) - beforeMs) / outcome.calls;
}

function cpuMsOfAll({ gateways }: Group): number {
  return gateways.reduce((sum, { pid }) => sum + (cpuMsOf(pid) ?? NaN), 0);
}

async function createDatabase(server: string, name: string): Promise<string> {
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`create database ${name}`);
  await client.end();
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}
