import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { walkRepository } from '../../packages/codebase/src/files/walk-repository.ts';
import { IndexReader } from '../../packages/codebase/src/store/index-reader.ts';
import { cpuMsOf } from '../proc.ts';
import { drawBox } from '../table.ts';

/*
 * How fast a client's repository is indexed and searched by `assay codebase`, and in how much memory (Linux only):
 * npm run build && node bench/codesearch/speed.ts [--from DIR] [--files 10000]
 * Copies packages from a node_modules directory until there are enough files.
 */
const { values } = parseArgs({
  options: {
    from: { type: 'string', default: join(import.meta.dirname, '..', '..', 'node_modules') },
    files: { type: 'string', default: '10000' },
  },
});
const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const WANTED = Number(values.files);
const MAX_FILE_BYTES = 512 * 1024;
const QUERIES = 200;

interface Measured {
  readonly what: string;
  readonly ms: number;
  readonly report: Report;
  readonly cpuMs: number;
  readonly peakMb: number;
  /** The longest time without a notification of progress. */
  readonly silentMs: number;
}

/** What is read of the tool's result. */
interface Report {
  readonly files_indexed: number;
  readonly chunks_created: number;
}

const place = mkdtempSync(join(tmpdir(), 'assay-speed-'));
// Beside the home: what is in it is never indexed.
const [home, root] = [join(place, 'home'), join(place, 'repository')];
const transport = new StdioClientTransport({
  command: process.execPath,
  args: [MAIN, 'codebase', '--no-watch', '--root', root],
  env: { PATH: process.env['PATH'] ?? '', ASSAY_HOME: home },
});
const client = new Client({ name: 'bench', version: '1' });
await client.connect(transport);
const pid = transport.pid ?? 0;
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
  console.log(await measureSearches());
} finally {
  await client.close();
  rmSync(place, { recursive: true });
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
  // Sets the peak back (proc(5), clear_refs).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const cpuMs = cpuMsOf(pid) ?? 0;
  const startedMs = performance.now();
  let [lastMs, silentMs] = [startedMs, 0];
  const onprogress = (): void => {
    silentMs = Math.max(silentMs, performance.now() - lastMs);
    lastMs = performance.now();
  };
  const { structuredContent, isError, content } = await client.callTool(
    { name: 'index_repository', arguments: { repo_path: root, force_reindex: force } },
    { onprogress, timeout: 600_000 },
  );
  const ms = performance.now() - startedMs;
  onprogress();
  if (isError === true) throw new Error(JSON.stringify(content));
  const peakKib = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return {
    what,
    ms,
    report: structuredContent as Report,
    cpuMs: (cpuMsOf(pid) ?? 0) - cpuMs,
    peakMb: (Number(peakKib) * 1024) / 1e6,
    silentMs,
  };
}

/** Queries are the words of symbols, picked evenly. */
async function measureSearches(): Promise<string> {
  const reader = new IndexReader(join(home, 'codebase', 'default'));
  const picked = reader.read((database) => {
    const symbols = database
      .prepare('SELECT DISTINCT symbol FROM chunks WHERE length(symbol) BETWEEN 6 AND 40 ORDER BY symbol')
      .all() as readonly { readonly symbol: string }[];
    return symbols
      .map(({ symbol }) => symbol)
      .filter((_, index) => index % Math.ceil(symbols.length / QUERIES) === 0);
  });
  reader.close();
  if (!picked.ok) throw new Error(picked.error.code);
  const times: number[] = [];
  for (const [index, symbol] of picked.value.entries()) {
    const words = symbol.replaceAll(/([a-z0-9])([A-Z])|[_$]+/g, '$1 $2').toLowerCase();
    const startedMs = performance.now();
    const query = index % 4 === 0 ? symbol : words;
    await client.callTool({ name: 'search_code', arguments: { query, limit: 10 } });
    times.push(performance.now() - startedMs);
  }
  times.sort((a, b) => a - b);
  const at = (part: number): string => (times[Math.floor((times.length - 1) * part)] ?? 0).toFixed(1);
  return `${times.length} searches: p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms`;
}
