import { beforeAll, describe, expect, it } from 'vitest';
import { startHttp } from '../fixtures/http.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, until } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at, parseJson } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk, modernCall, modernStream } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';
import { samplesIn, valueOf, type Sample } from '../support/prometheus.ts';

const ODD = 'odd name';

async function metricsOf(assay: Gateway): Promise<readonly Sample[]> {
  const answer = await send(`http://127.0.0.1:${assay.port}/metrics`, { method: 'GET' });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  return samplesIn(answer.text);
}

describe('/metrics after calls of both eras', () => {
  let assay: Gateway;
  let samples: readonly Sample[];
  const value = (name: string, labels: Readonly<Record<string, string>> = {}): number | undefined =>
    valueOf(samples, name, labels);

  beforeAll(async () => {
    const web = await startHttp('modern');
    endLater(() => web.close());
    assay = await startGateway({
      servers: {
        plain: fixture('plain', [], { timeoutMs: 2_000 }),
        web: { type: 'http', url: web.url },
        dead: { command: 'no-such-command-anywhere' },
        [ODD]: fixture('plain', ['--label=odd']),
      },
    });
    await assay.settled();
    const session = await openSession(assay.url);
    await session.call('plain_echo');
    await session.call('plain_fails');
    await modernCall(assay.url, 'plain_echo');
    await modernCall(assay.url, 'web_echo');
    await session.ask('tools/call', { name: 'plain_refuses', arguments: {} });
    await session.ask('tools/call', { name: 'plain_sleep', arguments: { ms: 20_000 } });
    await session.ask('tools/call', { name: 'no_such_tool', arguments: {} });
    await session.ask('prompts/get', { name: 'plain_greet', arguments: { who: 'you' } });
    await session.ask('no/such/method');
    const single = await openSession(`http://127.0.0.1:${assay.port}/mcp/servers/${encodeURIComponent(ODD)}`);
    await single.call('label');
    await modernStream(assay.url, 'subscriptions/listen', { params: { notifications: {} } });
    samples = await metricsOf(assay);
  });

  it('the log has a line for each client and each call, with its outcome', async () => {
    const lines = await until('the last call is logged', () => {
      const all = assay.stderr().split('\n').slice(0, -1).map(parseJson);
      return all.some((line) => at(line, 'tool') === 'label') ? all : undefined;
    });
    const shown = (msg: string, keys: readonly string[]): readonly string[] =>
      lines
        .filter((line) => at(line, 'msg') === msg)
        .map((line) => keys.map((key) => String(at(line, key))).join(' '));
    expect(shown('call', ['tool', 'outcome'])).toEqual([
      'plain_echo ok',
      'plain_fails tool_error',
      'plain_echo ok',
      'web_echo ok',
      'plain_refuses error',
      'plain_sleep SERVER_TIMEOUT',
      'no_such_tool TOOL_UNKNOWN',
      'label ok',
    ]);
    expect(shown('client connected', ['client', 'revision', 'endpoint'])).toEqual([
      'test 1 2025-11-25 /mcp/all',
      'test 1 2026-07-28 /mcp/all',
      'test 1 2025-11-25 /mcp/servers/odd%20name',
    ]);
  });

  it('counts requests by server, method and outcome', () => {
    const calls = { server: 'plain', method: 'tools/call' };
    const name = 'assay_requests_total';
    expect(value(name, { ...calls, outcome: 'ok' })).toBe(3);
    expect(value(name, { ...calls, outcome: 'error' })).toBe(1);
    expect(value(name, { ...calls, outcome: 'refused', code: 'SERVER_TIMEOUT' })).toBe(1);
    expect(value(name, { server: 'plain', method: 'prompts/get', outcome: 'ok' })).toBe(1);
    expect(value(name, { server: 'web', method: 'tools/call', outcome: 'ok' })).toBe(1);
    expect(value(name, { server: ODD, method: 'tools/call', outcome: 'ok' })).toBe(1);
  });

  it('counts calls by tool, as its server names it, and outcome', () => {
    const name = 'assay_tool_calls_total';
    const of = (server: string, tool: string, outcome: string) => value(name, { server, tool, outcome });
    expect(of('plain', 'echo', 'ok')).toBe(2);
    expect(of('plain', 'fails', 'tool_error')).toBe(1);
    expect(of('plain', 'refuses', 'error')).toBe(1);
    expect(of('plain', 'sleep', 'refused')).toBe(1);
    expect(value('assay_tool_call_duration_seconds_count', { server: 'plain', tool: 'echo' })).toBe(2);
    expect(samples.filter((one) => one.name === name && one.labels['tool'] === 'no_such_tool')).toEqual([]);
  });

  it('reports readiness, calls in flight, pending approvals and the store', () => {
    expect(value('assay_ready')).toBe(1);
    expect(value('assay_calls_in_flight')).toBe(0);
    expect(value('assay_pending_approvals')).toBe(0);
    expect(value('assay_oldest_pending_approval_seconds')).toBe(0);
    expect(value('assay_store_operation_duration_seconds_count', { operation: 'read' })).toBeGreaterThan(0);
    expect(value('assay_store_failures_total', { operation: 'write' })).toBe(0);
  });

  it('sorts durations into cumulative buckets', () => {
    const labels = { server: 'plain', method: 'tools/call' };
    const name = 'assay_request_duration_seconds';
    const buckets = samples.filter(
      (one) =>
        one.name === `${name}_bucket` &&
        one.labels['server'] === 'plain' &&
        one.labels['method'] === 'tools/call',
    );
    expect(buckets.map((one) => one.labels['le'])).toEqual([
      ...[
        '0.001',
        '0.0025',
        '0.005',
        '0.01',
        '0.025',
        '0.05',
        '0.1',
        '0.25',
        '0.5',
        '1',
        '2.5',
        '5',
        '10',
        '30',
        '60',
      ],
      '+Inf',
    ]);
    const counts = buckets.map((one) => one.value);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
    expect(counts.at(-1)).toBe(5);
    expect(value(`${name}_count`, labels)).toBe(5);
    expect(value(`${name}_sum`, labels)).toBeGreaterThan(0.4);
  });

  it('reports the state of each server, and what is open', () => {
    expect(value('assay_server_up', { server: 'plain' })).toBe(1);
    expect(value('assay_server_up', { server: 'dead' })).toBe(0);
    expect(value('assay_server_state', { server: 'dead', state: 'refused' })).toBe(1);
    expect(value('assay_server_state', { server: 'dead', state: 'up' })).toBe(0);
    expect(value('assay_server_state', { server: 'plain', state: 'up' })).toBe(1);
    expect(value('assay_server_restarts_total', { server: 'plain' })).toBe(0);
    expect(value('assay_requests_in_flight', { server: 'plain' })).toBe(0);
    expect(value('assay_sessions')).toBe(2);
    expect(value('assay_subscriptions')).toBe(1);
    expect(value('assay_connections')).toBeGreaterThan(0);
  });

  it('reports the version of Assay, and the state of the process', async () => {
    const version = String(at(await assay.health(), 'version'));
    expect(value('assay_build_info', { version })).toBe(1);
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(0);
  });

  it('has no label that a client can choose', async () => {
    for (const name of ['x', 'y'])
      await modernAsk(assay.url, 'tools/call', { params: { name, arguments: {} } });
    const after = await metricsOf(assay);
    expect(after.filter((one) => one.name.startsWith('assay_request')).length).toBe(
      samples.filter((one) => one.name.startsWith('assay_request')).length,
    );
  });

  it('counts restarts, and requests in progress', async () => {
    const more = await startGateway({
      servers: { crasher: fixture('crasher'), own: fixture('plain', [], { isolation: 'session' }) },
    });
    await more.settled();
    const session = await openSession(more.url);
    await session.call('own_echo');
    await session.ask('tools/call', { name: 'crasher_crash', arguments: {} });
    await session.call('crasher_pid');
    const hanging = session.ask('tools/call', { name: 'crasher_hang', arguments: {} }).catch(() => undefined);
    const seen = await until('the call is under way', async () => {
      const now = await metricsOf(more);
      return valueOf(now, 'assay_requests_in_flight', { server: 'crasher' }) === 1 ? now : undefined;
    });
    expect(valueOf(seen, 'assay_server_restarts_total', { server: 'crasher' })).toBe(1);
    // The first process of a client is not a restart.
    expect(valueOf(seen, 'assay_private_links', { server: 'own' })).toBe(1);
    expect(valueOf(seen, 'assay_server_restarts_total', { server: 'own' })).toBe(0);
    const ended = { server: 'crasher', method: 'tools/call', outcome: 'refused', code: 'SERVER_ENDED' };
    expect(valueOf(seen, 'assay_requests_total', ended)).toBe(1);
    await more.stop();
    await hanging;
  });
});

