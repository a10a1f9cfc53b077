import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startMade } from '../fixtures/http-made.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { startRequest } from '../support/http.ts';
import { at, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernBody, modernHeaders } from '../support/modern.ts';
import { fixture, openEventLog, tempDir } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

/** A server that answers its handshake once it is released: when the call is there and cancelled. */
function heldServer(env: JsonObject) {
  const file = join(tempDir(), 'released');
  return {
    servers: { slow: fixture('lister', [`--held-by=${file}`], { env }) },
    release: () => writeFileSync(file, ''),
  };
}

describe.concurrent('a call cancelled before its server is ready', () => {
  it('is never sent if a legacy client cancelled it', async () => {
    const eventLog = openEventLog();
    const { servers, release } = heldServer(eventLog.env);
    const assay = await startGateway({ servers });
    const session = await openSession(assay.url);
    const cancelled = session.stream('tools/call', { name: 'slow_echo', arguments: { who: 'gone' } }, 'gone');
    const kept = session.call('slow_echo', { who: 'kept' });
    await sleep(300);
    expect(eventLog.countOf('tools/list')).toBe(0);
    await session.notify('notifications/cancelled', { requestId: 'gone' });
    release();
    expect(await kept).toBe('{"who":"kept"}');
    await sleep(300);
    (await cancelled).cut();
    expect(eventLog.countOf('tools/call')).toBe(1);
    expect(eventLog.countOf('notifications/cancelled')).toBe(0);
  });

  it('is never sent if a modern client disconnected', async () => {
    const eventLog = openEventLog();
    const { servers, release } = heldServer(eventLog.env);
    const assay = await startGateway({ servers });
    const call = { name: 'slow_echo', arguments: {} };
    const asked = startRequest(assay.url, {
      headers: modernHeaders('tools/call', call),
      body: modernBody('tools/call', { params: call }),
    });
    await sleep(300);
    expect(eventLog.countOf('tools/list')).toBe(0);
    asked.cut();
    await sleep(300);
    release();
    await assay.settled();
    await sleep(300);
    expect(eventLog.countOf('tools/call')).toBe(0);
  });

  it('is never sent, nor answered, on stdio', async () => {
    const eventLog = openEventLog();
    const { servers, release } = heldServer(eventLog.env);
    const pipe = openStdio({ servers });
    await pipe.initialize();
    const params = { name: 'slow_echo', arguments: {} };
    pipe.send({ jsonrpc: '2.0', id: 'gone', method: 'tools/call', params });
    await sleep(300);
    expect(eventLog.countOf('tools/list')).toBe(0);
    pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'gone' } });
    release();
    expect(await pipe.call('slow_echo', { a: 1 })).toBe('{"a":1}');
    await sleep(300);
    expect(eventLog.countOf('tools/call')).toBe(1);
    expect(pipe.lines().filter((line) => line.includes('"gone"'))).toEqual([]);
  });

  it('is never sent if its server is an HTTP server', async () => {
    const server = await startMade({
      era: 'legacy',
      own: ({ incoming, write }) => {
        if (incoming.method !== 'initialize') return false;
        setTimeout(() => {
          const result = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"made","version":"1"}}`;
          write(`{"jsonrpc":"2.0","id":${JSON.stringify(incoming.id)},"result":${result}}`);
        }, 1_500);
        return true;
      },
    });
    endLater(() => server.close());
    const assay = await startGateway({ servers: { slow: { type: 'http', url: server.url } } });
    const call = { name: 'slow_echo', arguments: {} };
    const asked = startRequest(assay.url, {
      headers: modernHeaders('tools/call', call),
      body: modernBody('tools/call', { params: call }),
    });
    await sleep(300);
    asked.cut();
    await assay.settled();
    await sleep(300);
    expect(server.countOf('tools/list')).toBe(1);
    expect(server.countOf('tools/call')).toBe(0);
  });

  it('is never sent while its server restarts', async () => {
    const eventLog = openEventLog();
    const state = join(tempDir(), 'starts');
    const args = [`--state=${state}`, '--late-ms=1500'];
    const assay = await startGateway({ servers: { c: fixture('crasher', args, { env: eventLog.env }) } });
    await assay.settled();
    const session = await openSession(assay.url);
    await session.ask('tools/call', { name: 'c_crash', arguments: {} });
    const call = session.stream('tools/call', { name: 'c_echo', arguments: {} }, 'gone');
    await until('it is started again', () => (readFileSync(state, 'utf8') === '2' ? true : undefined));
    await session.notify('notifications/cancelled', { requestId: 'gone' });
    expect(await session.call('c_pid')).toMatch(/^\d+$/);
    (await call).cut();
    const called = eventLog.read('message').filter((one) => one.detail.includes('"echo"'));
    expect(called).toEqual([]);
  });
});

describe.concurrent('a cancellation', () => {
  const spellings: readonly (readonly [string, string])[] = [
    ['"caf\\u00e9"', '"café"'],
    ['"café"', '"caf\\u00E9"'],
    ['"a\\/b"', '"a/b"'],
  ];
  it.each(spellings)('with %s for %s finds its request on stdio', async (written, cancelled) => {
    const pipe = openStdio({ servers: { c: fixture('cancellable') } });
    await pipe.initialize();
    await pipe.ask('tools/list');
    pipe.write(
      `{"jsonrpc":"2.0","id":${written},"method":"tools/call","params":{"name":"c_wait","arguments":{}}}\n`,
    );
    await until('it waits', async () =>
      (await pipe.call('c_seen')).includes('"waiting":1') ? true : undefined,
    );
    pipe.write(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${cancelled},"reason":"enough"}}\n`,
    );
    await until('it was cancelled', async () =>
      (await pipe.call('c_seen')).includes('"reason":"enough"') ? true : undefined,
    );
    expect(pipe.lines().filter((line) => line.includes('caf') || line.includes('a/b'))).toEqual([]);
  });

  it.each(spellings)('with %s for %s finds its request over HTTP', async (written, cancelled) => {
    const assay = await startGateway({ servers: { c: fixture('cancellable') } });
    await assay.settled();
    const session = await openSession(assay.url);
    const asked = startRequest(assay.url, {
      headers: session.headers,
      body: `{"jsonrpc":"2.0","id":${written},"method":"tools/call","params":{"name":"c_wait","arguments":{}}}`,
    });
    await until('it waits', async () =>
      (await session.call('c_seen')).includes('"waiting":1') ? true : undefined,
    );
    const answer = await session.post(
      `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":${cancelled},"reason":"enough"}}`,
    );
    expect(answer.status).toBe(202);
    await until('it was cancelled', async () =>
      (await session.call('c_seen')).includes('"reason":"enough"') ? true : undefined,
    );
    asked.cut();
    expect(at(await session.ask('ping'), 'result')).toEqual({});
  });
});
