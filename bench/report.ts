// A run as tables: the project's targets first, then all measurements.
import type { RecordCost } from './activity.ts';
import { SATURATED_SHARE } from './cells.ts';
import { WORKLOADS } from './plan.ts';
import {
  allCpu,
  callsPerSecond,
  type Cell,
  cellOf,
  type Finding,
  type Measure,
  proxyCpu,
  ratioOf,
  type Results,
} from './results.ts';
import type { CallPair } from './call-pairs.ts';
import type { LockRound } from './lock.ts';
import type { ReplicaRound } from './replicas.ts';
import type { StartRound } from './start.ts';
import { median } from './statistics.ts';
import { drawBox, drawMarkdown, type Table } from './table.ts';
import { verdictsOf } from './verdicts.ts';

export function forTerminal(results: Results): string {
  return [heading(results), ...tablesOf(results).map(drawBox), notesOf(results).join('\n'), ''].join('\n\n');
}

export function forMarkdown(results: Results): string {
  const notes = notesOf(results).map((note) => `- ${note}`);
  const head = `# Bench\n\n${heading(results)}`;
  return [head, ...tablesOf(results).map(drawMarkdown), notes.join('\n'), ''].join('\n\n');
}

function heading({ startedAt, isQuick, machine }: Results): string {
  const { node, platform, cores, memoryGb } = machine;
  const length = isQuick ? 'quick run, numbers are rough' : 'full run';
  return `${startedAt}, Node ${node}, ${platform}, ${String(cores)} cores, ${String(memoryGb)} GB, ${length}`;
}

function tablesOf(results: Results): readonly Table[] {
  return [
    {
      title: 'Targets',
      head: ['what', 'target', 'measured', ''],
      rows: verdictsOf(results).map(({ what, target, measured, outcome }) => [
        what,
        target,
        measured,
        outcome,
      ]),
    },
    matrix(results, 'Calls per second, median over rounds', callsPerSecond, wholeNumber),
    ratioMatrix(results, 'Calls per second, of the ceiling', callsPerSecond),
    matrix(results, 'CPU ms per call, the proxy process alone', proxyCpu, threeDigits),
    ratioMatrix(results, 'CPU per call of the proxy process, of the ceiling', proxyCpu),
    matrix(results, 'CPU ms per call, all but the load generator', allCpu, threeDigits),
    matrix(results, 'Latency p50, ms', ({ p50Ms }) => p50Ms, twoDigits),
    matrix(results, 'Latency p99, ms', ({ p99Ms }) => p99Ms, twoDigits),
    matrix(results, 'CPU share of the load generator', ({ loadCpuShare }) => loadCpuShare, twoDigits),
  ];
}

function matrix(results: Results, title: string, measure: Measure, digits: (value: number) => string): Table {
  return matrixOf(results, title, (target, workload) =>
    shown(cellOf(results, { target, workload }, measure), digits),
  );
}

function ratioMatrix(results: Results, title: string, measure: Measure): Table {
  return matrixOf(results, title, (target, workload) =>
    shown(ratioOf(results, { target, to: 'ceiling', workload }, measure), twoDigits),
  );
}

function matrixOf(results: Results, title: string, at: (target: string, workload: string) => string): Table {
  const measured = results.targets.filter(({ absence }) => absence === undefined);
  return {
    title,
    head: ['', ...WORKLOADS.map(({ name }) => name)],
    rows: measured.map(({ name }) => [name, ...WORKLOADS.map((load) => at(name, load.name))]),
  };
}

