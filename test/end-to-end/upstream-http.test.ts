import { beforeAll, describe, expect, it } from 'vitest';
import { startHttp, type HttpFixture } from '../fixtures/http.ts';
import { freePort, serverIn, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { startRequest } from '../support/http.ts';
import { at, namesAt, parseJson } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { META, modernAsk, modernBody, modernHeaders, modernStream } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const CHANGED = 'notifications/tools/list_changed';

describe('servers over HTTP', () => {
  let legacy: HttpFixture;
  let modern: HttpFixture;
  let sse: HttpFixture;
  let assay: Gateway;
  let session: LegacySession;
  beforeAll(async () => {
    [legacy, modern, sse] = await Promise.all([startHttp('legacy'), startHttp('modern'), startHttp('sse')]);
    for (const one of [legacy, modern, sse]) endLater(() => one.close());
    assay = await startGateway({
      servers: {
        legacy: {
          type: 'http',
          url: legacy.url,
          headers: { 'X-Key': 'k-${KEY}', Authorization: 'Bearer ${SECRET}' },
        },
        modern: { type: 'streamable-http', url: modern.url },
        sse: { type: 'sse', url: sse.url },
        found: { url: sse.url },
      },
      env: { KEY: 'seven', SECRET: 'hidden-value-1' },
    });
    await assay.settled();
    session = await openSession(assay.url);
  });

  it.each(['legacy', 'modern', 'sse', 'found'])('of kind %s answer calls of both eras', async (name) => {
    expect(at(serverIn(await assay.health(), name), 'state')).toBe('up');
    expect(await session.call(`${name}_echo`, { a: [1] })).toBe('{"a":[1]}');
    const answer = await modernAsk(assay.url, 'tools/call', {
      params: { name: `${name}_echo`, arguments: { b: 2 } },
    });
    expect(at(answer, 'result', 'content', 0, 'text')).toBe('{"b":2}');
  });

  it('have their era reported in /health', async () => {
    const health = await assay.health();
    expect(['legacy', 'modern', 'sse', 'found'].map((name) => at(serverIn(health, name), 'era'))).toEqual([
      'legacy',
      'modern',
      'legacy',
      'legacy',
    ]);
  });

  it('receive the configured headers and no header of the client', async () => {
    const mine = await openSession(assay.url, {
      headers: { authorization: 'Bearer of-the-client', cookie: 'a=b' },
    });
    const headers = parseJson(await mine.call('legacy_headers'));
    expect(at(headers, 'x-key')).toBe('k-seven');
    expect(at(headers, 'authorization')).toBe('Bearer hidden-value-1');
    expect(at(headers, 'cookie')).toBeUndefined();
    expect(assay.stderr()).not.toContain('hidden-value-1');
    expect(JSON.stringify(await assay.health())).not.toContain('hidden-value-1');
  });

  it('get each call under the server’s own name, in the body and in Mcp-Name', async () => {
    expect(await session.call('modern_echo', {})).toBe('{}');
    const seen = modern.seen.filter((one) => one.headers['mcp-method'] === 'tools/call').at(-1);
    expect(seen?.headers['mcp-name']).toBe('echo');
    expect(seen?.headers['mcp-protocol-version']).toBe('2026-07-28');
    const meta = at(parseJson(seen?.body ?? ''), 'params', '_meta');
    expect(at(meta, `${META}protocolVersion`)).toBe('2026-07-28');
    expect(at(meta, `${META}clientInfo`, 'name')).toEqual(expect.any(String));
    expect(at(meta, `${META}clientCapabilities`)).toEqual(expect.any(Object));
  });

  it('may answer with a stream, with priming events, comments and data on several lines', async () => {
    expect(await session.call('legacy_streamed')).toBe('streamed');
  });

  it('may answer with JSON on several lines, which becomes one line on stdio', async () => {
    expect(await session.call('legacy_pretty')).toBe('pretty');
    const pipe = openStdio({ servers: { legacy: { type: 'http', url: legacy.url } } });
    await pipe.initialize();
    expect(await pipe.call('legacy_pretty')).toBe('pretty');
    for (const line of pipe.lines()) expect(() => parseJson(line)).not.toThrow();
  });

  it.each(['legacy', 'modern', 'sse'])('of kind %s send progress', async (name) => {
    for (const stream of [
      await session.stream('tools/call', {
        name: `${name}_steps`,
        arguments: { steps: 3 },
        _meta: { progressToken: 'p' },
      }),
      await modernStream(assay.url, 'tools/call', {
        params: { name: `${name}_steps`, arguments: { steps: 3 } },
        meta: { progressToken: 'p' },
      }),
    ]) {
      await stream.ended;
      const progress = stream.messages().filter((one) => at(one, 'method') === 'notifications/progress');
      expect(
        progress.map((one) => [at(one, 'params', 'progressToken'), at(one, 'params', 'progress')]),
      ).toEqual([
        ['p', 1],
        ['p', 2],
        ['p', 3],
      ]);
    }
  });

  it('of the modern era see a cancellation as a disconnect', async () => {
    const call = { name: 'modern_wait', arguments: {} };
    const before = modern.cancelled.length;
    const asked = startRequest(assay.url, {
      headers: modernHeaders('tools/call', call),
      body: modernBody('tools/call', { params: call, meta: { progressToken: 1 } }),
    });
    await until('the call is there', () =>
      modern.seen.some((one) => one.headers['mcp-name'] === 'wait') ? true : undefined,
    );
    asked.cut();
    await until('the server noticed', () => (modern.cancelled.length > before ? true : undefined));
    expect(modern.cancelled.at(-1)).toBe('wait');
  });

  it('of the legacy era get notifications/cancelled', async () => {
    const call = { name: 'legacy_wait', arguments: {} };
    const asked = startRequest(assay.url, {
      headers: modernHeaders('tools/call', call),
      body: modernBody('tools/call', { params: call }),
    });
    await until('the call is there', () =>
      legacy.seen.some((one) => one.body.includes('"wait"')) ? true : undefined,
    );
    asked.cut();
    await until('the notification is there', () =>
      legacy.seen.some((one) => one.body.includes('notifications/cancelled')) ? true : undefined,
    );
  });

  it.each(['legacy', 'modern'])('of kind %s announce changed tools', async (name) => {
    const stream = await session.listen();
    await session.call(`${name}_grow`);
    // An earlier change of the other server may be announced first.
    for (let heard = 0; ;) {
      heard = await until('the change is announced', () => {
        const changes = stream.messages().filter((one) => at(one, 'method') === CHANGED);
        return changes.length > heard ? changes.length : undefined;
      });
      const names = namesAt(await session.ask('tools/list'), 'result', 'tools');
      if (names.includes(`${name}_extra_0`)) break;
    }
    stream.cut();
    await sleep(50);
  });

  it('that lose the session are initialized again, and the call succeeds', async () => {
    await session.call('legacy_forget');
    expect(await session.call('legacy_echo', { again: true })).toBe('{"again":true}');
  });

  it('fail a call whose stream they cut off, and serve the next', async () => {
    const answer = await session.ask('tools/call', { name: 'legacy_cut', arguments: {} });
    expect(at(answer, 'error')).toMatchObject({ code: -32603, data: { code: 'SERVER_ENDED' } });
    expect(at(answer, 'error', 'message')).toContain('"legacy"');
    expect(await session.call('legacy_echo', {})).toBe('{}');
    const dropped = await session.ask('tools/call', { name: 'sse_drop', arguments: {} });
    expect(at(dropped, 'error', 'data', 'code')).toBe('SERVER_ENDED');
    expect(await session.call('sse_echo', { again: 1 })).toBe('{"again":1}');
  });

  it('cause an error with their name and the status, but not their page, if they answer with HTTP 500', async () => {
    const error = at(await session.ask('tools/call', { name: 'legacy_error-500', arguments: {} }), 'error');
    expect(at(error, 'code')).toBe(-32603);
    expect(at(error, 'message')).toContain('"legacy"');
    expect(at(error, 'message')).toContain('500');
    expect(at(error, 'message')).not.toContain('<h1>');
  });

  it('have an unknown tool refused, and their tools listed at their own endpoint', async () => {
    const error = at(await session.ask('tools/call', { name: 'modern_ask2', arguments: {} }), 'error');
    expect(at(error, 'data', 'code')).toBe('TOOL_UNKNOWN');
    const found = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/modern`);
    expect(namesAt(await found.ask('tools/list'), 'result', 'tools')).toContain('echo');
  });
});

describe('an unreachable HTTP server', () => {
  it('is connected once it appears; a call that did not reach it runs once when it is back', async () => {
    const port = await freePort();
    const assay = await startGateway({
      servers: { web: { type: 'http', url: `http://127.0.0.1:${port}/mcp`, timeoutMs: 15_000 } },
    });
    const session = await openSession(assay.url);
    await until('the first attempt failed', async () =>
      at(serverIn(await assay.health(), 'web'), 'cause') === undefined ? undefined : true,
    );
    let web = await startHttp('legacy', port);
    endLater(() => web.close());
    await until(
      'it is up',
      async () => (at(serverIn(await assay.health(), 'web'), 'state') === 'up' ? true : undefined),
      15_000,
    );
    expect(await session.call('web_echo', { a: 1 })).toBe('{"a":1}');
    await web.close();
    const waiting = session.call('web_echo', { a: 2 });
    await sleep(500);
    web = await startHttp('legacy', port);
    expect(await waiting).toBe('{"a":2}');
    expect(web.seen.filter((one) => one.body.includes('"tools/call"'))).toHaveLength(1);
    expect(await session.call('web_echo', { a: 3 })).toBe('{"a":3}');
  });

  it('fails the call with an error that names it if it stays unreachable', async () => {
    const web = await startHttp('legacy');
    endLater(() => web.close());
    const assay = await startGateway({ servers: { web: { type: 'http', url: web.url, timeoutMs: 1_500 } } });
    await assay.settled();
    const session = await openSession(assay.url);
    await web.close();
    const startMs = Date.now();
    const error = at(await session.ask('tools/call', { name: 'web_echo', arguments: {} }), 'error');
    expect(at(error, 'data', 'code')).toBe('SERVER_UNAVAILABLE');
    expect(at(error, 'message')).toContain('"web"');
    expect(Date.now() - startMs).toBeLessThan(scaledMs(8_000));
  });
});
