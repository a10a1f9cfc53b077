import { connect } from 'node:net';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { sleep, until } from '../support/endings.ts';
import { keepConnection, openMany, rawPost, untilClosed } from '../support/flood.ts';
import { send, sendBytes } from '../support/http.ts';
import { at, parseJson } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernBody, modernCall, modernHeaders } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture } from '../support/paths.ts';

const LABEL = { name: 'plain_label', arguments: {} };
const CALL = modernBody('tools/call', { params: LABEL });
const CALL_HEADERS = modernHeaders('tools/call', LABEL);

describe('a flood of 2,000 connections', () => {
  it.each([
    ['that say nothing', ''],
    ['with half-sent headers', 'POST /mcp/all HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-ty'],
    [
      'with half-sent bodies',
      'POST /mcp/all HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 90\r\n\r\n{',
    ],
  ])(
    '%s does not prevent others from being served, on new and on existing connections',
    async (_, first) => {
      const assay = await startGateway({ servers: { plain: fixture('plain') } });
      await assay.settled();
      const kept = keepConnection();
      const keptCall = async (): Promise<void> => {
        const text = await kept.post(assay.url, CALL_HEADERS, CALL);
        expect(at(parseJson(text), 'result', 'content', 0, 'text')).toBe('plain');
      };
      await keptCall();
      const session = await openSession(assay.url);
      const callAll = async (): Promise<void> => {
        await keptCall();
        expect(await modernCall(assay.url, 'plain_label')).toBe('plain');
        expect(await session.call('plain_label')).toBe('plain');
      };
      const flooding = openMany(assay.port, 2_000, first);
      const open = flooding.then(() => true);
      while (!(await Promise.race([open, sleep(0)]))) await callAll();
      for (let time = 0; time < 40; time += 1) await callAll();
      const sockets = await flooding;
      expect(kept.connections()).toBe(1);
      await until(
        'Assay has made room',
        () => {
          const left = sockets.filter((socket) => !socket.closed && !socket.readableEnded).length;
          for (const socket of sockets) socket.resume();
          return left <= 1_000 ? true : undefined;
        },
        40_000,
      );
    },
    90_000,
  );
});

describe('with a limit of two connections', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({
      servers: { plain: fixture('plain') },
      settings: { settings: { 'limits.connections': 2 } },
      limits: { adminConnections: 0 },
    });
    await until('the server is up', async () => {
      const health = await send(`http://127.0.0.1:${assay.port}/health`, { method: 'GET' });
      return at(health.json(), 'status') === 'ok' ? true : undefined;
    });
  });

  it('a new one replaces one that never had a request, rather than one between two requests', async () => {
    const kept = keepConnection();
    await kept.post(assay.url, CALL_HEADERS, CALL);
    const [idle] = await openMany(assay.port, 1);
    await modernCall(assay.url, 'plain_label');
    if (idle !== undefined) await untilClosed(idle);
    await kept.post(assay.url, CALL_HEADERS, CALL);
    expect(kept.connections()).toBe(1);
  });

  it('a new one replaces the one that was idle longest', async () => {
    const [one, other] = [keepConnection(), keepConnection()];
    await one.post(assay.url, CALL_HEADERS, CALL);
    await other.post(assay.url, CALL_HEADERS, CALL);
    await modernCall(assay.url, 'plain_label');
    await other.post(assay.url, CALL_HEADERS, CALL);
    await one.post(assay.url, CALL_HEADERS, CALL);
    expect([one.connections(), other.connections()]).toEqual([2, 1]);
  });

  it('a new one is closed at once if all are in use, which is logged, and served when one becomes free', async () => {
    const sleeping = { name: 'plain_sleep', arguments: { ms: 1_500 } };
    const raw = rawPost(
      modernHeaders('tools/call', sleeping),
      modernBody('tools/call', { params: sleeping }),
    );
    for (let time = 0; time < 2; time += 1) {
      await openMany(assay.port, 1, raw);
      await sleep(200);
    }
    for (let time = 0; time < 3; time += 1) {
      const socket = connect({ port: assay.port, host: '127.0.0.1' });
      socket.on('error', () => undefined);
      await untilClosed(socket);
    }
    expect(assay.stderr().match(/connections were refused/g)).toHaveLength(1);
    const answer = await until('a connection is free', () =>
      modernCall(assay.url, 'plain_label').catch(() => undefined),
    );
    expect(answer).toBe('plain');
  });
});

describe('a slow or idle connection', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({
      servers: { plain: fixture('plain') },
      limits: { headersMs: 300, requestMs: 1_500, idleConnectionMs: 200 },
    });
  });

  it('gets an error and is closed if its headers take too long', async () => {
    const answer = await sendBytes(assay.port, ['POST /mcp/all HTTP/1.1\r\nhost: a'], { limitMs: 8_000 });
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('gets an error and is closed if its body arrives too slowly', async () => {
    const [head = '', body = ''] = rawPost(CALL_HEADERS, CALL).split('\r\n\r\n');
    const parts = [`${head}\r\n\r\n`, ...Array.from({ length: 60 }, (_, at) => body.charAt(at))];
    const startMs = Date.now();
    const answer = await sendBytes(assay.port, parts, { pauseMs: 100, limitMs: 8_000 });
    expect(answer).toMatch(/^HTTP\/1\.1 408 /);
    expect(Date.now() - startMs).toBeLessThan(scaledMs(6_000));
  });

  it('is closed after a time without requests', async () => {
    const [socket] = await openMany(assay.port, 1, rawPost(CALL_HEADERS, CALL));
    if (socket !== undefined) await untilClosed(socket, 5_000);
  });

  it('stays open while its call runs, however long that takes', async () => {
    expect(await modernCall(assay.url, 'plain_sleep', { ms: 2_500 })).toBe('slept 2500');
  });
});
