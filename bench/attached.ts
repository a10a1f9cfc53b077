// The processes and memory of clients that attach, with a toolset of six of twelve servers.
//   npm run build && node bench/attached.ts
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { PipeClient } from './pipe-client.ts';
import { treeOf } from './proc.ts';
import { Processes } from './processes.ts';
import { drawBox } from './table.ts';
import { builtMain, ROOT } from './targets.ts';

const SERVERS = 12;
const SETTLED_MS = 3_000;
const MEMORY = join(ROOT, 'node_modules', '@modelcontextprotocol', 'server-memory', 'dist', 'index.js');

const home = mkdtempSync(join(tmpdir(), 'assay-attached-'));
const main = builtMain();
/** Returns whether it succeeded. */
const assay = (...args: readonly string[]): boolean =>
  spawnSync(process.execPath, [main, ...args, '--home', home], { stdio: 'ignore' }).status === 0;
const entry = (at: number): object => ({
  command: process.execPath,
  args: [MEMORY],
  env: { MEMORY_FILE_PATH: join(home, `${at}.json`) },
});
const names = Array.from({ length: SERVERS }, (_, at) => `m${at + 1}`);
const processes = new Processes();
const rows: string[][] = [];
try {
  writeFileSync(
    join(home, 'mcp.json'),
    JSON.stringify({ mcpServers: Object.fromEntries(names.map((name, at) => [name, entry(at)])) }),
  );
  // The first lists wait 5 s at most.
  while (!assay('tools', '--json'));
  assay('toolset', 'create', 'six', ...names.slice(0, 6).map((name) => `${name}.*`));
  // A gateway reads and stores all lists of the servers that it does not know yet.
  (await open(['--all'])).child.stdin.end();
  while (countStored() < SERVERS) await sleep(100);
  assay('stop');
  const first = await open();
  await sleep(SETTLED_MS);
  addRow('one client, nothing called', [first]);
  await first.ask('tools/call', { name: 'm1_read_graph', arguments: {} });
  await sleep(SETTLED_MS);
  addRow('after one call', [first]);
  const others = [await open(), await open()];
  await sleep(SETTLED_MS);
  addRow('three clients, after one call', [first, ...others]);
  const head = ['', 'processes', 'PSS MB', 'RSS MB'];
  process.stdout.write(
    `${drawBox({ title: 'clients of one gateway, six of twelve servers', head, rows })}\n`,
  );
} finally {
  await processes.endAll();
  assay('stop');
  rmSync(home, { recursive: true, force: true });
}

function countStored(): number {
  const [, body = '[]'] = readFileSync(join(home, 'catalog.json'), 'utf8').split('\n');
  return (JSON.parse(body) as readonly { readonly snapshot?: object }[]).filter(({ snapshot }) => snapshot)
    .length;
}

async function open(view: readonly string[] = ['--toolset', 'six']): Promise<PipeClient> {
  const args = [main, 'stdio', '--attach', ...view, '--home', home];
  const client = new PipeClient(processes.spawn(args));
  const clientInfo = { name: 'bench', version: '1' };
  await client.ask('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  await client.ask('tools/list', {});
  return client;
}

function addRow(what: string, clients: readonly PipeClient[]): void {
  const lock = readdirSync(home).find((name) => name.endsWith('.lock')) ?? '';
  const { pid } = JSON.parse(readFileSync(join(home, lock), 'utf8')) as { readonly pid: number };
  const all = new Set([pid, ...clients.map(({ child }) => child.pid ?? 0)].flatMap((one) => treeOf(one)));
  const sum = (key: string): string => {
    const kb = [...all].map((one) => {
      const text = readFileSync(`/proc/${one}/smaps_rollup`, 'utf8');
      return Number(new RegExp(`^${key}: +(\\d+)`, 'm').exec(text)?.[1]);
    });
    return (kb.reduce((a, b) => a + b, 0) / 1024).toFixed(0);
  };
  rows.push([what, String(all.size), sum('Pss'), sum('Rss')]);
}
