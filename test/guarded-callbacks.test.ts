import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { connect, createServer as createListener, type AddressInfo, type Socket } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { NetworkSink } from '@assay-mcp/sandbox/network-sink';
import { ChunkPool } from '../packages/codebase/src/chunks/chunk-pool.ts';
import { BodyBudget, type BodyReservation } from '../packages/gateway/src/core/body-budget.ts';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { Connections } from '../packages/gateway/src/edges/mcp/connections.ts';
import { InputBuffer } from '../packages/gateway/src/edges/mcp/input-buffer.ts';
import { readBody } from '../packages/gateway/src/edges/mcp/read-message.ts';
import { decodeWithin } from '@assay-mcp/kit/platform/bounded-decoding';
import { onPeerFault } from '@assay-mcp/kit/platform/guarded';
import { openPinnedAgent, type PinnedRequest } from '@assay-mcp/kit/platform/pinned-agent';
import { openRedirect } from '@assay-mcp/kit/platform/redirect';
import { endLater } from './support/endings.ts';
import { tempDir } from './support/paths.ts';

/*
 * Callbacks on what a peer sends, each with something that throws in it: the peer is ended, the fault is reported, the
 * next peer is served, and nothing is thrown elsewhere.
 */

const faults: string[] = [];
const uncaught: unknown[] = [];
const onUncaught = (error: unknown): void => void uncaught.push(error);
let stop: () => void = () => undefined;

beforeAll(() => {
  stop = onPeerFault(({ peer, error }) => faults.push(`${peer}: ${String(error)}`));
  process.on('uncaughtException', onUncaught).on('unhandledRejection', onUncaught);
});
afterEach(() => {
  expect(uncaught.splice(0)).toEqual([]);
  faults.length = 0;
});
afterAll(() => {
  stop();
  process.off('uncaughtException', onUncaught).off('unhandledRejection', onUncaught);
});

const fail = (): never => {
  throw new TypeError('a bug');
};

function failOnce<T>(then: T): () => T {
  let calls = 0;
  return () => (calls++ === 0 ? fail() : then);
}

