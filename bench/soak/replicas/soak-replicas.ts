// Several gateways on one PostgreSQL behind a balancer, with clients of both SDKs, under faults or through an upgrade.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Processes } from '../../processes.ts';
import { builtMain, type Place } from '../../targets.ts';
import { Chance } from '../chance.ts';
import { seek } from '../soak-context.ts';
import type { Tally } from '../tally.ts';
import { type Caller, createCallers, type Load, visit } from './callers.ts';
import type { CallRecord } from './calls.ts';
import { Cluster } from './cluster.ts';
import { type FaultContext, FULL_FAULTS, injectFaults, QUICK_FAULTS, restartInTurn } from './faults.ts';
import { type ClientKind, CLIENT_KINDS } from './sdk-clients.ts';
import { type Check, checkReplicas } from './verdict.ts';

const CALM_MS = 3_000;
const HEARD_WITHIN_MS = 30_000;
const CHANGE_INTERVAL_MS = 5_000;

export interface ReplicaSoakOptions {
  readonly minutes: number;
  readonly seed: number;
  readonly replicas: number;
  readonly isNginx: boolean;
  readonly isQuick: boolean;
  /** The program of an earlier build: replicas are upgraded from it one by one, and rolled back, instead of the faults. */
  readonly earlierMain: string | undefined;
}

export interface ReplicaSoak {
  readonly checks: readonly Check[];
  readonly records: readonly CallRecord[];
  readonly clients: number;
}

interface Tools {
  readonly processes: Processes;
  readonly place: Place;
  readonly tally: Tally;
  readonly tell: (text: string) => void;
}

export async function soakReplicas(options: ReplicaSoakOptions, tools: Tools): Promise<ReplicaSoak> {
  const { processes, place, tally, tell } = tools;
  const { replicas: replicaCount, isNginx, earlierMain } = options;
  let endedAlone = 0;
  const cluster = await Cluster.open({
    processes,
    place,
    replicaCount,
    isNginx,
    main: earlierMain ?? builtMain(),
    onEndedAlone: (reason) => {
      endedAlone += 1;
      tally.object('replica', reason);
    },
  });
  try {
    await cluster.start();
    tell(`${String(replicaCount)} replicas behind ${isNginx ? 'nginx' : 'round robin'}`);
    const { callers, records, missedChanges } = await callUnderFaults(cluster, options, tools);
    const faults = {
      unconnected: callers.filter(({ isConnected }) => !isConnected).length,
      restarted: callers.reduce((sum, { restarts }) => sum + restarts, 0),
      missedChanges,
      endedAlone,
    };
    const checks = checkReplicas(records, cluster.executions(), faults);
    return { checks, records, clients: callers.length };
  } finally {
    await cluster.close();
  }
}

/** Clients of the earlier build's era only: it keeps legacy sessions in memory. */
function kindsFor({ earlierMain }: ReplicaSoakOptions): readonly ClientKind[] {
  return earlierMain === undefined ? CLIENT_KINDS : ['2.x modern', '2.x auto'];
}

async function callUnderFaults(
  cluster: Cluster,
  options: ReplicaSoakOptions,
  { tally, tell }: Tools,
): Promise<{ callers: readonly Caller[]; records: readonly CallRecord[]; missedChanges: number }> {
  const chance = new Chance(options.seed);
  const ended = new AbortController();
  const records: CallRecord[] = [];
  const { endpoint, token } = cluster;
  const load: Load = { endpoint, token, tally, over: ended.signal, records };
  const kinds = kindsFor(options);
  const callers = createCallers(kinds, { load, chance });
  await Promise.all(callers.map((caller) => caller.connect()));
  const before = await countMissedChanges(cluster, callers);
  if (before > 0) tally.object('clients', `${String(before)} heard no change of the list before the faults`);
  const calling = callers.map((caller) => caller.callThrough());
  const visiting = visit(kinds, { load, chance: chance.fork('visitors') });
  const faults = { cluster, tally, tell, chance: chance.fork('faults') };
  await runFaults(options, faults);
  await sleep(CALM_MS);
  ended.abort();
  const visitors = await visiting;
  await Promise.all(calling);
  tell('the load has ended');
  const missedChanges = await countMissedChanges(cluster, callers);
  await Promise.all(callers.map((caller) => caller.close()));
  return { callers: [...callers, ...visitors], records, missedChanges };
}

async function runFaults(
  { minutes, isQuick, earlierMain }: ReplicaSoakOptions,
  faults: Omit<FaultContext, 'over'>,
): Promise<void> {
  const over = AbortSignal.timeout(minutes * 60_000);
  const context: FaultContext = { ...faults, over };
  if (earlierMain === undefined) {
    await injectFaults(context, isQuick ? QUICK_FAULTS : FULL_FAULTS);
    return;
  }
  do {
    faults.tell('upgrade, one replica at a time');
    await restartInTurn(context, builtMain());
    await sleep(CALM_MS);
    faults.tell('rollback, one replica at a time');
    await restartInTurn(context, earlierMain);
    await sleep(CALM_MS);
  } while (!context.over.aborted);
}

/** Number of connected clients that are not notified in time that the list of tools has changed. */
async function countMissedChanges(cluster: Cluster, callers: readonly Caller[]): Promise<number> {
  const before = new Map(callers.map((caller) => [caller, caller.changes]));
  const countMissing = (): number =>
    callers.filter((caller) => caller.isConnected && caller.changes === before.get(caller)).length;
  // A subscription may be about to be opened, so one change is not enough.
  const untilMs = performance.now() + HEARD_WITHIN_MS;
  while (performance.now() < untilMs && countMissing() > 0) {
    cluster.changeTools();
    await seek(CHANGE_INTERVAL_MS, () => Promise.resolve(countMissing() === 0 ? true : undefined));
  }
  return countMissing();
}
