import fc from 'fast-check';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { NetworkGate } from '../src/network-gate.ts';
import { onPeerFault, type PeerFault } from '@assay-mcp/kit/platform/guarded';
import { IS_LONG } from '../../../test/support/campaign.ts';

/*
 * The gate between a process that sends anything and a site that answers anything. Nothing that either sends may raise
 * an exception, in a callback or elsewhere, and the gate answers the next request.
 */

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok';
const faults: PeerFault[] = [];
const uncaught: unknown[] = [];
const received: string[] = [];
const onUncaught = (error: unknown): void => void uncaught.push(error);
/** What the site answers, whatever it is sent. */
let answer: string = OK;
let site: Server;
let gate: NetworkGate;
let gatePort = 0;
let sitePort = 0;
let stop: () => void = () => undefined;

beforeAll(async () => {
  stop = onPeerFault((fault) => faults.push(fault));
  process.on('uncaughtException', onUncaught);
  site = createServer((socket: Socket) => {
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      received.push(chunk.toString('latin1'));
      socket.end(Buffer.from(answer, 'latin1'));
    });
  });
  sitePort = await listening(site);
  gate = new NetworkGate({
    allowed: ['site.test'],
    namedReaches: new Set(['loopback']),
    resolve: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  const listener = createServer();
  gatePort = await listening(listener);
  gate.serve(listener);
});

afterAll(() => {
  stop();
  process.off('uncaughtException', onUncaught);
  gate.close();
  site.close();
});

afterEach(() => {
  [answer, received.length] = [OK, 0];
});

function listening(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port));
  });
}

/** Sends bytes through the gate, and returns what came back once the connection is closed or `quietMs` passed. */
function sent(bytes: string, quietMs = 10_000): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connect(gatePort, '127.0.0.1', () => socket.write(Buffer.from(bytes, 'latin1')));
    socket.setTimeout(quietMs, () => socket.destroy());
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.on('error', () => undefined);
    socket.once('close', () => resolve(text));
  });
}

/** A request for the site with more header lines. */
function requestWith(lines: string, method = 'GET'): string {
  return `${method} http://site.test:${sitePort}/ HTTP/1.1\r\nhost: site.test\r\nconnection: close\r\n${lines}\r\n`;
}

async function isSound(): Promise<void> {
  answer = OK;
  expect(await sent(requestWith(''))).toMatch(/^HTTP\/1\.1 200 /);
  expect(faults).toEqual([]);
  expect(uncaught).toEqual([]);
}

it.each([
  'trailer: a\r\n',
  'te: trailers\r\nupgrade: websocket\r\n',
  '__proto__: a\r\n',
  'connection: close, x-secret, host\r\nx-secret: a\r\n',
  'expect: 100-continue\r\n',
  'transfer-encoding: gzip, chunked\r\n\r\n0\r\n',
])('a request with %j raises no exception', async (lines) => {
  expect(await sent(requestWith(lines))).toMatch(/^HTTP\/1\.1 \d{3} /);
  expect(received.join('')).not.toMatch(/trailer|upgrade|x-secret|__proto__: b/i);
  await isSound();
});

it.each([
  'HTTP/1.1 099 Too Small\r\n\r\n',
  'HTTP/1.1 999 Too Large\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 600 Unknown\r\ncontent-length: 0\r\n\r\n',
  'HTTP/1.1 200 OK\r\ntrailer: x\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 200 OK\r\ntrailer: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx: y\r\n\r\n',
  'HTTP/1.1 200 OK\r\n__proto__: x\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok',
  'HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n',
  'HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\ncut',
  'HTTP/1.1 200 OK\r\nx-bell: a\x07b\x7f\r\ncontent-length: 2\r\n\r\nok',
  'SSH-2.0-OpenSSH_9.9\r\n',
  '',
])('an answer %j raises no exception, and is answered', async (text) => {
  answer = text;
  expect(await sent(requestWith(''))).toMatch(/^HTTP\/1\.1 [2-5]\d\d /);
  await isSound();
});

