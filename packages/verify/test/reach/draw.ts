// `node packages/verify/test/reach/draw.ts [tuning|held_out]`: draws servers from the candidates of the study that nothing
// was tuned to, in the order of a hash of their names, and prints the first that start without keys and without a network.
// It ran once, before any of them was verified, and was stopped after 8 for tuning and 7 held out: servers.ts lists those.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@assay-mcp/kit/digest';
import { runConcurrently } from '@assay-mcp/kit/run-concurrently';
import { ROOT } from '../../../../test/support/paths.ts';
import { readRecords } from '../../../../test/study/record.ts';
import { SERVERS } from '../../../../test/study/servers.ts';
import { install, findProgram, withReachServer } from './installed.ts';
import { REACH_SERVERS, type ReachServer } from './servers.ts';

const SEED = 'reach 2026-11-29';
const WANTED = 12;
const PARALLEL = 3;
/** A server with more tools would decide a share alone. */
const MAX_TOOLS = 60;
const START_LIMIT_MS = 30_000;

const used = new Set([
  ...REACH_SERVERS.map((server) => server.package),
  ...SERVERS.map((server) => server.package),
  ...readRecords().map((record) => record.package),
]);

const groups = process.argv.length > 2 ? process.argv.slice(2) : ['tuning', 'held_out'];
for (const group of groups) {
  const candidates = readFileSync(join(ROOT, 'test', 'study', 'candidates.tsv'), 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([name = '', , , own]) => own === group && !used.has(name))
    .map(([name = '', version = '']) => ({ package: name, version, rank: sha256(`${SEED} ${name}`) }))
    .sort((one, other) => (one.rank < other.rank ? -1 : 1));
  const kept: (string | undefined)[] = [];
  await runConcurrently([...candidates.entries()], PARALLEL, async ([at, candidate]) => {
    // Those before it may be slower, so that all that are under way are counted by their order.
    if (kept.filter((line) => line !== undefined).length >= WANTED) return;
    kept[at] = await screen(candidate);
    console.error(`${group} ${candidate.package}: ${kept[at] ?? 'left out'}`);
  });
  const lines = kept.filter((line) => line !== undefined).slice(0, WANTED);
  console.log(`${group}\n${lines.join('\n')}`);
}

/** The line of servers.ts for a server that starts. */
async function screen({ package: name, version }: ReachServer): Promise<string | undefined> {
  // A server of files wants a folder.
  for (const args of [undefined, ['{seed}']]) {
    const server = { package: name, version, ...(args !== undefined && { args }) };
    try {
      await install(server);
      findProgram(server);
      const tools = await withReachServer(server, START_LIMIT_MS, ({ tools }) =>
        Promise.resolve(tools.length),
      );
      if (tools === undefined) continue;
      if (tools === 0 || tools > MAX_TOOLS) return undefined;
      const given = args === undefined ? '' : `, args: ['{seed}']`;
      return `{ package: '${name}', version: '${version}'${given} }, // ${tools}`;
    } catch {
      return undefined;
    }
  }
  return undefined;
}
