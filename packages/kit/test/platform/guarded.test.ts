import { createServer, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { Child } from '../../src/platform/child.ts';
import { failPeer, guardCallback, onPeerFault } from '../../src/platform/guarded.ts';
import { HttpClient, type ResponseHandler } from '../../src/platform/http-client.ts';
import { InOrder } from '../../src/platform/in-order.ts';
import { Thread } from '../../src/platform/thread.ts';
import { waitAtMost } from '../../src/platform/pause.ts';
import { endLater, killLater, until } from '../../../../test/support/endings.ts';
import { tempDir } from '../../../../test/support/paths.ts';

/** Names of the peers whose data caused a fault. */
const faults: string[] = [];
let stop: () => void = () => undefined;

beforeAll(() => {
  stop = onPeerFault(({ peer, error }) => faults.push(`${peer}: ${String(error)}`));
});
afterEach(() => void (faults.length = 0));
afterAll(() => stop());

const fail = (): never => {
  throw new TypeError('a bug');
};

function child(script: string, options: Partial<ConstructorParameters<typeof Child>[0]> = {}): Child {
  const started = new Child({
    command: process.execPath,
    args: ['-e', script],
    cwd: tempDir(),
    env: {},
    ...options,
  });
  killLater(started.pid);
  return started;
}

it.each<[way: string, callback: () => unknown]>([
  ['that throws', fail],
  ['that rejects', () => Promise.reject(new TypeError('a bug'))],
])('a callback %s ends its peer, and is reported', async (_, callback) => {
  const ended: unknown[] = [];
  guardCallback({ name: 'p', end: (error) => ended.push(String(error)) }, callback)();
  await expect.poll(() => ended).toEqual(['TypeError: a bug']);
  expect(faults).toEqual(['p: TypeError: a bug']);
});

it('a peer that cannot be ended is reported, and nothing is thrown', () => {
  failPeer({ name: 'p', end: fail }, new Error('first'));
  expect(faults).toEqual(['p: Error: first', 'p: TypeError: a bug']);
});

const LIVING = "setInterval(() => { console.log('x'); console.error('x'); }, 50); process.stdin.resume()";

it.each<[event: string, listen: (to: Child) => void]>([
  ['stdout', (to) => to.onOutput(fail)],
  ['stderr', (to) => to.onErrorOutput(fail)],
])('a fault on data of %s kills the process, and its cause says so', async (_, listen) => {
  const started = child(LIVING);
  listen(started);
  expect(await waitAtMost(started.ended, 20_000)).toEqual({ code: 'READING_FAILED', error: 'TypeError' });
  expect(faults).toEqual(['process node: TypeError: a bug']);
});

it('a fault on a handle that it sends, and on what it reads, kills the process too', async () => {
  const sends = child("process.send('x'); setInterval(() => undefined, 1000)", { onHandle: fail });
  expect(await waitAtMost(sends.ended, 20_000)).toEqual({ code: 'READING_FAILED', error: 'TypeError' });
  const reads = child(`setTimeout(() => process.stdin.resume(), 100); ${LIVING}`);
  reads.onDrain(fail);
  reads.write([Buffer.alloc(4_000_000)]);
  expect(await waitAtMost(reads.ended, 20_000)).toEqual({ code: 'READING_FAILED', error: 'TypeError' });
});

it('a fault on a message of a thread, and on its loss, ends the thread alone', async () => {
  const script = new URL('../../../../test/fixtures/thread.ts', import.meta.url);
  const common = { script, given: 'given', youngMiB: 4 };
  const thread = new Thread({ ...common, onMessage: fail, onLost: fail });
  endLater(() => thread.end());
  void thread.call('say', ['x']);
  const lost = (): unknown => thread.call('a', []).then(({ kind }) => kind);
  await expect.poll(lost).toBe('lost');
  expect(faults).toEqual(['thread: TypeError: a bug', 'thread: TypeError: a bug']);
});

const QUIET: ResponseHandler = {
  start: () => undefined,
  data: () => undefined,
  end: () => undefined,
  error: () => undefined,
};

it.each(['start', 'data', 'end', 'error'] as const)(
  'a fault on the %s of a response ends the exchange once, and the next one works',
  async (event) => {
    const site = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.on('data', () =>
        event === 'error' && connections++ === 0
          ? socket.destroy()
          : socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
      );
    });
    let connections = 0;
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    const client = new HttpClient(`http://127.0.0.1:${(site.address() as AddressInfo).port}`);
    endLater(async () => {
      await client.close();
      site.close();
    });
    const ends: string[] = [];
    const get = (handler: ResponseHandler): unknown =>
      client.call({ method: 'GET', path: '/', headers: [], body: undefined }, handler);
    get({ ...QUIET, error: ({ code }) => ends.push(code), [event]: fail });
    await until('the fault is reported', () => faults.length > 0 || undefined);
    get({ ...QUIET, end: () => ends.push('end') });
    await until('the next exchange is over', () => ends.includes('end') || undefined);
    expect(faults).toHaveLength(1);
    expect(ends).toEqual(event === 'start' || event === 'data' ? ['READING_FAILED', 'end'] : ['end']);
  },
);

it.each<[when: string, take: (item: Buffer) => Promise<void> | undefined]>([
  ['at once', fail],
  ['later', () => Promise.reject(new TypeError('a bug'))],
])('a fault in a queue of messages %s drops the rest, and the queue is idle', async (_, take) => {
  let taken = 0;
  const ended: unknown[] = [];
  const queue = new InOrder({
    take: (item) => {
      taken += 1;
      return item.length === 1 ? take(item) : undefined;
    },
    hold: () => undefined,
    peer: { name: 'p', end: (error) => ended.push(error) },
  });
  // Too much for one turn, so that the fault occurs in a turn of its own.
  for (const item of [Buffer.alloc(200_000), Buffer.alloc(1), Buffer.alloc(2)]) queue.push(item);
  await new Promise<void>((resolve) => queue.whenIdle(resolve));
  await expect.poll(() => ended).toHaveLength(1);
  expect(taken).toBe(2);
});

it('while stray faults are survived, they are reported and the process runs on', async () => {
  const script = `
    import { onPeerFault, surviveStrayFaults } from ${JSON.stringify(new URL('../../src/platform/guarded.ts', import.meta.url).href)};
    onPeerFault(({ peer, error }) => console.log(peer, error.message));
    const stop = surviveStrayFaults();
    setTimeout(() => { throw new Error('timer'); }, 1);
    Promise.reject(new Error('promise'));
    setTimeout(() => { stop(); console.log('runs'); Promise.reject(new Error('last')); }, 100);`;
  const started = child('', { args: ['--input-type=module', '-e', script] });
  let printed = '';
  started.onOutput((chunk) => (printed += chunk.toString()));
  expect(await started.ended).toEqual({ code: 'PROCESS_EXITED', exitCode: 1 });
  await started.outputRead;
  expect(printed.trim().split('\n').sort()).toEqual(['runs', 'unknown promise', 'unknown timer']);
});
