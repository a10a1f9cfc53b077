// node bench/start-stages.ts [ROUNDS]: what `assay stdio` does until its first list, by V8's profile of its main thread.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Processes } from './processes.ts';
import { Starts } from './start.ts';
import { median } from './statistics.ts';
import { drawBox } from './table.ts';
import { Place } from './targets.ts';

interface Profile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
  readonly startTime: number;
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** The first stage whose pattern is in a stack, from the innermost function, has the sample. */
const STAGES: readonly (readonly [stage: string, pattern: RegExp])[] = [
  ['waiting', /^\(idle\)/],
  ['garbage collection', /^\(garbage collector\)/],
  ["loading Node's modules", /^compileForInternalLoader /],
  ["top-level code of Assay's files", /^evaluate $/],
  ["finding, reading and compiling Assay's files", / node:internal\/modules\//],
  ['running', /^/],
];

const rounds = Number(process.argv[2] ?? 9);
const scratch = mkdtempSync(join(tmpdir(), 'assay-stages-'));
const processes = new Processes();
try {
  const starts = new Starts(new Place(processes, scratch));
  const warm: number[][] = [];
  const cold: number[][] = [];
  for (let round = -1; round < rounds; round += 1) {
    const measured = [await profile(starts, starts.warmHome), await profile(starts, starts.emptyHome())];
    // The first fills the catalog and the compile cache.
    if (round >= 0) for (const [at, one] of measured.entries()) (at === 0 ? warm : cold).push(one);
  }
  const ms = (all: readonly number[][], at: number): string =>
    (median(all.map((one) => one[at] ?? NaN)) ?? NaN).toFixed(1);
  const names = ['from the start of the process to its first code', ...STAGES.map(([stage]) => stage)];
  const rows = names.map((name, at) => [name, ms(warm, at), ms(cold, at)]);
  const title = `ms until the first list, profiled (medians of ${rounds} rounds)`;
  process.stdout.write(`${drawBox({ title, head: ['', 'warm', 'cold'], rows })}\n`);
} finally {
  await processes.endAll();
  rmSync(scratch, { recursive: true, force: true });
}

/** The ms of each stage until the list was there. */
async function profile(starts: Starts, home: string): Promise<number[]> {
  const folder = join(scratch, 'profiles');
  mkdirSync(folder);
  const options = ['--cpu-prof', '--cpu-prof-interval', '100', '--cpu-prof-dir', folder];
  const { atUs, tookMs } = await starts.assay(home, options);
  // Those of other threads have higher numbers.
  const [main = ''] = readdirSync(folder).toSorted();
  const { nodes, samples, timeDeltas, startTime } = JSON.parse(
    readFileSync(join(folder, main), 'utf8'),
  ) as Profile;
  rmSync(folder, { recursive: true });
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const frames = new Map(
    nodes.map(({ id, callFrame: { functionName, url } }) => [id, `${functionName} ${url}`]),
  );
  const spent = STAGES.map(() => 0);
  let nowUs = startTime;
  for (const [at, id] of samples.entries()) {
    nowUs += timeDeltas[at] ?? 0;
    if (nowUs > atUs) break;
    const stage = stageOf(id, parents, frames);
    spent[stage] = (spent[stage] ?? 0) + (timeDeltas[at + 1] ?? 0) / 1_000;
  }
  return [tookMs - (atUs - startTime) / 1_000, ...spent];
}

function stageOf(
  id: number,
  parents: ReadonlyMap<number, number>,
  frames: ReadonlyMap<number, string>,
): number {
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
    const stage = STAGES.findIndex(([, pattern]) => pattern.test(frames.get(at) ?? ''));
    if (stage < STAGES.length - 1) return stage;
  }
  return STAGES.length - 1;
}
