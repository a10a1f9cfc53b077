// `node test/study/split.ts`: writes into candidates.tsv which candidates are held out. It first ran before any of them was
// verified; the arguments of the verifier are chosen with the others alone.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '@assay-mcp/kit/digest';
import { SERVERS } from './servers.ts';

export type Group = 'tuning' | 'held_out';

const SEED = 'study 2026-11';
const CANDIDATES = join(import.meta.dirname, 'candidates.tsv');
const HEADER = 'package\tversion\tdownloads a month\tgroup';

/**
 * Held out at first. The answers of these were read on 2026-11-30: six of the twelve held-out servers with five or more
 * tools that did not succeed for an unknown reason, the first by a hash of their names. Those of eight others were read
 * too, drawn in the same way from all, and nothing was changed for them: each tool that failed lacked the internet, a key,
 * a browser or an app.
 */
const MOVED: ReadonlySet<string> = new Set([
  '@vuetify/mcp',
  '@standardbeagle/slop-mcp',
  '@flightbox/mcp-server',
  '@karakeep/mcp',
  '@shiplightai/mcp',
  'universal-db-mcp',
]);

/** Half of the candidates by a hash of their names. Servers of the first study were used for tuning before. */
export function chooseGroup(packageName: string): Group {
  if (SERVERS.some((server) => server.package === packageName)) return 'tuning';
  if (MOVED.has(packageName)) return 'tuning';
  return Number.parseInt(sha256(`${SEED} ${packageName}`).slice(0, 8), 16) % 2 === 0 ? 'held_out' : 'tuning';
}

if (process.argv[1] === import.meta.filename) {
  const lines = readFileSync(CANDIDATES, 'utf8')
    .trimEnd()
    .split('\n')
    .slice(1)
    .map((line) => line.split('\t').slice(0, 3))
    .map((cells) => [...cells, chooseGroup(cells[0] ?? '')].join('\t'));
  writeFileSync(CANDIDATES, `${[HEADER, ...lines].join('\n')}\n`);
}