it('passes on neither headers of a connection nor what Connection names, in both directions', async () => {
  answer =
    'HTTP/1.1 200 OK\r\nconnection: x-hop\r\nx-hop: a\r\nkeep-alive: timeout=9\r\nproxy-authenticate: Basic\r\n' +
    'x-end: b\r\nset-cookie: c=1\r\nset-cookie: d=2\r\ncontent-length: 2\r\n\r\nok';
  const lines = 'connection: x-own\r\nx-own: a\r\nproxy-authorization: Basic eA==\r\nx-kept: b\r\n';
  const back = await sent(requestWith(lines));
  expect(received.join('')).not.toMatch(/x-own|proxy-/i);
  expect(received.join('')).toMatch(/x-kept: b/);
  expect(back).not.toMatch(/x-hop|timeout=9|proxy-/i);
  expect(back).toMatch(/x-end: b\r\nset-cookie: c=1\r\nset-cookie: d=2\r\n/i);
});

it('a chunked body of a GET stays framed, so that it is not read as another request', async () => {
  const inner = 'GET /inner HTTP/1.1\r\nhost: other.test\r\n\r\n';
  const chunk = `${Buffer.byteLength(inner).toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
  await sent(`${requestWith('transfer-encoding: chunked\r\n')}${chunk}`);
  expect(received.join('')).toMatch(/transfer-encoding: chunked/i);
});

it('a fault in a tunnel that is open writes nothing into it', async () => {
  answer = 'raw';
  const back = await sent(`CONNECT site.test:${sitePort} HTTP/1.1\r\nhost: x\r\n\r\nhello`);
  expect(back).toBe('HTTP/1.1 200 Connection Established\r\n\r\nraw');
  await isSound();
});

/** Pieces of HTTP, valid and not, in any order. */
const piece = fc.constantFrom(
  ...['GET', 'POST', 'CONNECT', 'HEAD', 'OPTIONS', 'PRI', ' ', '\r\n', '\r\n\r\n', '\n', ':', ',', ';', '/'],
  ...[
    'http://site.test',
    'https://site.test',
    'http://[::1',
    'http://',
    'site.test:',
    'site.test:99999',
    '*',
  ],
  ...['HTTP/1.1', 'HTTP/1.0', 'HTTP/2.0', 'HTTP/1.1 200 OK', 'HTTP/1.1 099', 'HTTP/1.1 1', 'HTTP/1.1 999 '],
  ...[
    'trailer: ',
    'te: ',
    'upgrade: h2c',
    'connection: ',
    'content-length: ',
    'transfer-encoding: ',
    'expect: ',
  ],
  ...[
    'chunked',
    'gzip',
    'close',
    'keep-alive',
    '100-continue',
    '0',
    '5',
    '-1',
    'ffffffffffffffff',
    'a',
    '__proto__',
  ],
);
const bytes = fc.array(
  fc.oneof({ weight: 6, arbitrary: piece }, fc.string({ unit: 'binary', maxLength: 8 })),
  {
    maxLength: 40,
  },
);
const text = bytes.map((pieces) => pieces.join('').replaceAll('SITE', String(sitePort)));

it('holds for any bytes from either side', async () => {
  const request = fc.oneof(
    text,
    fc
      .tuple(fc.constantFrom('GET', 'POST', 'HEAD', 'DELETE'), text)
      .map(([method, lines]) => requestWith(lines, method)),
    text.map((tail) => `CONNECT site.test:${sitePort} HTTP/1.1\r\nhost: x\r\n\r\n${tail}`),
  );
  const response = fc.oneof(
    text,
    text.map((tail) => `HTTP/1.1 200 OK\r\n${tail}`),
  );
  await fc.assert(
    fc.asyncProperty(request, response, async (asked, answered) => {
      answer = answered;
      await sent(asked, 30);
      expect(faults).toEqual([]);
      expect(uncaught).toEqual([]);
    }),
    {
      numRuns: IS_LONG ? 1_000_000 : 150,
      interruptAfterTimeLimit: IS_LONG ? 600_000 : 8_000,
      markInterruptAsFailure: false,
    },
  );
  await isSound();
}, 660_000);
