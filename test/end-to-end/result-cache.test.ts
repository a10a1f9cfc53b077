// When results are cached and used again, and when they are not.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import type { Json, JsonObject } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { modernSend } from '../support/modern.ts';
import { tempDir } from '../support/paths.ts';
import { readGauge } from '../support/prometheus.ts';
import { bearer, keepToken } from '../support/tokens.ts';
import { startMade, type Era, type Exchange, type MadeHttp } from '../fixtures/http-made.ts';
import { toolOf } from '../fixtures/peer.ts';

const ERAS = ['legacy', 'modern'] as const;
const READS = { readOnlyHint: true, openWorldHint: false };
const TOOLS = [
  { ...toolOf('get'), annotations: READS },
  { ...toolOf('fail'), annotations: READS },
  { ...toolOf('look'), annotations: { readOnlyHint: true } },
  { ...toolOf('put'), annotations: { readOnlyHint: false } },
];

const home = tempDir();
let assay: Gateway;
let servers: Readonly<Record<Era, MadeHttp>>;
const tokens: string[] = [];
const sessions: LegacySession[] = [];

/** Answers each call with different numbers, in an unusual notation that must be kept. */
function counts({ incoming, response, write }: Exchange): boolean {
  if (incoming.method !== 'tools/call') return false;
  answered += 1;
  const isError = incoming.raw.includes('"fail"');
  const result = `{ "content":[ ], "isError":${isError} ,"resultType":"complete","odd": 1${answered}.50e+0 }`;
  response.setHeader('content-type', 'application/json');
  const text = `{"result": ${result},  "id" : ${JSON.stringify(incoming.id)}, "jsonrpc":"2.0"}`;
  if (held === undefined) write(text);
  else void held.promise.then(() => write(text));
  return true;
}
let answered = 0;
/** While set, calls reach their server but get no response. */
let held: PromiseWithResolvers<void> | undefined;

function hold(): void {
  held = Promise.withResolvers();
}

function release(): void {
  held?.resolve();
  held = undefined;
}

beforeAll(async () => {
  const [legacy, modern] = await Promise.all(
    ERAS.map((era) => startMade({ era, tools: TOOLS, own: counts })),
  );
  if (legacy === undefined || modern === undefined) throw new Error('no servers');
  servers = { legacy, modern };
  for (const server of [legacy, modern]) endLater(() => server.close());
  for (const name of ['ann', 'bob']) tokens.push(await keepToken(home, name));
  const shared = { type: 'http', trust: true, isolation: 'shared' };
  assay = await startGateway({
    home,
    servers: {
      legacy: { ...shared, url: legacy.url },
      modern: { ...shared, url: modern.url },
      untrusted: { ...shared, url: legacy.url, trust: false },
      private: { ...shared, url: legacy.url, isolation: 'session' },
    },
    settings: { settings: { 'cache.ttlMs': 3_600_000 } },
  });
  await assay.settled();
  for (const token of tokens) sessions.push(await openSession(assay.url, { headers: bearer(token) }));
});

interface Calling {
  readonly client?: Era;
  readonly args?: JsonObject;
  readonly meta?: JsonObject;
  readonly params?: JsonObject;
  readonly id?: Json;
  /** Index of the token, 0 or 1. */
  readonly who?: number;
}

/** The response as text. */
async function call(
  name: string,
  { client = 'legacy', args = {}, meta = {}, params = {}, id = 1, who = 0 }: Calling = {},
): Promise<string> {
  const all = { ...params, name, arguments: args };
  if (client === 'modern') {
    const headers = bearer(tokens[who] ?? '');
    return (await modernSend(assay.url, 'tools/call', { id, params: all, meta, headers })).text;
  }
  const body = { jsonrpc: '2.0', id, method: 'tools/call', params: { ...all, _meta: meta } };
  // A number that JSON.stringify would write as 1.
  const text = JSON.stringify(body).replace('"1.0"', '1.0');
  return (await sessions[who]?.post(text))?.text ?? '';
}

/** Whether the second call was answered without the server. */
async function isCached(name: string, one: Calling, other: Calling = one): Promise<boolean> {
  const first = await call(name, one);
  const before = answered;
  const second = await call(name, other);
  const isSame = answered === before;
  if (isSame) expect(second).toBe(first);
  return isSame;
}

