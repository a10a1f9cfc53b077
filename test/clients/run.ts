// `npm run clients -- FOLDER`: tries real MCP clients from npm with a running Assay, and prints the table of
// docs/CLIENTS.md. They are installed into FOLDER, which should be outside of the project.
import { execFile, spawn, type ChildProcess } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PACKAGES, TRIALS, type Place, type Seen, type Trial } from './trials.ts';

const HELP = `npm run clients -- FOLDER [--installed]

Installs MCP clients from npm into FOLDER, tries each of them with Assay, and prints a table.

  --installed  take the clients that are in FOLDER already
`;
const ROOT = join(import.meta.dirname, '..', '..');
const MAIN = join(ROOT, 'packages', 'gateway', 'dist', 'main.js');
const TRIAL_MS = 90_000;
/** How long the gateway may take to write a log line. */
const LOG_MS = 3_000;
const HEAD = [
  '| client | version | transport | connects | lists all tools | calls one | revision |',
  '|---|---|---|---|---|---|---|',
];

process.exitCode = await main();

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { installed: { type: 'boolean' } },
  });
  const [given] = positionals;
  if (given === undefined || positionals.length > 1) {
    console.error(HELP);
    return 2;
  }
  const folder = resolve(given);
  if (values.installed !== true) await install(folder);
  copyFileSync(join(import.meta.dirname, 'probe.mjs'), join(folder, 'probe.mjs'));
  const temp = mkdtempSync(join(tmpdir(), 'assay-clients-'));
  const served = await serve(temp);
  try {
    const place = placeOf(folder, temp, served.port);
    const all = await listDirectly(place.http);
    const rows: string[] = [];
    for (const trial of TRIALS) {
      const row = await tryOne(trial, { place, all, log: served.log });
      console.error(row);
      rows.push(row);
    }
    console.log([...HEAD, ...rows].join('\n'));
    return 0;
  } finally {
    served.child.kill();
    rmSync(temp, { recursive: true, force: true });
  }
}

interface Context {
  readonly place: Place;
  /** The names of all tools. */
  readonly all: readonly string[];
  /** The lines that the gateway has logged so far. */
  readonly log: () => readonly string[];
}

async function tryOne(trial: Trial, { place, all, log }: Context): Promise<string> {
  const before = new Set(log());
  const { file, args } = trial.command(place);
  const env = {
    ...process.env,
    HOME: place.home,
    ...trial.env,
    ASSAY_WAYS: JSON.stringify(trial.ways(place)),
  };
  const { code, output } = await run(file, args, { cwd: place.folder, env });
  const seen = code === 0 ? trial.read(output) : {};
  const revision = await revisionAfter(before, log);
  const version = versionOf(place.folder, trial.package);
  const cells = [trial.client, version, trial.way, ...verdicts(seen, all), revision ?? '–'];
  if (seen.connects !== true) console.error(output.trim().split('\n').slice(-6).join('\n'));
  return `| ${cells.join(' | ')} |`;
}

function verdicts({ connects, tools, text }: Seen, all: readonly string[]): readonly string[] {
  if (connects !== true) return ['**no**', '–', '–'];
  const listed = tools?.toSorted().join() === all.toSorted().join();
  const lists = tools === undefined ? '–' : listed ? 'yes' : `**${tools.length} of ${all.length}**`;
  const calls = text === undefined ? '–' : text.includes('Echo: hello') ? 'yes' : '**no**';
  return ['yes', lists, calls];
}

/** The protocol revisions that the gateway logged for the client. */
async function revisionAfter(before: ReadonlySet<string>, log: Context['log']): Promise<string | undefined> {
  const endMs = Date.now() + LOG_MS;
  for (;;) {
    const lines = log().filter((line) => !before.has(line));
    const revisions = lines.flatMap((line) => /"revision":"([\d-]+)","endpoint"/.exec(line)?.[1] ?? []);
    if (revisions.length > 0) return [...new Set(revisions)].join(', ');
    if (Date.now() > endMs) return undefined;
    await new Promise((done) => setTimeout(done, 100));
  }
}

function versionOf(folder: string, name: string): string {
  const text = readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8');
  return String((JSON.parse(text) as { readonly version?: unknown }).version);
}

