// npm run bench: starts everything, measures it in one run, prints and saves the results.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { measureActivity } from './activity.ts';
import { type Contender, measureCells } from './cells.ts';
import { measureList } from './lists.ts';
import { measureLock } from './lock.ts';
import { LoadProcess } from './load-process.ts';
import { measureGrowth, measureIdle } from './memory.ts';
import { type Extra, EXTRAS, type Options, readOptions } from './options.ts';
import { FULL, type Plan, QUICK } from './plan.ts';
import { measurePages } from './pages.ts';
import { measurePolicy } from './policy.ts';
import { measureSandbox } from './sandbox.ts';
import { measureReplicas } from './replicas.ts';
import { Processes } from './processes.ts';
import { forMarkdown, forTerminal } from './report.ts';
import type { Finding, Results } from './results.ts';
import { measureStart } from './start.ts';
import { measureHints } from './hints.ts';
import { measureSources } from './sources.ts';
import { measureToolsets } from './toolsets.ts';
import { measureVerify } from './verify.ts';
import { Place, ROOT, startTarget, type Target, TARGETS } from './targets.ts';

const VERSIONED = ['undici', 'mcp-proxy', '@modelcontextprotocol/server', '@modelcontextprotocol/client'];

const startedAt = new Date();
const processes = new Processes();
let isInterrupted = false;
const read = readOptions(
  process.argv.slice(2),
  TARGETS.map(({ name }) => name),
);
if ('text' in read) {
  (read.exitCode === 0 ? process.stdout : process.stderr).write(read.text);
  process.exitCode = read.exitCode;
} else {
  process.exitCode = await benchOnce(read.options);
}

async function benchOnce(options: Options): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'assay-bench-'));
  const load = new LoadProcess();
  const endNow = (): void => {
    load.end();
    processes.killAll();
    rmSync(scratch, { recursive: true, force: true });
  };
  process.once('exit', endNow);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      isInterrupted = true;
      void processes.endAll().then(() => process.exit(130));
    });
  }
  try {
    const results = await measureAll(options, { load, place: new Place(processes, scratch, options.before) });
    const file = keep(results);
    process.stdout.write(options.isJson ? `${JSON.stringify(results, null, 2)}\n` : forTerminal(results));
    tell(`kept as ${file}.json and .md`);
    return isComplete(results, options) ? 0 : 1;
  } finally {
    await processes.endAll();
    load.end();
  }
}

async function measureAll(options: Options, tools: { load: LoadProcess; place: Place }): Promise<Results> {
  const { load, place } = tools;
  const plan = options.isQuick ? QUICK : FULL;
  const contenders: Contender[] = [];
  const absences = new Map<Target, string>();
  for (const target of TARGETS.filter((one) => isMeasured(one, options))) {
    tell(`starting ${target.name}`);
    const started = await find(() => startTarget(target, place));
    if (started.kind === 'found') contenders.push({ target, started: started.value });
    else absences.set(target, started.reason);
  }
  const extras = await measureExtras(options, { ...tools, plan, contenders });
  const samples = await measureCells(contenders, { load, plan, tell });
  const targets = [...contenders.map(({ target }) => target), ...absences.keys()];
  return {
    startedAt: startedAt.toISOString(),
    isQuick: options.isQuick,
    machine: machineFacts(),
    versions: Object.fromEntries(VERSIONED.map((name) => [name, versionOf(name)])),
    targets: targets.map((target) => {
      const { name, about, era } = target;
      return { name, about, era, absence: absences.get(target) };
    }),
    samples,
    ...extras,
  };
}

function isMeasured({ name, ofBefore, onlyNamed }: Target, { before, wants, names }: Options): boolean {
  return onlyNamed === true ? names(name) : wants(name) && (ofBefore !== true || before !== undefined);
}

