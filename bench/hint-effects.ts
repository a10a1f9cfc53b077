// node bench/hint-effects.ts: what a client wins that obeys hints. Two scripted clients do the same work on the code-search
// server behind a gateway, over a link with a delay that drops every tenth call. One reads the hints: it runs read-only calls
// side by side, and repeats a dropped call if it is read-only and idempotent. The other knows nothing, so it does one call
// after the other, and must ask its user before it repeats one.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { median } from './statistics.ts';
import { drawBox } from './table.ts';

const ROOT = join(import.meta.dirname, '..');
/** One way. */
const DELAY_MS = 10;
const DROPPED = 10;
const SIDE_BY_SIDE = 6;
const ROUNDS = 5;
const TOPICS = [
  'token',
  'header',
  'schema',
  'toolset',
  'session',
  'queue',
  'signal',
  'secret',
  'digest',
  'lint',
];
const SEARCHES = TOPICS.flatMap((topic) =>
  ['where is', 'parse', 'tests of', 'errors of'].map((verb) => `${verb} ${topic}`),
);

interface Outcome {
  readonly seconds: number;
  readonly retries: number;
  /** Calls after which the user had to decide. */
  readonly asked: number;
}

interface Call {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
}

const home = mkdtempSync(join(tmpdir(), 'assay-bench-'));
const config = join(home, 'mcp.json');
writeFileSync(config, JSON.stringify({ mcpServers: { codebase: { type: 'codebase', roots: [ROOT] } } }));
const args = ['serve', '--port', '0', '--home', home, '--config', config];
const gateway = spawn(process.execPath, [join(ROOT, 'packages', 'gateway', 'dist', 'main.js'), ...args], {
  stdio: ['ignore', 'pipe', 'ignore'],
});
try {
  const port = await portOf();
  const link = await openLink(port);
  await measure(`http://127.0.0.1:${link}/mcp/servers/codebase`);
} finally {
  gateway.kill();
  await new Promise((resolve) => gateway.once('exit', resolve));
  rmSync(home, { recursive: true, force: true });
}
process.exit();

async function measure(url: string): Promise<void> {
  await work(url, true);
  const outcomes = { obeys: [] as Outcome[], ignores: [] as Outcome[] };
  for (let round = 0; round < ROUNDS; round += 1) {
    outcomes.ignores.push(await work(url, false));
    outcomes.obeys.push(await work(url, true));
  }
  const row = (label: string, all: readonly Outcome[]): readonly string[] => [
    label,
    (median(all.map(({ seconds }) => seconds)) ?? 0).toFixed(2),
    String(median(all.map(({ asked }) => asked))),
    String(median(all.map(({ retries }) => retries))),
  ];
  const title = `${SEARCHES.length} searches and one index run, every ${DROPPED}th call dropped, ${2 * DELAY_MS} ms round trip`;
  const head = ['client', 'seconds', 'user asked', 'retried by itself'];
  const rows = [row('ignores hints', outcomes.ignores), row('obeys hints', outcomes.obeys)];
  process.stdout.write(`${drawBox({ title, head, rows })}\n`);
}

async function work(url: string, obeys: boolean): Promise<Outcome> {
  const client = new Client(
    { name: 'bench', version: '1' },
    { versionNegotiation: { mode: { pin: '2026-07-28' } } },
  );
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const { tools } = await client.listTools();
  const hintsOf = ({ name }: Call) =>
    obeys ? tools.find((tool) => tool.name === name)?.annotations : undefined;
  let [retries, asked] = [0, 0];
  const done = async (call: Call): Promise<void> => {
    for (;;) {
      try {
        await client.callTool(call);
        return;
      } catch {
        const hints = hintsOf(call);
        if (hints?.readOnlyHint === true && hints.idempotentHint === true) retries += 1;
        else asked += 1;
      }
    }
  };
  const startedMs = performance.now();
  await done({ name: 'index_repository', arguments: { repo_path: join(ROOT, 'src') } });
  const calls = SEARCHES.map((query): Call => ({ name: 'search_code', arguments: { query, limit: 5 } }));
  const width = calls.every((call) => hintsOf(call)?.readOnlyHint === true) ? SIDE_BY_SIDE : 1;
  const waiting = [...calls];
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let call = waiting.shift(); call !== undefined; call = waiting.shift()) await done(call);
    }),
  );
  const seconds = (performance.now() - startedMs) / 1_000;
  await client.close();
  return { seconds, retries, asked };
}

function portOf(): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = '';
    gateway.once('exit', () => reject(new Error('the gateway ended')));
    gateway.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const port = /endpoint +http:\/\/\S+:(\d+)\/mcp/.exec(said)?.[1];
      if (port !== undefined) resolve(Number(port));
    });
  });
}

/** A link with a delay, which loses the answer to every tenth call. */
async function openLink(port: number): Promise<number> {
  let calls = 0;
  const forward = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const body = Buffer.concat(await incoming.toArray());
    const isDropped = body.includes('"tools/call"') && (calls += 1) % DROPPED === 0;
    await sleep(DELAY_MS);
    const { method, url: path, headers } = incoming;
    const onward = request({ port, host: '127.0.0.1', method, path, headers }, (answer) => {
      void sleep(DELAY_MS).then(() => {
        if (isDropped) {
          answer.resume();
          incoming.socket.destroy();
          return;
        }
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      });
    });
    onward.on('error', () => incoming.socket.destroy());
    onward.end(body);
  };
  const server = createServer((incoming, outgoing) => void forward(incoming, outgoing));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}