describe.each(ERAS.flatMap((client) => ERAS.map((server) => ({ client, server }))))(
  'a $client client at a $server server',
  ({ client, server }) => {
    it('gets the same bytes again except for the id, and the call is counted', async () => {
      const counted = (): Promise<number> =>
        readGauge(assay, 'assay_requests_total', { server, method: 'tools/call', outcome: 'ok' });
      const hits = (): Promise<number> => readGauge(assay, 'assay_cached_calls_total', { server });
      const args = { of: client };
      const first = await call(`${server}_get`, { client, args, id: 'first' });
      const [callsBefore, hitsBefore] = [await counted(), (await hits()) || 0];
      const meta = { progressToken: 'p', traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01` };
      const second = await call(`${server}_get`, { client, args, id: 'second', meta });
      expect(second).toBe(first.replace('"first"', '"second"'));
      expect(second).toMatch(/"odd": 1\d+\.50e\+0/);
      expect([await counted(), await hits()]).toEqual([callsBefore + 1, hitsBefore + 1]);
    });
  },
);

const OTHERS: Readonly<Record<string, Calling>> = {
  'by another subject': { who: 1 },
  'with other arguments': { args: { n: 2 } },
  'with a number written differently': { args: { n: '1.0' } },
  'with other metadata': { meta: { 'com.example/tenant': 'b' } },
  'by a client of another era': { client: 'modern' },
  'that asks for more': { params: { 'com.example/more': true } },
};

describe('a cached result', () => {
  it.each(Object.entries(OTHERS))('is not used for a call %s', async (what, other) => {
    const one = { args: { n: 1, what } };
    const differing =
      other.args === undefined ? { ...one, ...other } : { args: { ...one.args, ...other.args } };
    expect(await isCached('legacy_get', one)).toBe(true);
    expect(await isCached('legacy_get', one, differing)).toBe(false);
  });

  it.each([
    ['an open-world tool', 'legacy_look'],
    ['an untrusted server', 'untrusted_get'],
    ['a connection private to one client', 'private_get'],
    ['a tool that reported an error', 'legacy_fail'],
    ['a tool that is not read-only', 'legacy_put'],
  ])('is not used for %s', async (_, name) => {
    expect(await isCached(name, {})).toBe(false);
  });

  it('is not used after a call to the same server that may have changed something', async () => {
    const args = { of: 'put' };
    for (const name of ['legacy_get', 'modern_get']) await call(name, { args });
    await call('legacy_put', { who: 1 });
    const before = answered;
    await call('modern_get', { args });
    expect(answered).toBe(before);
    await call('legacy_get', { args });
    expect(answered).toBe(before + 1);
  });
});

describe('identical concurrent calls', () => {
  const untilUnderway = (count: number): Promise<unknown> =>
    until(`${count} calls are under way`, async () => {
      const inFlight = await readGauge(assay, 'assay_requests_in_flight', { server: 'legacy' });
      return inFlight === count ? true : undefined;
    });

  it('are sent to their server as one call, but separately for another caller', async () => {
    const args = { of: 'the same time' };
    const before = answered;
    hold();
    const same = [51, 52, 53, 54].map((id) => call('legacy_get', { args, id }));
    const others = call('legacy_get', { args, who: 1 });
    await untilUnderway(5);
    release();
    const withoutId = (text: string): string => text.replace(/"id" : \d+/, '');
    const texts = new Set((await Promise.all(same)).map(withoutId));
    expect([texts.size, texts.has(withoutId(await others)), answered - before]).toEqual([1, false, 2]);
  });

  it('are all sent if the first result cannot be cached, unless they were cancelled', async () => {
    const before = answered;
    hold();
    const calls = [61, 62, 63].map((id) => call('legacy_fail', { id }));
    await untilUnderway(3);
    await sessions[0]?.notify('notifications/cancelled', { requestId: 63 });
    await untilUnderway(2);
    expect(answered - before).toBe(1);
    release();
    await Promise.all(calls.slice(0, 2));
    expect(answered - before).toBe(2);
  });
});

describe('an operator', () => {
  it('can enable caching per read-only tool, even an open-world one, but for no other tool', async () => {
    const token = await keepToken(home, 'boss', { scopes: ['admin'] });
    const admin = adminClient(assay, token);
    const choose = (tool: string, cacheMs: number | null): Promise<unknown> =>
      admin.put(`/tools/${tool}`, { cacheMs });
    for (const tool of ['legacy_look', 'legacy_put', 'untrusted_get']) await choose(tool, 60_000);
    await choose('legacy_get', 0);
    const kept = [];
    for (const tool of ['legacy_look', 'legacy_put', 'untrusted_get', 'legacy_get'])
      kept.push(await isCached(tool, { args: { of: 'operator' } }));
    expect(kept).toEqual([true, false, false, false]);
    await choose('legacy_get', null);
    expect(await isCached('legacy_get', { args: { of: 'operator' } })).toBe(true);
  });
});

describe('caching', () => {
  it('is off by default', async () => {
    const plain = await startGateway({
      servers: { s: { type: 'http', url: servers.modern.url, trust: true } },
    });
    await plain.settled();
    const before = answered;
    const ask = { params: { name: 's_get', arguments: {} } };
    await modernSend(plain.url, 'tools/call', ask);
    await modernSend(plain.url, 'tools/call', ask);
    expect(answered).toBe(before + 2);
  });
});