function notesOf(results: Results): readonly string[] {
  const {
    targets,
    samples,
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
  } = results;
  const absences = targets.flatMap(({ name, absence }) =>
    absence === undefined ? [] : [`${name} was not measured: ${absence}`],
  );
  const flaws = samples.flatMap(({ target, workload, round, flaw }) =>
    flaw === undefined ? [] : [`VOID: ${target}, ${workload}, round ${String(round)}: ${flaw}`],
  );
  return [
    ...flaws,
    ...absences,
    ...saturationNote(results),
    told('start to tools/list', start, ({ tools, rounds }) => {
      const ms = (value: (round: StartRound) => number): string =>
        `${wholeNumber(median(rounds.map(value)) ?? NaN)} ms`;
      const assay = `assay stdio ${ms((one) => one.warmMs)} with a warm catalog and ${ms((one) => one.coldMs)} without`;
      return `${assay}, the server alone ${ms((one) => one.directMs)}, bare \`node -e 0\` ${ms((one) => one.bareMs)}; ${String(tools)} tools, medians of ${String(rounds.length)} rounds`;
    }),
    told('tools/list', list, (found) => {
      const size = `${String(found.pages)} pages of ${wholeNumber(found.bytesPerPage / 1000)} kB`;
      const { listedP50Ms, plainP50Ms, listedP99Ms } = found;
      return `${size}, p50 ${twoDigits(listedP50Ms)} ms against ${twoDigits(plainP50Ms)} ms for the same bytes from memory, p99 ${twoDigits(listedP99Ms)} ms`;
    }),
    told('memory, idle', idle, ({ servers, rssMb }) => `${megabytes(rssMb)} with ${servers.join(', ')}`),
    told('memory, growth', growth, (found) => {
      const { fromCall, fromMb, toCall, toMb } = found;
      return `${megabytes(fromMb)} after ${wholeNumber(fromCall)} calls, ${megabytes(toMb)} after ${wholeNumber(toCall)}`;
    }),
    told('calls during a lock on the store', lock, ({ calls, rounds }) => {
      const ms = (value: (round: LockRound) => number): string =>
        `${twoDigits(median(rounds.map(value)) ?? NaN)} ms`;
      const heldBack = rounds.reduce((sum, round) => sum + round.heldBack, 0);
      const latencies = `p99 ${ms((one) => one.lockedP99Ms)} against ${ms((one) => one.freeP99Ms)} without, longest ${ms((one) => one.lockedMaxMs)} against ${ms((one) => one.freeMaxMs)}`;
      return `${latencies}; ${wholeNumber(calls)} calls, medians of ${String(rounds.length)} pairs of windows, ${String(heldBack)} writes held back and none lost`;
    }),
    told('toolsets', toolsets, (found) => {
      const size = `${wholeNumber(found.toolsets)} toolsets over ${wholeNumber(found.tools)} tools`;
      const heard = `a client hears of an equipping after ${twoDigits(found.heardP50Ms)} ms (p50), ${twoDigits(found.heardP99Ms)} ms (p99)`;
      return `${size}: ${heard}; ${String(found.equippings)} equippings`;
    }),
    told('hints', hints, (found) => {
      const pages = `a page of 50 of ${wholeNumber(found.tools)} tools ${twoDigits(found.pageP50Ms)} ms (p50), ${twoDigits(found.pageP99Ms)} ms (p99), by effective hints ${twoDigits(found.filteredP50Ms)} ms (p50)`;
      const refresh = `a refresh of ${wholeNumber(found.refreshedTools)} tools ${twoDigits(found.refreshP50Ms)} ms (p50)`;
      return `${pages}; ${refresh}; overrides on ${wholeNumber(found.overrides)} tools`;
    }),
    told('policy', policy, ({ rules, decided, recorded }) => {
      const perSecond = (pairs: readonly CallPair[]): string =>
        wholeNumber(median(pairs.map(({ onePerSecond }) => onePerSecond)) ?? NaN);
      return `${perSecond(decided)} calls/s with ${wholeNumber(rules)} rules, ${perSecond(recorded)} with the record of calls, too`;
    }),
    told('sandbox', sandbox, (found) => {
      const firstMs = (of: (call: (typeof found.firstCalls)[number]) => number): string =>
        `${wholeNumber(median(found.firstCalls.map(of)) ?? NaN)} ms`;
      const first = `the first call takes ${firstMs(({ twinMs }) => twinMs)} on a twin, ${firstMs(({ plainMs }) => plainMs)} on its server`;
      return `${first}; a twin takes ${megabytes(found.twinMb)}`;
    }),
    told('verify', verify, ({ tools, calls, peakMb }) => {
      return `${wholeNumber(tools)} tools of the file system server with ${wholeNumber(calls)} calls; all processes together take up to ${megabytes(peakMb)}`;
    }),
    told(
      'sources',
      sources,
      (found) =>
        `${wholeNumber(found.operations)} operations imported in ${wholeNumber(found.importP50Ms)} ms (p50), the start of the command included`,
    ),
    told('record of calls', activity, (records) => records.map(formatRecord).join('\n')),
    told('replicas', replicas, (found) => {
      const ms = (of: (round: ReplicaRound) => number): string =>
        `${threeDigits(median(found.rounds.map(of)) ?? NaN)} ms`;
      const one = `${wholeNumber(found.callsPerSecond)} calls/s on one gateway ${ms(({ oneMs }) => oneMs)}`;
      const three = `the same shared by three ${ms(({ sharedMs }) => sharedMs)}, as many on each of three ${ms(({ eachMs }) => eachMs)}`;
      return `CPU per call: ${one}, ${three}; medians of ${String(found.rounds.length)} rounds; an idle gateway takes ${twoDigits(found.idleCpuMs)} ms a second`;
    }),
    told('admin pages', pages, ({ tools, pages: each }) => {
      const one = ({ name, interactiveMs, longestTaskMs, worstTaskMs }: (typeof each)[number]): string =>
        `${name} ${wholeNumber(interactiveMs)} ms, longest task ${wholeNumber(longestTaskMs)} ms (worst ${wholeNumber(worstTaskMs)} ms)`;
      return `with ${wholeNumber(tools)} tools in Chromium, interactive after: ${each.map(one).join('; ')}`;
    }),
  ];
}

