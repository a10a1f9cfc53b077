// npm run soak: one Assay under mixed load for a long time; at the end it must use no more than at the start.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { setTimeout as sleep } from 'node:timers/promises';
import { commandLineOf, pidsNaming } from './proc.ts';
import { Processes } from './processes.ts';
import { ResourceSampler, type Sample } from './soak/resource-sampler.ts';
import { Chance } from './soak/chance.ts';
import { HONEST_CLIENTS, HTTP_CLIENTS } from './soak/http-clients.ts';
import type { HostileData } from './soak/hostile-clients.ts';
import type { QuickCalls, QuickCallsData } from './soak/quick-calls.ts';
import { createToken, Gateway } from './soak/gateway.ts';
import { actOn, type SoakContext, pause, seek } from './soak/soak-context.ts';
import { TestServers } from './soak/test-servers.ts';
import { buildEarlier } from './soak/replicas/earlier-build.ts';
import {
  replicaSoakForMarkdown,
  replicaSoakForTerminal,
  type ReplicaSoakResults,
} from './soak/replicas/report.ts';
import { soakReplicas } from './soak/replicas/soak-replicas.ts';
import { checkResources, type Soaked } from './soak/check-resources.ts';
import { readSoakOptions, type SoakOptions } from './soak/options.ts';
import { stdioClients } from './soak/stdio-clients.ts';
import { soakForMarkdown, soakForTerminal, type SoakResults } from './soak/report.ts';
import { Tally } from './soak/tally.ts';
import { restoreServers, faultActors } from './soak/fault-injection.ts';
import { median, quantile } from './statistics.ts';
import { Place, ROOT } from './targets.ts';

const UP_WITHIN_MS = 60_000;
/** A server that crashed too often stays in backoff for a minute. */
const MENDED_WITHIN_MS = 120_000;
const CALM_MS = 5_000;
const SETTLE_MS = 30_000;
const GONE_WITHIN_MS = 10_000;
const SAMPLE_INTERVAL_MS = 10_000;
const QUICK_SAMPLE_INTERVAL_MS = 4_000;

const startedAt = new Date();
const processes = new Processes();
const read = readSoakOptions(process.argv.slice(2));
if ('text' in read) {
  (read.exitCode === 0 ? process.stdout : process.stderr).write(read.text);
  process.exitCode = read.exitCode;
} else {
  process.exitCode = await soakOnce(read.options);
}

