// The project's performance targets, each with the measured value.
import { callsRatio } from './call-pairs.ts';
import { lockRatio } from './lock.ts';
import { LARGE_BYTES, SMALL_BYTES, workloadName, WORKLOADS } from './plan.ts';
import {
  allCpu,
  callsPerSecond,
  type Cell,
  type Finding,
  type Measure,
  proxyCpu,
  ratioOf,
  type Results,
} from './results.ts';
import { replicaRatio } from './replicas.ts';
import { addedFirstMs, callOfTwin, startOfTwins } from './sandbox.ts';
import { startRatio } from './start.ts';
import { slowestQueryMs } from './activity.ts';
import { verifyMsPerTool } from './verify.ts';

export interface Verdict {
  readonly what: string;
  readonly target: string;
  readonly measured: string;
  readonly outcome: 'reached' | 'missed' | 'void' | 'not measured';
}

interface Goal {
  readonly what: string;
  readonly sign: '≥' | '≤';
  readonly bound: number;
  readonly unit: string;
  readonly cell: Cell;
}

const SMALL = workloadName(SMALL_BYTES, 64);
const LARGE = workloadName(LARGE_BYTES, 64);

export function verdictsOf(results: Results): readonly Verdict[] {
  return goalsOf(results).map(verdictOf);
}

function goalsOf(results: Results): readonly Goal[] {
  const ratio = (
    what: string,
    bound: number,
    of: { target: string; to: string; measure: Measure; sign: '≥' | '≤'; workloads: string[] },
  ): Goal[] =>
    of.workloads.map((workload) => ({
      what: `${what} (${workload})`,
      sign: of.sign,
      bound,
      unit: '×',
      cell: ratioOf(results, { target: of.target, to: of.to, workload }, of.measure),
    }));
  const http = { target: 'assay-http', to: 'ceiling' };
  const stdio = { target: 'assay-stdio', to: 'mcp-proxy', sign: '≤' as const };
  const long = { target: 'assay-http-10k', to: 'assay-http' };
  const both = [SMALL, LARGE];
  const all = WORKLOADS.map(({ name }) => name);
  return [
    ...ratio('calls/s HTTP→HTTP, of the ceiling', 0.85, {
      ...http,
      measure: callsPerSecond,
      sign: '≥',
      workloads: all,
    }),
    ...ratio('proxy CPU per call HTTP→HTTP, of the ceiling', 1.3, {
      ...http,
      measure: proxyCpu,
      sign: '≤',
      workloads: all,
    }),
    ...ratio('proxy CPU per call HTTP→stdio, of the ceiling', 2, {
      ...stdio,
      to: 'ceiling',
      measure: proxyCpu,
      workloads: [LARGE],
    }),
    ...ratio('proxy CPU per call HTTP→stdio, of mcp-proxy', 0.5, {
      ...stdio,
      measure: proxyCpu,
      workloads: both,
    }),
    ...ratio('the same with the CPU of the stdio server', 0.5, {
      ...stdio,
      measure: allCpu,
      workloads: both,
    }),
    ...ratio('calls/s with 10,000 tools, of the same with 10', 0.95, {
      ...long,
      measure: callsPerSecond,
      sign: '≥',
      workloads: [SMALL],
    }),
    ...otherGoals(results),
  ];
}