async function measureExtras(
  options: Options,
  bench: { load: LoadProcess; place: Place; plan: Plan; contenders: readonly Contender[] },
): Promise<Pick<Results, Extra>> {
  const { load, place, plan } = bench;
  const ifWanted = async <T>(extra: Extra, measure: () => Promise<T>): Promise<Finding<T>> => {
    if (!options.wants(extra)) return { kind: 'missing', reason: 'not asked for' };
    tell(`measuring ${extra}`);
    return await find(measure);
  };
  return {
    start: await ifWanted('start', () => measureStart(place, plan.startRounds)),
    idle: await ifWanted('idle', () => measureIdle(place, plan)),
    growth: await ifWanted('growth', () => measureGrowth(place, { load, plan })),
    lock: await ifWanted('lock', () => measureLock(place, { load, roundCount: plan.lockRounds })),
    toolsets: await ifWanted('toolsets', () => measureToolsets(place, { load, plan })),
    hints: await ifWanted('hints', () => measureHints(place, { load, plan })),
    policy: await ifWanted('policy', () => measurePolicy(place, { load, plan })),
    sandbox: await ifWanted('sandbox', () => measureSandbox(place, { load, plan })),
    verify: await ifWanted('verify', () => measureVerify(place)),
    sources: await ifWanted('sources', () => measureSources(place, { load, plan })),
    pages: await ifWanted('pages', () => measurePages(place, { plan })),
    activity: await ifWanted('activity', () => measureActivity(place, { calls: plan.recordedCalls })),
    replicas: await ifWanted('replicas', () => measureReplicas(place, { load, plan })),
    list: await ifWanted('list', async () => {
      const name = 'assay-http-10k';
      const running = bench.contenders.find(({ target }) => target.name === name);
      const target = TARGETS.find((one) => one.name === name);
      if (target === undefined) throw new Error(`no target "${name}"`);
      const assay = running?.started ?? (await startTarget(target, place));
      return await measureList(assay, { load, place, passes: plan.listPasses });
    }),
  };
}

async function find<T>(look: () => Promise<T>): Promise<Finding<T>> {
  try {
    return { kind: 'found', value: await look() };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    tell(`failed: ${reason}`);
    return { kind: 'missing', reason };
  }
}

function isComplete(results: Results, options: Options): boolean {
  const { targets, samples } = results;
  return (
    targets.every(({ absence }) => absence === undefined) &&
    samples.every(({ flaw }) => flaw === undefined) &&
    EXTRAS.every((name) => results[name].kind === 'found' || !options.wants(name))
  );
}

/** Writes both files; returns their path without the extension, relative to the repository. */
function keep(results: Results): string {
  const { node, cores } = results.machine;
  const minute = results.startedAt.slice(0, 16).replace(':', '');
  const length = results.isQuick ? '-quick' : '';
  const name = `${minute}-node${node}-${String(cores)}cores${length}`;
  const folder = join(ROOT, 'bench', 'results');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${name}.json`), `${JSON.stringify(withoutPaths(results), null, 2)}\n`);
  writeFileSync(join(folder, `${name}.md`), withoutPaths(forMarkdown(results)));
  return `bench/results/${name}`;
}

// Reasons quote the stderr of other programs, and results are meant to be shared.
function withoutPaths<T>(value: T): T {
  const text = JSON.stringify(value).replaceAll(ROOT, '').replaceAll(tmpdir(), '<tmp>');
  return JSON.parse(text) as T;
}

function machineFacts(): Results['machine'] {
  return {
    node: process.versions.node,
    platform: `${process.platform} ${process.arch}`,
    cores: availableParallelism(),
    memoryGb: Math.round(totalmem() / 2 ** 30),
  };
}

function versionOf(name: string): string {
  const file = join(ROOT, 'node_modules', name, 'package.json');
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

function tell(line: string): void {
  // Failures while everything is being stopped are expected.
  if (isInterrupted) return;
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  process.stderr.write(`${String(seconds).padStart(4)} s  ${line}\n`);
}
