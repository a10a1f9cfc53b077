import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at, listAt } from '../support/json.ts';
import { BOTH, initializeOf, openSession } from '../support/legacy.ts';
import { fixture } from '../support/paths.ts';

describe('a legacy client over HTTP', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({ servers: { plain: fixture('plain') } });
  });

  const post = (body: string, headers: Record<string, string> = {}) =>
    send(assay.url, { headers: { 'content-type': 'application/json', accept: BOTH, ...headers }, body });

  it.each(['2025-03-26', '2025-06-18', '2025-11-25'])(
    'that asks for %s gets %s and a session',
    async (version) => {
      const answer = await post(initializeOf(version));
      expect([answer.status, answer.type]).toEqual([200, 'application/json']);
      expect(at(answer.json(), 'result', 'protocolVersion')).toBe(version);
      expect(at(answer.json(), 'result', 'capabilities', 'tools')).toEqual({ listChanged: true });
      expect(at(answer.json(), 'result', 'serverInfo', 'name')).toEqual(expect.any(String));
      expect(answer.headers['mcp-session-id']).toMatch(/^[\x21-\x7e]{16,}$/);
    },
  );

  it.each(['1999-01-01', '2027-01-01', '2026-07-28'])(
    'that asks for %s in initialize is offered the newest legacy revision',
    async (version) => {
      const answer = await post(initializeOf(version));
      expect([answer.status, at(answer.json(), 'result', 'protocolVersion')]).toEqual([200, '2025-11-25']);
    },
  );

  it('may use text, zero or a number as its id, and gets it back as written', async () => {
    const session = await openSession(assay.url);
    for (const id of ['"a"', '"1"', '0', '-1', '""', '"\\u00e9"', '9007199254740991']) {
      const answer = await session.post(`{"jsonrpc":"2.0","id":${id},"method":"ping"}`);
      expect(answer.text).toBe(`{"jsonrpc":"2.0","id":${id},"result":{}}`);
    }
  });

  it('gets 202 without a body for a notification and for a response', async () => {
    const session = await openSession(assay.url);
    for (const body of [
      '{"jsonrpc":"2.0","method":"notifications/initialized"}',
      '{"jsonrpc":"2.0","method":"notifications/unheard-of","params":{"a":1}}',
      '{"jsonrpc":"2.0","id":5,"result":{}}',
    ]) {
      const answer = await session.post(body);
      expect([answer.status, answer.text]).toEqual([202, '']);
    }
  });

  it('gets 404 and a JSON-RPC error for an unknown session, on each HTTP method', async () => {
    const headers = { 'mcp-session-id': 'no-such-session', 'mcp-protocol-version': '2025-11-25' };
    const asked = await post('{"jsonrpc":"2.0","id":3,"method":"ping"}', headers);
    expect([asked.status, at(asked.json(), 'error', 'data', 'code')]).toEqual([404, 'SESSION_UNKNOWN']);
    const streamed = await send(assay.url, {
      method: 'GET',
      headers: { ...headers, accept: 'text/event-stream' },
    });
    expect(streamed.status).toBe(404);
    expect((await send(assay.url, { method: 'DELETE', headers })).status).toBe(404);
  });

  it('gets 400 if a session is needed and none is given', async () => {
    const answer = await post('{"jsonrpc":"2.0","id":3,"method":"tools/list"}', {
      'mcp-protocol-version': '2025-11-25',
    });
    expect([answer.status, at(answer.json(), 'error', 'data', 'code')]).toEqual([400, 'SESSION_MISSING']);
  });

  it('gets 400 for an unsupported version header', async () => {
    const session = await openSession(assay.url);
    const answer = await session.post('{"jsonrpc":"2.0","id":3,"method":"ping"}', {
      'mcp-protocol-version': '1999-01-01',
    });
    expect(answer.status).toBe(400);
  });

  it('of 2025-03-26 needs no version header', async () => {
    const session = await openSession(assay.url, { version: '2025-03-26' });
    expect(session.headers).not.toHaveProperty('mcp-protocol-version');
    expect(await session.call('plain_add', { a: 2, b: 3 })).toBe('5');
  });

  it('ends its session with DELETE; afterwards it is unknown and its GET stream is closed', async () => {
    const session = await openSession(assay.url);
    const stream = await session.listen();
    expect((await session.end()).status).toBeLessThan(300);
    await stream.ended;
    const answer = await session.post('{"jsonrpc":"2.0","id":3,"method":"ping"}');
    expect(answer.status).toBe(404);
  });

  it('gets the first byte of its GET stream at once, as proxies may hold the headers back until then', async () => {
    const session = await openSession(assay.url, { version: '2025-03-26' });
    const stream = await session.listen();
    const first = await until('a first event', () => stream.events[0], 5_000);
    expect(first.comment).toContain('keep-alive');
    stream.cut();
  });

  it('has one GET stream: a newer one replaces the previous one, even if that was cut off', async () => {
    const session = await openSession(assay.url);
    const first = await session.listen();
    expect([first.status, first.headers['content-type']]).toEqual([200, 'text/event-stream']);
    const second = await session.listen();
    expect(second.status).toBe(200);
    await first.ended;
    second.cut();
    await second.ended;
    expect((await session.listen()).status).toBe(200);
  });

  it('gets 406 for a GET that does not accept an event stream', async () => {
    const session = await openSession(assay.url);
    const answer = await send(assay.url, {
      method: 'GET',
      headers: { ...session.headers, accept: 'application/json' },
    });
    expect(answer.status).toBe(406);
  });

  it("gets HTTP 200 with the protocol's error: -32601 for a method, -32602 for a tool", async () => {
    const session = await openSession(assay.url);
    const method = await session.post('{"jsonrpc":"2.0","id":1,"method":"no/such"}');
    expect([method.status, at(method.json(), 'error', 'code')]).toEqual([200, -32601]);
    const tool = await session.post(
      '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"no_such","arguments":{}}}',
    );
    expect(tool.status).toBe(200);
    expect(at(tool.json(), 'error', 'code')).toBe(-32602);
    expect(at(tool.json(), 'error', 'data', 'code')).toBe('TOOL_UNKNOWN');
    expect(at(tool.json(), 'error', 'message')).toContain('no_such');
  });

  it.each(['server/discover', 'subscriptions/listen'])('cannot use %s', async (method) => {
    const session = await openSession(assay.url);
    expect(at(await session.ask(method), 'error', 'code')).toBe(-32601);
  });

  it('never sees members of the modern era', async () => {
    const session = await openSession(assay.url);
    for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
      const result = at(await session.ask(method), 'result');
      expect(result).not.toHaveProperty('resultType');
      expect(result).not.toHaveProperty('ttlMs');
      expect(result).not.toHaveProperty('cacheScope');
    }
  });

  it('has its own session: the end of one session does not affect others', async () => {
    const [one, other] = await Promise.all([openSession(assay.url), openSession(assay.url)]);
    expect(one.id).not.toBe(other.id);
    await one.end();
    expect(await other.call('plain_label')).toBe('plain');
    expect(listAt(await other.ask('tools/list'), 'result', 'tools').length).toBeGreaterThan(5);
  });
});