function otherGoals({
  start,
  list,
  idle,
  growth,
  lock,
  toolsets,
  hints,
  policy,
  sandbox,
  verify,
  sources,
  pages,
  activity,
  replicas,
}: Results): readonly Goal[] {
  const calls = growth.kind === 'found' ? growth.value : undefined;
  const stretch =
    calls === undefined ? '' : ` between call ${thousands(calls.fromCall)} and ${thousands(calls.toCall)}`;
  return [
    {
      what: 'start to tools/list through assay stdio, of the server alone (warm catalog)',
      sign: '≤',
      bound: 0.5,
      unit: '×',
      cell: cellOfFinding(start, ({ rounds }) => startRatio(rounds, 'warmMs')),
    },
    {
      what: 'start to tools/list through assay stdio, of the server alone (no catalog)',
      sign: '≤',
      bound: 1.3,
      unit: '×',
      cell: cellOfFinding(start, ({ rounds }) => startRatio(rounds, 'coldMs')),
    },
    {
      what: 'tools/list of 10,000 tools, per page: p50 beyond writing the bytes',
      sign: '≤',
      bound: 5,
      unit: ' ms',
      cell: cellOfFinding(list, ({ beyondP50Ms }) => beyondP50Ms),
    },
    {
      what: 'memory, idle with three servers',
      sign: '≤',
      bound: 85,
      unit: ' MB',
      cell: cellOfFinding(idle, ({ rssMb }) => rssMb),
    },
    {
      what: `memory, growth${stretch}`,
      sign: '≤',
      bound: 20,
      unit: ' MB',
      cell: cellOfFinding(growth, ({ growthMb }) => growthMb),
    },
    {
      what: 'call p99 during a foreign lock of 3 s on the store, of before',
      sign: '≤',
      bound: 1.5,
      unit: '×',
      cell: cellOfFinding(lock, ({ rounds }) => lockRatio(rounds)),
    },
    {
      what: 'equip-toolset to list_changed at another client, of 500 toolsets and 10,000 tools: p50',
      sign: '≤',
      bound: 20,
      unit: ' ms',
      cell: cellOfFinding(toolsets, ({ heardP50Ms }) => heardP50Ms),
    },
    {
      what: 'calls/s with a toolset equipped, of /mcp/all (100 B, c=64)',
      sign: '≥',
      bound: 0.95,
      unit: '×',
      cell: cellOfFinding(toolsets, ({ rounds }) => callsRatio(rounds)),
    },
    {
      what: 'GET /tools, a page of 50 of 10,000 tools: p50',
      sign: '≤',
      bound: 20,
      unit: ' ms',
      cell: cellOfFinding(hints, ({ pageP50Ms }) => pageP50Ms),
    },
    {
      what: 'refresh of a server of 500 tools: p50',
      sign: '≤',
      bound: 150,
      unit: ' ms',
      cell: cellOfFinding(hints, ({ refreshP50Ms }) => refreshP50Ms),
    },
    {
      what: 'calls/s with overrides on 1,000 tools, of without (100 B, c=64)',
      sign: '≥',
      bound: 0.95,
      unit: '×',
      cell: cellOfFinding(hints, ({ rounds }) => callsRatio(rounds)),
    },
    {
      what: 'calls/s with rules and nothing asked, of without rules (100 B, c=64)',
      sign: '≥',
      bound: 0.95,
      unit: '×',
      cell: cellOfFinding(policy, ({ decided }) => callsRatio(decided)),
    },
    {
      what: 'calls/s with the record of calls, of without (100 B, c=64)',
      sign: '≥',
      bound: 0.95,
      unit: '×',
      cell: cellOfFinding(policy, ({ recorded }) => callsRatio(recorded)),
    },
    {
      what: 'call on a twin, of one on its server (100 B, c=1)',
      sign: '≤',
      bound: 1.1,
      unit: '×',
      cell: cellOfFinding(sandbox, callOfTwin),
    },
    {
      what: 'first call on a twin, more than the first on its server: median',
      sign: '≤',
      bound: 1_000,
      unit: ' ms',
      cell: cellOfFinding(sandbox, addedFirstMs),
    },
    {
      what: 'start to tools/list of ten servers with twins, of without',
      sign: '≤',
      bound: 1.05,
      unit: '×',
      cell: cellOfFinding(sandbox, startOfTwins),
    },
    {
      what: 'time of `assay verify` per tool: median',
      sign: '≤',
      bound: 1_500,
      unit: ' ms',
      cell: cellOfFinding(verify, verifyMsPerTool),
    },
    {
      what: 'CPU of recording a call in SQLite, all threads',
      sign: '≤',
      bound: 3,
      unit: ' µs',
      cell: cellOfFinding(activity, ([sqlite]) => sqlite?.cpuUs),
    },
    {
      what: 'the slowest list of 1,000,000 recorded calls, SQLite and PostgreSQL: p50',
      sign: '≤',
      bound: 30,
      unit: ' ms',
      cell: cellOfFinding(activity, slowestQueryMs),
    },
    {
      what: 'counts of 1,000,000 recorded calls, SQLite and PostgreSQL: p50',
      sign: '≤',
      bound: 50,
      unit: ' ms',
      cell: cellOfFinding(activity, (records) => Math.max(...records.map(({ countsP50Ms }) => countsP50Ms))),
    },
    {
      what: 'calls/s of a REST tool, of a call through the ceiling (100 B, c=64)',
      sign: '≥',
      bound: 0.6,
      unit: '×',
      cell: cellOfFinding(sources, ({ rest }) => callsRatio(rest)),
    },
    {
      what: 'CPU per call with three gateways on one PostgreSQL, of that with one, each with as many calls',
      sign: '≤',
      bound: 1.05,
      unit: '×',
      cell: cellOfFinding(replicas, ({ rounds }) => replicaRatio(rounds, ({ eachMs }) => eachMs)),
    },
    {
      what: 'CPU per call with three gateways on one PostgreSQL, of that with one, sharing its calls',
      sign: '≤',
      bound: 1.05,
      unit: '×',
      cell: cellOfFinding(replicas, ({ rounds }) => replicaRatio(rounds, ({ sharedMs }) => sharedMs)),
    },
    {
      what: 'import of an OpenAPI document of 1,000 operations: p50',
      sign: '≤',
      bound: 3_000,
      unit: ' ms',
      cell: cellOfFinding(sources, (found) => found.importP50Ms),
    },
    {
      what: 'admin page Tools with 10,000 tools, interactive after: median',
      sign: '≤',
      bound: 1_000,
      unit: ' ms',
      cell: cellOfFinding(
        pages,
        ({ pages: each }) => each.find(({ name }) => name === 'Tools')?.interactiveMs,
      ),
    },
    {
      what: 'admin pages with 10,000 tools, longest task of any page: median',
      sign: '≤',
      bound: 100,
      unit: ' ms',
      cell: cellOfFinding(pages, ({ pages: each }) =>
        Math.max(...each.map(({ longestTaskMs }) => longestTaskMs)),
      ),
    },
  ];
}

function verdictOf({ what, sign, bound, unit, cell }: Goal): Verdict {
  const target = `${sign} ${bound.toFixed(unit === '×' ? 2 : 0)}${unit}`;
  if (cell.kind === 'void') return { what, target, measured: 'VOID', outcome: 'void' };
  if (cell.kind === 'empty') return { what, target, measured: '–', outcome: 'not measured' };
  const isReached = sign === '≥' ? cell.value >= bound : cell.value <= bound;
  const measured = `${cell.value.toFixed(unit === ' MB' ? 0 : 2)}${unit}`;
  return { what, target, measured, outcome: isReached ? 'reached' : 'missed' };
}

function cellOfFinding<T>(finding: Finding<T>, value: (found: T) => number | undefined): Cell {
  const number = finding.kind === 'found' ? value(finding.value) : undefined;
  return number === undefined ? { kind: 'empty' } : { kind: 'value', value: number };
}

function thousands(count: number): string {
  return count.toLocaleString('en-US');
}
