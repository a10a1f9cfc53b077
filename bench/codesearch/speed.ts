import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { walkRepository } from '../../src/codebase/files/walk-repository.ts';
import type { IndexReport } from '../../src/codebase/indexing/index-report.ts';
import { Indexer } from '../../src/codebase/indexing/indexer.ts';
import { searchCode } from '../../src/codebase/search/search-code.ts';
import { IndexReader } from '../../src/codebase/store/index-reader.ts';
import { drawBox } from '../table.ts';

/*
 * How fast a repository is indexed and searched: node bench/codesearch/speed.ts [--from DIR] [--files 10000]
 * Copies packages from a node_modules directory until there are enough files.
 */
const { values } = parseArgs({
  options: {
    from: { type: 'string', default: join(import.meta.dirname, '..', '..', 'node_modules') },
    files: { type: 'string', default: '10000' },
  },
});
const WANTED = Number(values.files);
const MAX_FILE_BYTES = 512 * 1024;
const QUERIES = 200;

interface Measured {
  readonly what: string;
  readonly ms: number;
  readonly report: IndexReport;
  readonly cpuMs: number;
  readonly peakMb: number;
  /** The longest time without progress. */
  readonly silentMs: number;
}

const home = mkdtempSync(join(tmpdir(), 'assay-speed-'));
const root = join(home, 'repository');
const folder = join(home, 'project');
const indexer = new Indexer();
try {
  await copyPackages();
  const { files } = await walkRepository(root, { maxFileBytes: MAX_FILE_BYTES });
  const [one, ...rest] = files.filter(({ path }) => /[.](?:js|ts|mjs|cjs)$/.test(path));
  if (one === undefined) throw new Error(`No JavaScript in ${values.from}.`);
  const bytes = files.reduce((sum, { size }) => sum + size, 0);
  const measured = [
    await measure('first index'),
    await measure('unchanged'),
    await measure('unchanged again'),
  ];
  appendFileSync(one.absolutePath, '\nexport const addedForTheBenchmark = 1;\n');
  measured.push(await measure('one file changed'));
  for (const { absolutePath } of rest) utimesSync(absolutePath, new Date(), new Date());
  measured.push(await measure('all files touched'), await measure('forced', true));
  console.log(
    drawBox({
      title: `${files.length} files, ${(bytes / 1e6).toFixed(1)} MB, ${cpus().length} cores, Node ${process.versions.node}`,
      head: ['run', 'ms', 'CPU ms', 'files', 'chunks', 'peak RSS MB', 'longest silence ms'],
      rows: measured.map(({ what, ms, cpuMs, report, peakMb, silentMs }) => [
        what,
        ...[ms, cpuMs, report.files_indexed, report.chunks_created, peakMb, silentMs].map((count) =>
          count.toFixed(0),
        ),
      ]),
    }),
  );
  console.log(measureSearches());
} finally {
  await indexer.close();
  rmSync(home, { recursive: true });
}

/** Whole packages, each below a name without "node_modules", which is skipped. */
async function copyPackages(): Promise<void> {
  mkdirSync(root);
  let count = 0;
  for (const name of readdirSync(values.from).filter((name) => !/^[.@]/.test(name))) {
    const to = join(root, name);
    execFileSync('cp', ['-rL', join(values.from, name), to]);
    const { files } = await walkRepository(to, { maxFileBytes: MAX_FILE_BYTES });
    count += files.length;
    if (count >= WANTED) return;
  }
}

async function measure(what: string, force = false): Promise<Measured> {
  let peak = 0;
  const watching = setInterval(() => (peak = Math.max(peak, process.memoryUsage.rss())), 20);
  const cpu = process.cpuUsage();
  const startedMs = performance.now();
  let [lastMs, silentMs] = [startedMs, 0];
  const hear = (): void => {
    silentMs = Math.max(silentMs, performance.now() - lastMs);
    lastMs = performance.now();
  };
  const indexed = await indexer.indexRepository({ folder, path: root, force, onProgress: hear });
  hear();
  clearInterval(watching);
  if (!indexed.ok) throw new Error(indexed.error.code);
  const { user, system } = process.cpuUsage(cpu);
  return {
    what,
    ms: lastMs - startedMs,
    report: indexed.value,
    cpuMs: (user + system) / 1_000,
    peakMb: Math.max(peak, process.memoryUsage.rss()) / 1e6,
    silentMs,
  };
}

/** Queries are the words of symbols, picked evenly. */
function measureSearches(): string {
  const reader = new IndexReader(folder);
  const picked = reader.read((database) => {
    const symbols = database
      .prepare('SELECT DISTINCT symbol FROM chunks WHERE length(symbol) BETWEEN 6 AND 40 ORDER BY symbol')
      .pluck()
      .all() as string[];
    return symbols.filter((_, index) => index % Math.ceil(symbols.length / QUERIES) === 0);
  });
  if (!picked.ok) throw new Error(picked.error.code);
  const queries = picked.value.map((symbol, index) =>
    index % 4 === 0 ? symbol : symbol.replaceAll(/([a-z0-9])([A-Z])|[_$]+/g, '$1 $2').toLowerCase(),
  );
  const times = queries.map((query) => {
    const startedMs = performance.now();
    reader.read((database) => searchCode(database, { query, limit: 10 }));
    return performance.now() - startedMs;
  });
  reader.close();
  times.sort((a, b) => a - b);
  const at = (part: number): string => (times[Math.floor((times.length - 1) * part)] ?? 0).toFixed(1);
  return `${times.length} searches: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`;
}