interface Ended {
  readonly code: number | undefined;
  readonly output: string;
}

function run(
  file: string,
  args: readonly string[],
  options: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<Ended> {
  return new Promise((done) => {
    const child = execFile(
      file,
      args,
      { ...options, timeout: TRIAL_MS, maxBuffer: 64 * 1024 * 1024 },
      (error, stdout, stderr) => {
        const code = error === null ? 0 : typeof error.code === 'number' ? error.code : undefined;
        done({ code, output: code === 0 ? stdout : `${stdout}\n${stderr}` });
      },
    );
    child.stdin?.end();
  });
}

async function install(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  if (!existsSync(join(folder, 'package.json')))
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
  console.error(`Installing ${PACKAGES.length} packages into ${folder} …`);
  const args = ['install', '--no-audit', '--no-fund', '--loglevel=error', ...PACKAGES];
  const { code, output } = await new Promise<Ended>((done) => {
    execFile('npm', args, { cwd: folder }, (error, stdout, stderr) =>
      done({ code: error === null ? 0 : 1, output: stdout + stderr }),
    );
  });
  if (code !== 0) throw new Error(`npm install failed:\n${output}`);
}

interface Served {
  readonly child: ChildProcess;
  readonly port: number;
  readonly log: () => readonly string[];
}

async function serve(temp: string): Promise<Served> {
  const server = (name: string): string =>
    join(ROOT, 'node_modules', '@modelcontextprotocol', name, 'dist', 'index.js');
  const config = {
    mcpServers: {
      everything: { command: process.execPath, args: [server('server-everything')] },
      memory: {
        command: process.execPath,
        args: [server('server-memory')],
        env: { MEMORY_FILE_PATH: join(temp, 'memory.json') },
      },
    },
    settings: { 'mcp.sse': true },
  };
  writeFileSync(join(temp, 'mcp.json'), JSON.stringify(config));
  const port = await freePort();
  const child = spawn(process.execPath, [MAIN, 'serve', '--home', temp, '--port', String(port)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  const file = logOf(temp);
  writeFileSync(file, '');
  const log = (): readonly string[] => [text, readFileSync(file, 'utf8')].flatMap(linesOf);
  return { child, port, log };
}

function logOf(temp: string): string {
  return join(temp, 'stdio.log');
}

function linesOf(text: string): readonly string[] {
  return text.split('\n').slice(0, -1);
}

function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => done(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

function placeOf(folder: string, temp: string, port: number): Place {
  const origin = `http://127.0.0.1:${port}`;
  const home = join(temp, 'user');
  mkdirSync(home);
  const own = ['stdio', '--all', '--home', join(temp, 'stdio'), '--config', join(temp, 'mcp.json')];
  // Clients do not show the program's stderr, which contains its log.
  const args = ['-c', 'exec "$@" 2>> "$0"', logOf(temp), process.execPath, MAIN, ...own];
  const stdio = { command: '/bin/sh', args };
  return {
    folder,
    home,
    assay: (...args) => [MAIN, ...args, '--home', temp],
    http: `${origin}/mcp/all`,
    sse: `${origin}/sse/all`,
    stdio,
  };
}

/** The names of all tools, without a client in between; waits until the gateway has them. */
async function listDirectly(url: string): Promise<readonly string[]> {
  const META = 'io.modelcontextprotocol/';
  const meta = {
    [`${META}protocolVersion`]: '2026-07-28',
    [`${META}clientInfo`]: { name: 'direct', version: '1' },
    [`${META}clientCapabilities`]: {},
  };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/list',
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } });
  for (let tries = 1; ; tries += 1)
    try {
      const answer = (await (await fetch(url, { method: 'POST', headers, body })).json()) as Listed;
      const names = answer.result.tools.map(({ name }) => name);
      if (names.some((name) => name.startsWith('memory_')) && names.includes('everything_echo')) return names;
      throw new Error('not all servers are up');
    } catch (error) {
      if (tries === 100) throw error;
      await new Promise((done) => setTimeout(done, 200));
    }
}

interface Listed {
  readonly result: { readonly tools: readonly { readonly name: string }[] };
}
