// Where the memory of `assay serve` goes: resident pages and heap by stage of its start, with the example servers.
//   npm run build && node bench/memory-stages.ts
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { listAll } from './lists.ts';
import { freePort, Processes } from './processes.ts';
import { median } from './statistics.ts';
import { builtMain, ROOT, waitFor } from './targets.ts';

const ROUNDS = 5;
const SERVERS = ['filesystem_', 'memory_', 'everything_'];
const IDLE_MS = 20_000;

/** What a stage takes, in MB: resident in all, of that not backed by a file, and V8's heap in use. */
type Sample = readonly [stage: string, rss: number, anonymous: number, heap: number];

/** Runs in the measured process and writes a line at each stage, in a file of its own. */
function takeSamples(file: string): void {
  const sample = (stage: string): void => {
    const status = readFileSync('/proc/self/status', 'utf8');
    const [rss, anonymous] = ['VmRSS', 'RssAnon'].map(
      (name) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024,
    );
    const line = [stage, rss, anonymous, process.memoryUsage().heapUsed / 1024 / 1024];
    appendFileSync(file, `${JSON.stringify(line)}\n`);
  };
  sample('Node started');
  process.once('worker', (worker) => {
    sample('modules loaded');
    worker.once('message', () => sample('thread of the store'));
  });
  process.on('SIGUSR2', () => sample('first list'));
  process.on('SIGWINCH', () => sample('idle for 20 s'));
}

const processes = new Processes();
const samples: Sample[] = [];
try {
  for (let round = 0; round < ROUNDS; round++) samples.push(...(await measureRound()));
} finally {
  await processes.endAll();
}
const stages = [...new Set(samples.map(([stage]) => stage))];
console.log('| | RSS, MB | not of files, MB | heap, MB |\n|---|---:|---:|---:|');
for (const stage of stages) {
  const cells = [1, 2, 3].map((column) =>
    median(samples.filter(([one]) => one === stage).map((sample) => Number(sample[column])))?.toFixed(1),
  );
  console.log(`| ${[stage, ...cells].join(' | ')} |`);
}

async function measureRound(): Promise<readonly Sample[]> {
  const home = mkdtempSync(join(tmpdir(), 'assay-stages-'));
  const file = join(home, 'stages.txt');
  const port = String(await freePort());
  const preload = `import { appendFileSync, readFileSync } from 'node:fs';
if (process.argv[2] === 'serve') (${takeSamples.toString()})(${JSON.stringify(file)});`;
  const config = join(ROOT, 'examples', 'mcp.json');
  const running = processes.start(
    [
      // With this flag `serve` does not replace itself.
      ...['--max-semi-space-size=16', '--import', `data:text/javascript,${encodeURIComponent(preload)}`],
      ...[builtMain(), 'serve', '--config', config, '--port', port, '--home', home],
    ],
    { cwd: ROOT },
  );
  await waitFor(running, async () => {
    const names = (await listAll(`http://127.0.0.1:${port}/mcp/all`)).flatMap((page) => page.names);
    return SERVERS.find((server) => !names.some((name) => name.startsWith(server)));
  });
  process.kill(running.pid, 'SIGUSR2');
  await sleep(IDLE_MS);
  process.kill(running.pid, 'SIGWINCH');
  const read = (): string => (existsSync(file) ? readFileSync(file, 'utf8') : '');
  await waitFor(running, () => Promise.resolve(read().includes('idle') ? undefined : 'no last sample'));
  const taken = read()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Sample);
  running.end();
  await sleep(1_000);
  rmSync(home, { recursive: true, force: true });
  return taken;
}
