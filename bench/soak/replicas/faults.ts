// Faults of a cluster, one replica down at a time: kills, rolling restarts, and PostgreSQL away.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Chance } from '../chance.ts';
import { pause } from '../soak-context.ts';
import type { Tally } from '../tally.ts';
import type { Cluster } from './cluster.ts';
import type { Replica } from './replica.ts';

/** How long each phase of a round lasts. */
export interface FaultPlan {
  readonly killsMs: number;
  readonly betweenKillsMs: readonly [min: number, max: number];
  readonly outageMs: number;
}

export const FULL_FAULTS: FaultPlan = { killsMs: 60_000, betweenKillsMs: [2_000, 5_000], outageMs: 30_000 };
/** One kill, one rolling restart, one short outage. */
export const QUICK_FAULTS: FaultPlan = { killsMs: 1_000, betweenKillsMs: [1_000, 1_000], outageMs: 3_000 };

/** How long a killed replica stays away. */
const AWAY_MS = [200, 2_000] as const;

export interface FaultContext {
  readonly cluster: Cluster;
  readonly tally: Tally;
  readonly chance: Chance;
  readonly tell: (text: string) => void;
  /** No new fault begins after this. */
  readonly over: AbortSignal;
}

/** Rounds of all faults until the run is over; at least one. Afterwards everything runs again. */
export async function injectFaults(context: FaultContext, plan: FaultPlan): Promise<void> {
  const { over, tell } = context;
  const isOver = (): boolean => over.aborted;
  do {
    tell('replicas are killed');
    await killFor(context, plan);
    tell('rolling restart');
    await restartInTurn(context);
    tell(`PostgreSQL is stopped for ${String(plan.outageMs / 1_000)} s`);
    await stopPostgres(context, plan);
  } while (!isOver());
}

/** Ends each replica with SIGTERM and starts it, perhaps as another build, before the next. */
export async function restartInTurn({ cluster, tally }: FaultContext, main?: string): Promise<void> {
  for (const replica of cluster.replicas) {
    const isEnded = await replica.terminate();
    if (isEnded) tally.count('replica', 'SIGTERM, ended');
    else tally.object(replica.name, 'did not end within 30 s of SIGTERM');
    if (main !== undefined) replica.main = main;
    await startAgain(replica, tally);
  }
}

async function killFor(context: FaultContext, plan: FaultPlan): Promise<void> {
  const { chance, over } = context;
  const untilMs = performance.now() + plan.killsMs;
  do {
    await pause(chance.between(...plan.betweenKillsMs), over);
    await killOne(context);
  } while (performance.now() < untilMs && !over.aborted);
}

async function killOne({ cluster, tally, chance }: FaultContext): Promise<void> {
  const replica = chance.pick(cluster.replicas);
  await replica.kill();
  tally.count('replica', 'SIGKILL');
  await sleep(chance.between(...AWAY_MS));
  await startAgain(replica, tally);
}

/** A replica is killed meanwhile, too; its start has to wait for PostgreSQL. */
async function stopPostgres(context: FaultContext, { outageMs }: FaultPlan): Promise<void> {
  const { cluster, tally, chance } = context;
  await cluster.stopPostgres();
  tally.count('PostgreSQL', 'stopped');
  const beforeMs = chance.between(0, outageMs / 2);
  await sleep(beforeMs);
  const killed = killOne(context);
  await sleep(outageMs - beforeMs);
  await cluster.startPostgres();
  tally.count('PostgreSQL', 'started');
  await killed;
}

async function startAgain(replica: Replica, tally: Tally): Promise<void> {
  replica.start();
  if (!(await replica.untilReady())) tally.object(replica.name, 'was not ready within 90 s of its start');
}