function formatRecord(record: RecordCost): string {
  const { database, calls, cpuUs, mainThreadUs, bytesPerCall, queries, countsP50Ms, verifyMs } = record;
  const size = bytesPerCall === undefined ? '' : `, ${wholeNumber(bytesPerCall)} bytes`;
  const cost = `${twoDigits(cpuUs)} µs of CPU a call, ${twoDigits(mainThreadUs)} µs of it in the main thread${size}`;
  const lists = queries.map(({ query, p50Ms }) => `${query} ${twoDigits(p50Ms)}`).join('; ');
  return `${database}, ${wholeNumber(calls)} calls: ${cost}. Lists in ms (p50): ${lists}. Counts ${twoDigits(countsP50Ms)} ms, verification ${wholeNumber(verifyMs / 1_000)} s`;
}

function saturationNote({ samples }: Results): readonly string[] {
  const saturated = samples.filter(({ loadCpuShare }) => loadCpuShare > SATURATED_SHARE);
  if (saturated.length === 0) return [];
  const cells = new Set(saturated.map(({ target, workload }) => `${target} (${workload})`));
  return [
    `WARNING: the load generator used more than ${String(SATURATED_SHARE * 100)} % of a core, so the target may be faster than shown: ${[...cells].join(', ')}`,
  ];
}

function told<T>(what: string, finding: Finding<T>, tell: (value: T) => string): string {
  return finding.kind === 'found'
    ? `${what}: ${tell(finding.value)}`
    : `${what} was not measured: ${finding.reason}`;
}

function shown(cell: Cell, digits: (value: number) => string): string {
  if (cell.kind === 'void') return 'VOID';
  return cell.kind === 'empty' ? '–' : digits(cell.value);
}

function wholeNumber(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

function twoDigits(value: number): string {
  return value.toFixed(2);
}

function threeDigits(value: number): string {
  return value.toFixed(3);
}

function megabytes(value: number | undefined): string {
  return value === undefined ? 'an unknown amount' : `${value.toFixed(1)} MB`;
}
