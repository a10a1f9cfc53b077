// One hostile client with a valid token, in a thread of its own so that its work does not delay the honest clients.
// It repeats everything that once filled the disk, took the memory or stalled the process.
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { request } from 'undici';
import { initialize, outgoing, type Ask } from '../messages.ts';

export interface HostileData {
  readonly origin: string;
  readonly token: string;
}

const UNFINISHED_BODIES = 60;
const UNFINISHED_BYTES = 60 * 1024 * 1024;
const BODY_CHUNK = Buffer.alloc(256 * 1024, ' ');
const UNREAD_STREAMS = 200;
const QUERY_LENGTH = 15_000_000;
const NESTED_DEPTH = 200_000;
const ANSWER_WITHIN_MS = 20_000;

interface HostileActor {
  readonly name: string;
  readonly pauseMs: number;
  readonly act: (data: HostileData) => Promise<unknown>;
}

const ACTORS: readonly HostileActor[] = [
  { name: 'unfinished bodies', pauseMs: 1_000, act: holdUnfinishedBodies },
  { name: 'toolsets', pauseMs: 20, act: buildAndDeleteToolset },
  { name: 'unread events', pauseMs: 5_000, act: holdUnreadStreams },
  { name: 'invalid tokens', pauseMs: 50, act: sendInvalidToken },
  { name: 'huge query', pauseMs: 2_000, act: searchWithHugeQuery },
  {
    name: 'sessions',
    pauseMs: 50,
    act: ({ origin, token }) => post(origin, '/mcp/all', withToken(initialize(), token)),
  },
  { name: 'nested body', pauseMs: 1_000, act: sendNestedBody },
  ...['nested', 'big', 'progress'].map((tool) => ({
    name: `call of hostile_${tool}`,
    pauseMs: 1_000,
    act: (data: HostileData): Promise<unknown> => call(data, '/mcp/all', `hostile_${tool}`, {}),
  })),
];

if (parentPort !== null) {
  const data = workerData as HostileData;
  for (const actor of ACTORS) void repeat(actor, data);
}

/** What its requests get does not matter; how often it acted is reported once a second. */
async function repeat({ name, pauseMs, act }: HostileActor, data: HostileData): Promise<void> {
  let acted = 0;
  setInterval(() => {
    parentPort?.postMessage({ name, acted });
    acted = 0;
  }, 1_000);
  for (;;) {
    await act(data).catch(() => undefined);
    acted += 1;
    await sleep(pauseMs);
  }
}

/** Keeps 60 requests open whose bodies grow up to 60 MiB each and never end; a closed one is replaced. */
async function holdUnfinishedBodies({ origin, token }: HostileData): Promise<void> {
  const open = Array.from({ length: UNFINISHED_BODIES }, () => openUnfinishedBody(origin, token));
  await sleep(15_000);
  for (const socket of open) socket.destroy();
}

function openUnfinishedBody(origin: string, token: string): Socket {
  const socket = connect(Number(new URL(origin).port), '127.0.0.1');
  const head = `POST /mcp/all HTTP/1.1\r\nHost: ${new URL(origin).host}\r\nAuthorization: Bearer ${token}\r\n`;
  socket.on('error', () => undefined).resume();
  socket.write(`${head}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const size = BODY_CHUNK.length.toString(16);
  const write = (): void => {
    if (socket.destroyed || socket.bytesWritten > UNFINISHED_BYTES) return;
    socket.write(`${size}\r\n`);
    socket.write(BODY_CHUNK);
    if (socket.write('\r\n')) setImmediate(write);
    else socket.once('drain', write);
  };
  write();
  return socket;
}

async function buildAndDeleteToolset(data: HostileData): Promise<void> {
  const name = 'hostile';
  const tools = Array.from({ length: 100 }, () => ({ namespacedName: 'pipe.echo' }));
  await call(data, '/mcp/configuration', 'build-toolset', { name, tools, autoEquip: false });
  await call(data, '/mcp/configuration', 'delete-toolset', { name, confirm: true });
}

async function holdUnreadStreams({ origin, token }: HostileData): Promise<void> {
  const { host, port } = new URL(origin);
  const head = `GET /events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  const sockets = Array.from({ length: UNREAD_STREAMS }, () => {
    const socket = connect(Number(port), '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(head);
    return socket.pause();
  });
  await sleep(20_000);
  for (const socket of sockets) socket.destroy();
}

async function sendInvalidToken({ origin }: HostileData): Promise<void> {
  await post(origin, '/mcp/all', withToken(initialize(), `eyJhbGciOiJSUzI1NiJ9.${String(Math.random())}.x`));
}

async function searchWithHugeQuery(data: HostileData): Promise<void> {
  await call(data, '/mcp/search', 'search_tools', { query: 'word '.repeat(QUERY_LENGTH / 5) });
}

async function sendNestedBody({ origin, token }: HostileData): Promise<void> {
  const { headers } = withToken(initialize(), token);
  await post(origin, '/mcp/all', { headers, body: '['.repeat(NESTED_DEPTH) });
}

async function call(
  { origin, token }: HostileData,
  path: string,
  name: string,
  given: object,
): Promise<void> {
  const ask: Ask = { era: 'modern', method: 'tools/call', params: { name, arguments: given }, id: 1, token };
  await post(origin, path, outgoing(ask));
}

function withToken(message: Posted, token: string): Posted {
  return { ...message, headers: { ...message.headers, authorization: `Bearer ${token}` } };
}

interface Posted {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function post(origin: string, path: string, { headers, body }: Posted): Promise<void> {
  const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
  const answer = await request(`${origin}${path}`, { method: 'POST', headers, body, signal });
  await answer.body.dump();
}