describe('the path /metrics', () => {
  it('accepts only GET, and is protected like everything else', async () => {
    const token = 'a-token-of-more-than-16-characters';
    const assay = await startGateway({ servers: { plain: fixture('plain') }, env: { ASSAY_TOKEN: token } });
    const url = `http://127.0.0.1:${assay.port}/metrics`;
    const authorization = `Bearer ${token}`;
    const ask = async (method: string, headers: Record<string, string>) => {
      const answer = await send(url, { method, headers });
      return [answer.status, at(answer.json(), 'error', 'data', 'code'), answer.headers.allow];
    };
    expect(await ask('GET', {})).toEqual([401, 'TOKEN_REQUIRED', undefined]);
    expect(await ask('GET', { authorization, host: 'evil.example' })).toEqual([
      403,
      'HOST_FORBIDDEN',
      undefined,
    ]);
    expect(await ask('GET', { authorization, origin: 'http://evil.example' })).toEqual([
      403,
      'ORIGIN_FORBIDDEN',
      undefined,
    ]);
    expect(await ask('POST', { authorization })).toEqual([405, 'HTTP_METHOD_UNKNOWN', 'GET']);
    const scraped = await send(url, { method: 'GET', headers: { authorization } });
    expect(scraped.status).toBe(200);
    const refused = { code: 'TOKEN_REQUIRED' };
    expect(valueOf(samplesIn(scraped.text), 'assay_refused_credentials_total', refused)).toBe(1);
    const unknown = await send(`http://127.0.0.1:${assay.port}/nothing`, {
      method: 'GET',
      headers: { authorization },
    });
    expect(at(unknown.json(), 'detail')).toContain('/metrics');
  });
});
