import { describe, expect, it } from 'vitest';
import { onStreamLeftOpen, refuse, startMade } from '../fixtures/http-made.ts';
import { startHttp } from '../fixtures/http.ts';
import { ssePeer } from '../fixtures/http-legacy.ts';
import { freePort, serverIn, type Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { at, parseJson, type Json, type JsonObject } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { META, modernCall, modernStream } from '../support/modern.ts';
import { tempDir } from '../support/paths.ts';

async function assayFor(url: string, home = tempDir()): Promise<Gateway> {
  const assay = await startGateway({ servers: { web: { type: 'http', url } }, home });
  const health = await assay.settled();
  expect(at(serverIn(health, 'web'), 'state')).toBe('up');
  return assay;
}

describe('an HTTP server', () => {
  it.each(['legacy', 'modern'] as const)(
    'of the %s era that keeps event streams open after the response serves 300 calls in a row, and 100 concurrently',
    async (era) => {
      const server = await startMade({ era, wire: onStreamLeftOpen });
      endLater(() => server.close());
      const assay = await assayFor(server.url);
      const session = await openSession(assay.url);
      for (let call = 0; call < 300; call++) {
        expect(await session.call('web_echo', { call })).toBe(`{"call":${call}}`);
      }
      const calls = Array.from({ length: 100 }, (_, call) => modernCall(assay.url, 'web_echo', { call }));
      expect(await Promise.all(calls)).toEqual(calls.map((_, call) => `{"call":${call}}`));
    },
    60_000,
  );

  it('cached as legacy that became modern-only is detected again', async () => {
    const port = await freePort();
    const home = tempDir();
    const legacy = await startHttp('legacy', port);
    endLater(() => legacy.close());
    const before = await assayFor(legacy.url, home);
    expect(at(serverIn(await before.health(), 'web'), 'era')).toBe('legacy');
    await before.stop();
    await legacy.close();
    const modern = await startHttp('modern', port);
    endLater(() => modern.close());
    const assay = await assayFor(modern.url, home);
    expect(at(serverIn(await assay.health(), 'web'), 'era')).toBe('modern');
    expect(await modernCall(assay.url, 'web_echo', { a: 1 })).toBe('{"a":1}');
  });

  it('that loses its session serves ten concurrent calls nevertheless, repeatedly', async () => {
    const server = await startHttp('legacy');
    endLater(() => server.close());
    const assay = await assayFor(server.url);
    const session = await openSession(assay.url);
    for (let round = 0; round < 3; round++) {
      expect(await session.call('web_forget')).toBe('forgotten');
      const answers = await Promise.all(
        Array.from({ length: 10 }, (_, call) =>
          session.ask('tools/call', { name: 'web_echo', arguments: { call } }),
        ),
      );
      expect(answers.map(said)).toEqual(answers.map((_, call) => `{"call":${call}}`));
    }
  });

  it('may send the progress of a call on its GET stream', async () => {
    const server = await startMade({ era: 'legacy', hasStream: true, own: progressElsewhere });
    endLater(() => server.close());
    const assay = await assayFor(server.url);
    await sleep(200);
    const session = await openSession(assay.url);
    const params = { name: 'web_echo', arguments: {} };
    for (const stream of [
      await session.stream('tools/call', { ...params, _meta: { progressToken: 'mine' } }),
      await modernStream(assay.url, 'tools/call', { params, meta: { progressToken: 'mine' } }),
    ]) {
      await stream.ended;
      const told = stream.messages().filter((one) => at(one, 'method') === 'notifications/progress');
      expect(told.map((one) => at(one, 'params'))).toEqual([
        expect.objectContaining({ progressToken: 'mine', progress: 1 }),
        expect.objectContaining({ progressToken: 'mine', progress: 2 }),
      ]);
      expect(textOf(stream.messages().at(-1) ?? null)).toBe('{}');
    }
  });

  it('of the modern era that refuses subscriptions is asked for one once, and is up', async () => {
    const server = await startMade({
      era: 'modern',
      own: ({ incoming, response }) => {
        if (incoming.method !== 'subscriptions/listen') return false;
        refuse(response, incoming, 404);
        return true;
      },
    });
    endLater(() => server.close());
    const assay = await assayFor(server.url);
    await until('it was asked', () => (server.countOf('subscriptions/listen') > 0 ? true : undefined));
    await sleep(3_000);
    expect(server.countOf('subscriptions/listen')).toBe(1);
    expect(server.countOf('tools/list')).toBe(1);
    expect(await modernCall(assay.url, 'web_echo', { a: 1 })).toBe('{"a":1}');
  });
});

describe('a modern server, called by a legacy client', () => {
  const SMUGGLED: JsonObject = {
    [`${META}clientInfo`]: { name: 'somebody else', version: '0' },
    [`${META}clientCapabilities`]: { elicitation: {}, sampling: {} },
    [`${META}logLevel`]: 'debug',
  };
  const CASES: readonly (readonly [string, Json | undefined])[] = [
    ['no _meta', undefined],
    ['_meta that is null', null],
    ['_meta that is empty', {}],
    ['_meta with envelope keys smuggled in', SMUGGLED],
    ['_meta with members of its own', { 'com.example/a': [1], progressToken: 'p' }],
  ];
  it.each(CASES)(
    "receives one envelope, with the client's capabilities, whatever the client sent: %s",
    async (_what, meta) => {
      const server = await startHttp('modern');
      endLater(() => server.close());
      const assay = await assayFor(server.url);
      const session = await openSession(assay.url, { capabilities: { sampling: {}, elicitation: {} } });
      const answer = await session.ask('tools/call', {
        name: 'web_raw',
        arguments: {},
        ...(meta === undefined ? {} : { _meta: meta }),
      });
      const raw = textOf(answer);
      for (const key of [
        '_meta',
        `${META}protocolVersion`,
        `${META}clientInfo`,
        `${META}clientCapabilities`,
      ]) {
        expect([key, raw.split(`"${key}"`).length - 1]).toEqual([key, 1]);
      }
      const seen = at(parseJson(raw), 'params', '_meta');
      expect(at(seen, `${META}protocolVersion`)).toBe('2026-07-28');
      expect(at(seen, `${META}clientCapabilities`)).toEqual({ sampling: {}, elicitation: {} });
      expect(at(seen, `${META}clientInfo`, 'name')).toBe('test');
      expect(at(seen, `${META}logLevel`)).toBeUndefined();
      if (at(meta, 'com.example/a') !== undefined) expect(at(seen, 'com.example/a')).toEqual([1]);
    },
  );

  it('receives one envelope also if the client wrote its keys with escapes', async () => {
    const server = await startHttp('modern');
    endLater(() => server.close());
    const assay = await assayFor(server.url);
    const session = await openSession(assay.url);
    const answer = await session.post(
      `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"web_raw","arguments":{},` +
        `"_m\\u0065ta":{"${META}client\\u0043apabilities":{"sampling":{}},"x":1}}}`,
    );
    const envelope = at(parseJson(textOf(answer.json())), 'params', '_meta');
    expect(at(envelope, `${META}clientCapabilities`)).toEqual({});
    expect(at(envelope, 'x')).toBe(1);
  });
});

/** The text of an answer, or its error. */
function said(answer: Json): string {
  const text = at(answer, 'result', 'content', 0, 'text');
  return typeof text === 'string' ? text : JSON.stringify(answer);
}

/** Two steps on the GET stream, then the response on its own stream. */
function progressElsewhere({
  incoming,
  stream,
  write,
}: Parameters<NonNullable<Parameters<typeof startMade>[0]['own']>>[0]): boolean {
  const progressToken = at(incoming.params, '_meta', 'progressToken');
  if (incoming.method !== 'tools/call' || progressToken === undefined || stream === undefined) return false;
  for (const progress of [1, 2]) {
    ssePeer(stream).notify('notifications/progress', { progressToken, progress, total: 2 });
  }
  setTimeout(() => {
    write(
      `{"jsonrpc":"2.0","id":${JSON.stringify(incoming.id)},"result":{"content":[{"type":"text","text":"{}"}]}}`,
    );
  }, 300);
  return true;
}
