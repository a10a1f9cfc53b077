import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { BASELINE } from './baseline.ts';
import type { Check } from './checks.ts';
import { failuresIn, judge, lostBetween, type Judgement, type Shortfall } from './judge.ts';
import type { RequirementSet, SetName, Way } from './plan.ts';
import type { Programs } from './programs.ts';
import { testClient, testServer, type SuiteRun } from './suite.ts';
import { openWay, SERVER_WAYS, type ServerWay } from './ways.ts';

/** The result of one suite in one mode. */
export interface Outcome extends Judgement {
  readonly way: Way;
  readonly set: SetName;
  /** How many checks passed that have to. */
  readonly passed: number;
}

export interface ConformanceRun {
  readonly programs: Programs;
  /** The folder for the output of the suite and Assay. */
  readonly folder: string;
  readonly ways: readonly Way[];
  readonly sets: readonly RequirementSet[];
  /** Called with each result. */
  readonly onOutcome?: (outcome: Outcome) => void;
}

/** Runs the suite in each mode and compares its results with the baseline. */
export async function runConformance(run: ConformanceRun): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const wanted = SERVER_WAYS.filter((way) => run.ways.includes(way));
  // Checks that pass directly must pass in the other modes.
  const direct = wanted.length === 0 ? [] : await testWay('direct', run, failuresIn);
  for (const way of wanted)
    outcomes.push(
      ...(way === 'direct'
        ? direct
        : await testWay(way, run, (checks, set) => lostBetween(checksOf(direct, set), checks))),
    );
  if (run.ways.includes('as client')) outcomes.push(...(await testAsClient(run)));
  return outcomes;
}

/** The checks with an unexpected result. */
type Demand = (checks: readonly Check[], set: SetName) => readonly Shortfall[];

async function testWay(way: ServerWay, run: ConformanceRun, demand: Demand): Promise<readonly Tested[]> {
  const peers = await openWay(way, run.programs, folderOf(run, [way, 'peers']));
  try {
    return await Promise.all(
      run.sets.map((set) => testSet({ run, way, set, demand, test: (one) => testServer(peers.url, one) })),
    );
  } finally {
    await peers.close();
  }
}

async function testAsClient(run: ConformanceRun): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  for (const set of run.sets.filter(({ name }) => name !== '2025-06-18'))
    outcomes.push(await testSet({ run, way: 'as client', set, demand: failuresIn, test: testClient }));
  return outcomes;
}

interface Tested extends Outcome {
  readonly checks: readonly Check[];
}

interface Trial {
  readonly run: ConformanceRun;
  readonly way: Way;
  readonly set: RequirementSet;
  readonly demand: Demand;
  readonly test: (run: SuiteRun) => Promise<readonly Check[]>;
}

/**
 * The suite allows half a second for some responses, which a busy machine can miss; a real failure is reproducible.
 */
const MAX_RETRIES = 2;

async function testSet({ run, way, set, demand, test }: Trial): Promise<Tested> {
  const testIn = (name: string, scenario?: string): Promise<readonly Check[]> =>
    test({ programs: run.programs, set, scenario, folder: folderOf(run, [way, set.name, name]) });
  const judged = (checks: readonly Check[]): Judgement =>
    judge(demand(checks, set.name), BASELINE, { way, set: set.name });
  let checks = await testIn('all');
  for (let time = 1; time <= MAX_RETRIES; time++)
    for (const scenario of surprisesIn(judged(checks))) {
      const again = await testIn(`again-${time}-${scenario.replaceAll('/', '-')}`, scenario);
      checks = [...checks.filter((check) => check.scenario !== scenario), ...again];
    }
  const passed = checks.filter(({ verdict }) => verdict === 'passed').length;
  const outcome = { way, set: set.name, passed, checks, ...judged(checks) };
  run.onOutcome?.(outcome);
  return outcome;
}

/** The scenarios whose results differ from the baseline. */
function surprisesIn({ unexpected, stale }: Judgement): ReadonlySet<string> {
  const scenarios = [...unexpected, ...stale].map(({ scenario }) => scenario);
  return new Set(scenarios.filter((scenario) => !scenario.endsWith('*')));
}

function checksOf(tested: readonly Tested[], set: SetName): readonly Check[] {
  return tested.find((one) => one.set === set)?.checks ?? [];
}

/** An empty folder, even if an earlier run left one. */
function folderOf({ folder }: ConformanceRun, names: readonly string[]): string {
  const path = join(folder, ...names.map((name) => name.replaceAll(' ', '-')));
  rmSync(path, { recursive: true, force: true });
  mkdirSync(path, { recursive: true });
  return path;
}