async function listening(server: Server | ReturnType<typeof createListener>): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  endLater(async () => {
    server.close();
    if ('closeAllConnections' in server) server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

function serving(answer: RequestListener): Promise<number> {
  return listening(createServer(answer));
}

/** The status of a response, or `closed`. */
async function statusOf(url: string, init: RequestInit = {}): Promise<number | 'closed'> {
  try {
    const { status, body } = await fetch(url, { ...init, headers: { connection: 'close' } });
    await body?.cancel();
    return status;
  } catch {
    return 'closed';
  }
}

it('a fault on a request of the browser ends its connection, and the sign-in goes on', async () => {
  const state = { [Symbol.toPrimitive]: failOnce('s') } as unknown as string;
  const redirect = await openRedirect({ wanted: undefined, state });
  endLater(() => redirect.close());
  expect(await statusOf(`${redirect.url}?state=s&code=c`)).toBe('closed');
  expect(faults).toEqual(['browser: TypeError: a bug']);
  expect(await statusOf(`${redirect.url}?state=s&code=c`)).toBe(200);
  expect((await redirect.answer).get('code')).toBe('c');
});

/** Something that waits for a request and fails when it is told that the request is over. */
class FailingCancellation extends Cancellation {
  override removeListener(): void {
    fail();
  }
}

it.each([
  ['on its first bytes', { maxBytes: 10 }],
  ['at its end', { maxBytes: 100_000 }],
])('a fault in decoding a body %s leaves nobody waiting', async (_, limits) => {
  const body = gzipSync('x'.repeat(50_000));
  const cancellation = new FailingCancellation();
  const isCut = limits.maxBytes === 10;
  expect(await decodeWithin(body, 'gzip', { ...limits, cancellation })).toMatchObject({ isCut });
  expect(faults[0]).toBe('body of a response: TypeError: a bug');
  expect(await decodeWithin(body, 'gzip', { maxBytes: 10 })).toMatchObject({ isCut: true });
});

it('a fault in decoding an invalid body leaves nobody waiting', async () => {
  const cancellation = new FailingCancellation();
  expect(await decodeWithin(Buffer.from('not gzip'), 'gzip', { maxBytes: 10, cancellation })).toBeUndefined();
  expect(faults[0]).toBe('body of a response: TypeError: a bug');
});

const LOOPBACK: PinnedRequest['reaches'] = new Set(['loopback']);

it.each([
  ['in full', 100],
  ['of more than is read', 1],
])('a fault on a response %s is reported, and the next request works', async (_, maxBytes) => {
  const port = await serving((__, response) => response.end('ok'));
  const agent = openPinnedAgent();
  endLater(() => agent.close());
  const url = new URL(`http://127.0.0.1:${port}/`);
  const request = { method: 'GET', url, reaches: LOOPBACK, headers: [], body: undefined, maxBytes };
  const failing = agent.exchange({ ...request, cancellation: new FailingCancellation() });
  expect(await failing).toMatchObject({ kind: 'answered', isCut: maxBytes === 1 });
  expect(faults[0]).toBe(`server at ${url.origin}: TypeError: a bug`);
  expect(await agent.exchange({ ...request, cancellation: new Cancellation() })).toMatchObject({
    kind: 'answered',
    status: 200,
  });
});

it('a fault on a connection that failed leaves nobody waiting', async () => {
  const agent = openPinnedAgent();
  endLater(() => agent.close());
  const url = new URL('http://127.0.0.1:1/');
  const request = { method: 'GET', url, reaches: LOOPBACK, headers: [], body: undefined, maxBytes: 10 };
  expect(await agent.exchange({ ...request, cancellation: new FailingCancellation() })).toMatchObject({
    kind: 'failed',
  });
  expect(faults[0]).toBe(`server at ${url.origin}: TypeError: a bug`);
});

it.each<[when: string, answer: (give: () => void) => void]>([
  ['at once', fail],
  ['later', (give) => void setImmediate(give)],
])(
  'a fault on the addresses of a host name %s fails the request, and the next one works',
  async (_, answer) => {
    const port = await serving((__, response) => response.end('ok'));
    let lookups = 0;
    const agent = openPinnedAgent({
      resolve: (__, ___, callback) => {
        lookups += 1;
        // An address that is no string, as a resolver with a bug might give.
        if (lookups === 1) answer(() => callback(null, [{ address: undefined as never, family: 4 }]));
        else callback(null, [{ address: '127.0.0.1', family: 4 }]);
      },
    });
    endLater(() => agent.close());
    const url = new URL(`http://site.test:${port}/`);
    const request = { method: 'GET', url, reaches: LOOPBACK, headers: [], body: undefined, maxBytes: 10 };
    const exchange = (): unknown => agent.exchange({ ...request, cancellation: new Cancellation() });
    expect(await exchange()).toEqual({ kind: 'failed', reason: 'could not be asked (TypeError)' });
    expect(faults).toEqual([expect.stringMatching(/^addresses of site.test: TypeError/)]);
    expect(await exchange()).toMatchObject({ kind: 'answered', status: 200 });
  },
);

it('a fault on a connection of a client ends that connection alone', async () => {
  const limits = { 'limits.connections': 1, adminConnections: 0 };
  const log = { debug: fail, info: fail, warn: fail, error: fail };
  const connections = new Connections({ limits, log });
  const held = Promise.withResolvers<() => void>();
  const server = createServer((_, response) => held.resolve(() => void response.end('ok')));
  connections.watch(server);
  const url = `http://127.0.0.1:${await listening(server)}/`;
  const first = statusOf(url);
  const answer = await held.promise;
  // Refused, as the only connection is in use; logging that fails.
  expect(await statusOf(url)).toBe('closed');
  expect(faults).toEqual(['client: TypeError: a bug']);
  answer();
  expect(await first).toBe(200);
});

it.each(['data', 'drain'] as const)(
  'a fault on the input of a client ends the input, on %s',
  async (event) => {
    const [input, output] = [new PassThrough(), new PassThrough({ highWaterMark: 1 })];
    if (event === 'drain') output.write('xx');
    const peer = { name: 'stdio client', end: () => void input.destroy() };
    const buffer = new InputBuffer({ input, output, peer, maxBytes: 1_000 }, fail);
    input.write('x');
    if (event === 'drain') {
      await expect.poll(() => buffer.isEmpty).toBe(false);
      output.resume();
    }
    await once(input, 'close');
    expect(faults).toEqual(['stdio client: TypeError: a bug']);
  },
);

/** A budget that fails when a body is whole. */
class FailingBudget extends BodyBudget {
  override reserve(...args: Parameters<BodyBudget['reserve']>): BodyReservation | undefined {
    const reservation = super.reserve(...args);
    if (reservation !== undefined) reservation.finish = failOnce(undefined);
    return reservation;
  }
}

it.each([
  ['that is too long', { limitBytes: 10, budget: new BodyBudget(1_000) }],
  ['at its end', { limitBytes: 1_000, budget: new FailingBudget(1_000) }],
])(
  'a fault on the body of a request %s ends its client, and frees the memory of the body',
  async (_, options) => {
    const bodies: unknown[] = [];
    const port = await serving((request, response) => {
      void readBody(request, { ...options, subject: 's', onRefused: fail }).then((body) => {
        bodies.push(body?.bytes.length);
        body?.reservation.release();
        response.end();
      });
    });
    const url = `http://127.0.0.1:${port}/`;
    // Without a length: one that is too large is refused before anything is read.
    const body = new Blob(['x'.repeat(100)]).stream();
    expect(await statusOf(url, { method: 'POST', body, duplex: 'half' })).toBe('closed');
    await expect.poll(() => bodies).toEqual([undefined]);
    expect(faults).toEqual(['client: TypeError: a bug']);
    expect(options.budget.bytes).toBe(0);
  },
);

it('a body that has to give way to another, where refusing it fails, costs the other nothing', async () => {
  const budget = new BodyBudget(2 * 1024 * 1024);
  const port = await serving((request, response) => {
    const subject = request.url ?? '';
    void readBody(request, { limitBytes: 2 * 1024 * 1024, budget, subject, onRefused: fail }).then((body) => {
      body?.reservation.release();
      response.end();
    });
  });
  const url = `http://127.0.0.1:${port}`;
  const unfinished = statusOf(`${url}/a`, {
    method: 'POST',
    body: new ReadableStream({ start: (to) => to.enqueue(Buffer.alloc(1_500_000)) }),
    duplex: 'half',
  });
  await expect.poll(() => budget.bytes).toBeGreaterThan(1_500_000);
  expect(await statusOf(`${url}/b`, { method: 'POST', body: Buffer.alloc(1_000_000) })).toBe(200);
  expect(await unfinished).toBe('closed');
  expect(faults).toEqual(['client: TypeError: a bug']);
});

it('a fault on what a thread says about a source file ends the thread, and another one reads the file', async () => {
  const path = join(tempDir(), 'worker.mjs');
  writeFileSync(
    path,
    `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ id, path, mayParse }) =>
      parentPort.postMessage(path === 'bad' && mayParse ? null : { id, outcome: { outcome: 'skipped', reason: path } }));`,
  );
  const pool = new ChunkPool({ maxFileBytes: 10, threads: 1, script: new URL(`file://${path}`) });
  endLater(() => pool.close());
  const file = (name: string) => ({ path: name, absolutePath: name, size: 1, mtimeMs: 0, ctimeMs: 0 });
  const outcomes = ['good', 'bad', 'next'].map((name) => pool.process(file(name)));
  const skipped = (reason: string) => ({ outcome: 'skipped', reason });
  expect(await Promise.all(outcomes)).toEqual([skipped('good'), skipped('bad'), skipped('next')]);
  expect(faults).toEqual([expect.stringMatching(/^thread that reads source files: TypeError: /)]);
});

const PAGE = 'GET / HTTP/1.1\r\nhost: site.test\r\n\r\n';

it.each<[on: string, breakIt: (socket: Socket) => void]>([
  ['request', (socket) => void (socket.write = fail)],
  ['connection', (socket) => void (socket.unref = fail)],
])('a fault on a %s of an observed process ends that connection alone', async (_, breakIt) => {
  const sink = new NetworkSink();
  const listener = createListener();
  const port = await listening(listener);
  listener.once('connection', breakIt);
  sink.serve(listener);
  const get = async (): Promise<string> => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(PAGE));
    socket.on('data', (chunk) => (text += chunk.toString())).on('error', () => undefined);
    await once(socket, 'close');
    return text;
  };
  expect(await get()).toBe('');
  expect(faults).toEqual(['observed process: TypeError: a bug']);
  expect(await get()).toMatch(/^HTTP\/1.1 503 /);
  sink.close();
});

/** A query for the address of `a` (RFC 1035, section 4.1). */
const QUERY = Buffer.from([0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 97, 0, 0, 1, 0, 1]);

it('a fault on a query of an observed process leaves that query unanswered alone', async () => {
  const sink = new NetworkSink();
  const names = createSocket('udp4').bind(0, '127.0.0.1');
  await once(names, 'listening');
  sink.serve(names);
  // A process with raw sockets sends from this port, to which nothing can be sent.
  names.emit('message', QUERY, { address: '127.0.0.1', port: 0, family: 'IPv4', size: QUERY.length });
  expect(faults).toEqual([expect.stringMatching(/^observed process: RangeError/)]);
  const client = createSocket('udp4');
  endLater(() => new Promise((resolve) => void client.close(() => resolve())));
  client.send(QUERY, names.address().port, '127.0.0.1');
  const [answer] = (await once(client, 'message')) as [Buffer];
  expect(answer.subarray(-4).join('.')).toBe('127.77.0.1');
  sink.close();
});