async function soakOnce(options: SoakOptions): Promise<number> {
  const scratch = mkdtempSync(join(tmpdir(), 'assay-soak-'));
  process.once('exit', () => {
    processes.killAll();
    rmSync(scratch, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => void processes.endAll().then(() => process.exit(130)));
  }
  tell(`seed ${String(options.seed)}`);
  const tally = new Tally(tell);
  const place = new Place(processes, scratch);
  try {
    if (options.replicas !== undefined)
      return await soakReplicasOnce(place, { options, tally, replicas: options.replicas });
    const soaked = await soak(place, { options, tally });
    const results: SoakResults = {
      startedAt: startedAt.toISOString(),
      ...options,
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}, ${String(availableParallelism())} cores`,
      counts: tally.counts,
      objections: tally.unexpected,
      ...soaked,
    };
    const length = `${options.isHostile ? '-hostile' : ''}${options.isQuick ? '-quick' : ''}`;
    const file = keep(length, results, soakForMarkdown(results));
    process.stdout.write(soakForTerminal(results));
    tell(`kept as ${file}.json and .md`);
    return checkResources(results).every(({ holds }) => holds) ? 0 : 1;
  } finally {
    await processes.endAll();
  }
}

async function soakReplicasOnce(
  place: Place,
  {
    options,
    tally,
    replicas,
  }: { readonly options: SoakOptions; readonly tally: Tally; readonly replicas: number },
): Promise<number> {
  const { minutes, seed, isNginx, isQuick, upgradeFrom } = options;
  if (upgradeFrom !== undefined) tell(`building ${upgradeFrom}`);
  const earlier = upgradeFrom === undefined ? undefined : buildEarlier(upgradeFrom, place.scratch);
  try {
    const given = { minutes, seed, replicas, isNginx, isQuick };
    const soaked = await soakReplicas(
      { ...given, earlierMain: earlier?.main },
      { processes, place, tally, tell },
    );
    const results: ReplicaSoakResults = {
      startedAt: startedAt.toISOString(),
      ...given,
      upgradeFrom,
      node: process.versions.node,
      platform: `${process.platform} ${process.arch}, ${String(availableParallelism())} cores`,
      counts: tally.counts,
      objections: tally.unexpected,
      ...soaked,
    };
    const kind = upgradeFrom === undefined ? 'replicas' : 'upgrade';
    const { records, ...kept } = results;
    const text = replicaSoakForMarkdown(results);
    const file = keep(`-${kind}${isQuick ? '-quick' : ''}`, { ...kept, calls: records.length }, text);
    process.stdout.write(replicaSoakForTerminal(results));
    tell(`kept as ${file}.json and .md`);
    return tally.unexpectedCount === 0 && soaked.checks.every(({ holds }) => holds) ? 0 : 1;
  } finally {
    earlier?.remove();
  }
}

async function soak(
  place: Place,
  { options, tally }: { options: SoakOptions; tally: Tally },
): Promise<Soaked> {
  const servers = await TestServers.open(place);
  const { configFile: config, home } = servers;
  const { isHostile } = options;
  if (isHostile) await servers.addHostile();
  const gateway = await Gateway.start(processes, { config, home, tally, isHostile });
  const missing = await gateway.untilUp(servers.names, UP_WITHIN_MS);
  if (missing !== undefined) throw new Error(missing);
  await gateway.useAll();
  await sleep(CALM_MS);
  const sampler = new ResourceSampler(gateway, tally, home);
  const before = await sampler.take();
  const over = new AbortController();
  const context: SoakContext = { gateway, tally, over: over.signal };
  // If Assay ends early, the load stops, and failing samples end the run.
  void gateway.ended.then(() => over.abort());
  const actors = isHostile
    ? HONEST_CLIENTS
    : [...HTTP_CLIENTS, ...faultActors(servers, options.isQuick), ...stdioClients(place, home)];
  const chance = new Chance(options.seed);
  const acting = actors.map((actor) => actOn(context, actor, chance.fork(actor.name)));
  const quickCallsMs: number[] = [];
  const threads = isHostile
    ? [
        startHostileClients(context, await createToken(home, 'hostile')),
        startQuickCalls(context, { seed: options.seed, quickCallsMs }),
      ]
    : [];
  const samples = await sampleFor(options, { sampler, over: over.signal });
  over.abort();
  await Promise.all([...acting, ...threads.map((thread) => thread.terminate())]);
  tell('the load has ended, all is mended');
  if (!isHostile) await restoreServers(context, servers);
  const down = await gateway.untilUp(servers.names, MENDED_WITHIN_MS);
  if (down !== undefined) tally.object('mended', down);
  tell('settling');
  await sleep(SETTLE_MS);
  const settled = await sampler.take();
  const how = await gateway.end();
  const ending = { how, left: await leftAfter(sampler, place) };
  const quick = {
    calls: quickCallsMs.length,
    median: median(quickCallsMs) ?? NaN,
    p99: quantile(quickCallsMs, 0.99) ?? NaN,
  };
  return { before, samples, settled, ending, unexpected: tally.unexpectedCount, quickCallsMs: quick };
}

/** The hostile client in its thread; what it did is counted. */
function startHostileClients({ gateway, tally }: SoakContext, token: string): Worker {
  const workerData: HostileData = { origin: new URL(gateway.endpoint).origin, token };
  const worker = new Worker(new URL('soak/hostile-clients.ts', import.meta.url), { workerData });
  worker.on('message', ({ name, acted }: { readonly name: string; readonly acted: number }) => {
    tally.count('hostile', name, acted);
  });
  worker.on('error', (error: unknown) => tally.object('hostile', String(error)));
  return worker;
}

/** Honest clients that make only small calls, in their thread; `quickCallsMs` receives how long each took. */
function startQuickCalls(
  { gateway, tally }: SoakContext,
  { seed, quickCallsMs }: { readonly seed: number; readonly quickCallsMs: number[] },
): Worker {
  const workerData: QuickCallsData = { endpoint: gateway.endpoint, token: gateway.token, seed };
  const worker = new Worker(new URL('soak/quick-calls.ts', import.meta.url), { workerData });
  worker.on('message', ({ tookMs, wrong }: QuickCalls) => {
    quickCallsMs.push(...tookMs);
    tally.calls += tookMs.length;
    tally.count('quick call', 'answered', tookMs.length);
    for (const reason of wrong) tally.object('quick call', reason);
  });
  worker.on('error', (error: unknown) => tally.object('quick call', String(error)));
  return worker;
}

async function sampleFor(
  { minutes, isQuick }: SoakOptions,
  { sampler, over }: { readonly sampler: ResourceSampler; readonly over: AbortSignal },
): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  const untilMs = performance.now() + minutes * 60_000;
  while (performance.now() < untilMs) {
    await pause(isQuick ? QUICK_SAMPLE_INTERVAL_MS : SAMPLE_INTERVAL_MS, over);
    if (over.aborted) throw new Error('Assay ended under the load');
    const sample = await sampler.take();
    samples.push(sample);
    const { rssMb, fds, processes: below, calls, unexpected, homeMb, maxLoopDelayMs } = sample;
    tell(
      `${rssMb.toFixed(1)} MB, ${String(fds)} handles, ${String(below)} processes, ${String(calls)} calls, ${String(unexpected)} unexpected, home ${homeMb.toFixed(1)} MB, loop ${maxLoopDelayMs.toFixed(0)} ms`,
    );
  }
  return samples;
}

/** Command lines of the processes that outlived Assay; the reaper ends a moment later by design. */
async function leftAfter(sampler: ResourceSampler, place: Place): Promise<readonly string[]> {
  const left = (): readonly number[] => [
    ...new Set([...sampler.leftOver(), ...pidsNaming(`--soak=${place.scratch}`)]),
  ];
  await seek(GONE_WITHIN_MS, () => Promise.resolve(left().length === 0 ? true : undefined));
  return left().map((pid) => `${String(pid)} ${commandLineOf(pid)}`);
}

/** Writes both files; returns their path without the extension, relative to the repository. */
function keep(kind: string, results: object, markdown: string): string {
  const minute = startedAt.toISOString().slice(0, 16).replace(':', '');
  const name = `soak-${minute}-node${process.versions.node}-${String(availableParallelism())}cores${kind}`;
  const folder = join(ROOT, 'bench', 'results');
  mkdirSync(folder, { recursive: true });
  const withoutPaths = (text: string): string => text.replaceAll(ROOT, '').replaceAll(tmpdir(), '<tmp>');
  writeFileSync(join(folder, `${name}.json`), `${withoutPaths(JSON.stringify(results, null, 2))}\n`);
  writeFileSync(join(folder, `${name}.md`), withoutPaths(markdown));
  return `bench/results/${name}`;
}

function tell(line: string): void {
  const seconds = Math.round((Date.now() - startedAt.getTime()) / 1000);
  process.stderr.write(`${String(seconds).padStart(4)} s  ${line}\n`);
}
