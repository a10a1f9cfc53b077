import { beforeAll, describe, expect, it } from 'vitest';
import { revokeToken } from '../../packages/gateway/src/gateway/services/tokens.ts';
import { startNotifier } from '../fixtures/notifier-http.ts';
import type { Gateway } from '../support/assay.ts';
import { endLater, isAlive, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { openStream, send, type Answer, type Stream } from '../support/http.ts';
import { at, namesAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { BOTH, initializeOf, messageOf, openSession, type LegacySession } from '../support/legacy.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase, rowsOf } from '../support/postgres.ts';
import { samplesIn, valueOf as gaugeIn } from '../support/prometheus.ts';
import { formOf, openAskable, responseOn, untilAsked } from '../support/questions.ts';
import { tryStore, valueOf } from '../support/store-values.ts';
import { rawRows } from '../support/stores.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const PING = '{"jsonrpc":"2.0","id":"p","method":"ping"}';

/** The same client at another address of the same gateway. */
function postAt({ url }: { readonly url: string }, session: LegacySession, body = PING): Promise<Answer> {
  return send(url, { headers: session.headers, body });
}

/** Without a token, `/health` says no more than that. */
function untilReady(gateway: Gateway): Promise<true> {
  return until('the servers are up', async () =>
    at(await gateway.health(), 'status') === 'starting' ? undefined : true,
  );
}

const verdictOf = (answer: Answer): readonly (Json | undefined)[] => [
  answer.status,
  answer.text === '' ? undefined : at(answer.json(), 'error', 'data', 'code'),
];
const UNKNOWN = [404, 'SESSION_UNKNOWN'];

describe('a session of a legacy client', () => {
  it('goes on after a restart', async () => {
    const home = tempDir();
    const start = (): Promise<Gateway> => startGateway({ servers: { plain: fixture('plain') }, home });
    const first = await start();
    const session = await openSession(first.url);
    await first.stop();
    const second = await start();
    const list = await postAt(second, session, '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');
    expect([list.status, at(list.json(), 'result', 'tools', 0, 'name')]).toEqual([200, 'plain_echo']);
    const params = { name: 'plain_echo', arguments: { text: 'again' } };
    const call = await postAt(
      second,
      session,
      JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'tools/call', params }),
    );
    expect(at(call.json(), 'result', 'content', 0, 'text')).toContain('again');
  });
});

describe('sessions that are restored', () => {
  it('take places only of the same caller, if that one has the most', async () => {
    const home = tempDir();
    const greedy = await keepToken(home, 'greedy');
    const modest = await keepToken(home, 'modest');
    const reader = await keepToken(home, 'reader', { scopes: ['read'] });
    const start = (sessions: number): Promise<Gateway> =>
      startGateway({
        servers: { plain: fixture('plain') },
        home,
        settings: { settings: { 'mcp.access': 'token', 'limits.sessions': sessions } },
      });
    const first = await start(100);
    const open = (token: string): Promise<LegacySession> =>
      openSession(first.url, { headers: bearer(token) });
    const mine = await open(modest);
    const theirs = await Promise.all(Array.from({ length: 8 }, () => open(greedy)));
    await first.stop();
    const second = await start(4);
    expect((await postAt(second, mine)).status).toBe(200);
    const stream = await openStream(second.url, {
      method: 'GET',
      headers: { ...mine.headers, accept: 'text/event-stream' },
    });
    let hasEnded = false;
    void stream.ended.then(() => (hasEnded = true));
    for (let time = 0; time < 3; time += 1)
      for (const session of theirs) expect((await postAt(second, session)).status).toBe(200);
    const metrics = `http://127.0.0.1:${second.port}/metrics`;
    const { text } = await send(metrics, { method: 'GET', headers: bearer(reader) });
    expect([gaugeIn(samplesIn(text), 'assay_sessions'), hasEnded]).toEqual([4, false]);
  });
});

describe('sessions beyond the limit', () => {
  it('make room without a write to the store, and continue with their next request', async () => {
    const home = tempDir();
    const gateway = await startGateway({
      servers: { plain: fixture('plain') },
      home,
      settings: { settings: { 'limits.sessions': 2 } },
    });
    const sessions: LegacySession[] = [];
    for (let count = 0; count < 6; count += 1) sessions.push(await openSession(gateway.url));
    for (const session of sessions)
      expect(verdictOf(await postAt(gateway, session))).toEqual([200, undefined]);
    await gateway.stop();
    const rows = await rawRows({ home, databaseUrl: undefined }, 'select id from assay_legacy_sessions');
    expect(rows).toEqual([]);
  });
});

describe('a session on two replicas', () => {
  const tokens: Record<string, string> = {};
  let databaseUrl: string;
  let one: Gateway;
  let two: Gateway;
  beforeAll(async () => {
    databaseUrl = await newDatabase();
    const notifier = await startNotifier({ era: 'legacy' });
    endLater(() => notifier.close());
    const env = { ASSAY_DATABASE_URL: databaseUrl, ASSAY_MCP_ACCESS: 'token' };
    for (const name of ['ada', 'eve'])
      tokens[name] = await keepToken(tempDir(), name, { scopes: ['mcp'], databaseUrl });
    const servers = {
      plain: fixture('plain'),
      // The first of both has the resources.
      m: fixture('notifier', ['--era=legacy']),
      n: { type: 'http', url: notifier.url, isolation: 'shared' },
      own: fixture('asking', ['--era=legacy'], { isolation: 'session' }),
    };
    const start = (): Promise<Gateway> => startGateway({ servers, env });
    [one, two] = await Promise.all([start(), start()]);
    await Promise.all([untilReady(one), untilReady(two)]);
  });
  const open = (name = 'ada'): Promise<LegacySession> =>
    openAskable(one.url, { headers: bearer(tokens[name] ?? '') });
  const askAt = async (
    gateway: { readonly url: string },
    session: LegacySession,
    method: string,
    params: JsonObject = {},
  ): Promise<Json> =>
    messageOf(await postAt(gateway, session, JSON.stringify({ jsonrpc: '2.0', id: 'a', method, params })));
  const callAt = async (gateway: Gateway, session: LegacySession, name: string): Promise<Json> =>
    askAt(gateway, session, 'tools/call', { name, arguments: {} });
  const listenAt = ({ url }: Gateway, session: LegacySession, lastEventId?: string): Promise<Stream> =>
    openStream(url, {
      method: 'GET',
      headers: {
        ...session.headers,
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
    });
  const isUpdate = (message: Json): boolean => at(message, 'method') === 'notifications/resources/updated';

  it('is served by the other one, and its id has at most 512 visible characters', async () => {
    const session = await open();
    expect(session.id).toMatch(/^[\x21-\x7e]{1,512}$/);
    expect(verdictOf(await postAt(two, session))).toEqual([200, undefined]);
    expect(verdictOf(await postAt(one, session))).toEqual([200, undefined]);
  });

  it('keeps to 512 characters with any declarations of its client', async () => {
    const text = 'x'.repeat(20_000);
    const body = initializeOf('2025-11-25', { experimental: { [text]: {} }, roots: {} });
    const answer = await send(one.url, {
      headers: { 'content-type': 'application/json', accept: BOTH, ...bearer(tokens['ada'] ?? '') },
      body: body.replace('"test"', `"${text}"`),
    });
    const id = String(answer.headers['mcp-session-id']);
    expect(id.length).toBeLessThanOrEqual(512);
    const headers = {
      'content-type': 'application/json',
      accept: BOTH,
      'mcp-session-id': id,
      ...bearer(tokens['ada'] ?? ''),
    };
    expect((await send(two.url, { headers, body: PING })).status).toBe(200);
  });

  it('is unknown with another token, at another endpoint, and with an altered id', async () => {
    const session = await open();
    const others = { ...session.headers, ...bearer(tokens['eve'] ?? '') };
    expect(verdictOf(await send(two.url, { headers: others, body: PING }))).toEqual(UNKNOWN);
    expect(verdictOf(await postAt({ url: two.url.replace('/all', '/servers/plain') }, session))).toEqual(
      UNKNOWN,
    );
    const { authorization: _, ...nameless } = session.headers;
    expect((await send(two.url, { headers: nameless, body: PING })).status).toBe(401);
    const last = session.id.at(-1) === 'A' ? 'B' : 'A';
    for (const id of [
      `${session.id.slice(0, -1)}${last}`,
      session.id.slice(1),
      `${session.id}A`,
      'x'.repeat(512),
    ]) {
      const headers = { ...session.headers, 'mcp-session-id': id };
      expect(verdictOf(await send(two.url, { headers, body: PING }))).toEqual(UNKNOWN);
    }
    expect(verdictOf(await postAt(two, session))).toEqual([200, undefined]);
  });

  it('that is ended at one is unknown at the other within a second, and after a restart', async () => {
    const [session, unused] = [await open(), await open()];
    expect(verdictOf(await postAt(two, session))).toEqual([200, undefined]);
    const stream = await listenAt(two, session);
    expect((await unused.end()).status).toBe(204);
    expect((await session.end()).status).toBe(204);
    // It was not in the memory of this replica, so it is read.
    expect(verdictOf(await postAt(two, unused))).toEqual(UNKNOWN);
    await until(
      'the other replica has ended it',
      async () => ((await postAt(two, session)).status === 404 ? true : undefined),
      1_000,
    );
    await stream.ended;
    const env = { ASSAY_DATABASE_URL: databaseUrl, ASSAY_MCP_ACCESS: 'token' };
    const three = await startGateway({ servers: { plain: fixture('plain') }, env });
    for (const ended of [session, unused]) expect(verdictOf(await postAt(three, ended))).toEqual(UNKNOWN);
    const rows = await rowsOf(databaseUrl, 'select is_ended from assay_legacy_sessions where is_ended = 1');
    expect(rows).toHaveLength(2);
  });

  it('writes nothing to the database until it differs from a new one', async () => {
    const count = async (): Promise<number> =>
      (await rowsOf(databaseUrl, 'select id from assay_legacy_sessions')).length;
    const before = await count();
    const session = await open();
    for (const gateway of [one, two, one]) {
      await askAt(gateway, session, 'tools/list');
      await callAt(gateway, session, 'plain_echo');
      (await listenAt(gateway, session)).cut();
    }
    expect(await count()).toBe(before);
  });

  it('keeps its log level', async () => {
    const session = await open();
    await askAt(one, session, 'logging/setLevel', { level: 'error' });
    const stream = await openStream(two.url, {
      headers: session.headers,
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n_talk","arguments":{}}}',
    });
    await stream.ended;
    const levels = stream.messages().map((message) => at(message, 'params', 'level'));
    expect(levels).toContain('error');
    expect(levels).not.toContain('info');
  });

  it('is notified at the replica where it listens of what it subscribed to at the other', async () => {
    const session = await open();
    const stream = await listenAt(two, session);
    await askAt(one, session, 'resources/subscribe', { uri: 'note://one' });
    await stream.next('the first update, as others may have been missed', isUpdate);
    // Each replica has its own process of this server.
    const touchAt = (gateway: Gateway, uri: string): Promise<Json> =>
      askAt(gateway, session, 'tools/call', { name: 'm_touch', arguments: { uri } });
    await touchAt(two, 'note://one');
    await until('an update', () => (stream.messages().filter(isUpdate).length > 1 ? true : undefined));
    await askAt(two, session, 'resources/unsubscribe', { uri: 'note://one' });
    await askAt(two, session, 'resources/subscribe', { uri: 'note://two' });
    const fresh = await listenAt(one, session);
    await fresh.next('the first update', isUpdate);
    for (const uri of ['note://one', 'note://two']) await touchAt(one, uri);
    await until('an update', () => (fresh.messages().filter(isUpdate).length > 1 ? true : undefined));
    const uris = fresh.messages().filter(isUpdate);
    expect(uris.map((update) => at(update, 'params', 'uri'))).toEqual(['note://two', 'note://two']);
  });

  it('is asked at one, and may answer at the other', async () => {
    const session = await open();
    const { stream, question } = await untilAsked(session, 'own_ask', { rounds: [[formOf('Who?')]] });
    const body = JSON.stringify({
      jsonrpc: '2.0',
      id: at(question, 'id') ?? null,
      result: { action: 'accept', content: { name: 'Ada' } },
    });
    // Neither another session nor another holder can answer.
    const others = await Promise.all([open(), open('eve')]);
    for (const other of others) expect((await postAt(two, other, body)).status).toBe(202);
    expect((await postAt(two, session, body)).status).toBe(202);
    const response = await responseOn(stream);
    expect(JSON.stringify(response)).toContain('Ada');
    await until('the answers are removed', async () =>
      (await rowsOf(databaseUrl, 'select id from assay_session_answers')).length === 0 ? true : undefined,
    );
    const large = body.replace('Ada', 'x'.repeat(1_100_000));
    expect(verdictOf(await postAt(two, session, large))).toEqual([503, 'ANSWER_UNDELIVERED']);
  });

  it('is told once that the state of its own process is lost, and never gets another one silently', async () => {
    const session = await open();
    const text = (answer: Json): string => textAt(answer, 'result', 'content', 0, 'text');
    const first = text(await callAt(one, session, 'own_pid'));
    expect(text(await callAt(one, session, 'own_pid'))).toBe(first);
    const lost = await callAt(two, session, 'own_pid');
    expect(at(lost, 'result', '_meta', 'assay/error', 'code') ?? JSON.stringify(lost)).toContain(
      'SERVER_STATE_LOST',
    );
    await until('its process has ended', () => (isAlive(Number(first)) ? undefined : true));
    const second = text(await callAt(two, session, 'own_pid'));
    expect(second).not.toBe(first);
    expect(text(await callAt(two, session, 'own_pid'))).toBe(second);
    expect(JSON.stringify(await callAt(one, session, 'own_pid'))).toContain('SERVER_STATE_LOST');
  });

  it('says what is missing if a stream is resumed at the other replica', async () => {
    const session = await open();
    const get = await listenAt(one, session);
    const lastEventId = (await until('an event', () => get.events[0])).id ?? '';
    get.cut();
    const resumed = await listenAt(two, session, lastEventId);
    await resumed.next('the lists', (one) => at(one, 'method') === 'notifications/tools/list_changed');
    expect(resumed.events.map(({ comment }) => comment).join('')).toContain('not kept here');

    const { stream } = await untilAsked(session, 'own_ask', { rounds: [[formOf('Who?')]] }, 'lost-1');
    const last = stream.events.at(-1)?.id ?? '';
    stream.cut();
    const answer = await listenAt(two, session, last);
    await answer.ended;
    const [response] = answer.messages();
    expect([at(response, 'id'), at(response, 'error', 'data')]).toEqual([
      'lost-1',
      { code: 'RESPONSE_LOST', sent: { effect: 'unknown', times: 1, mayRepeat: false } },
    ]);
  });

  it('is unknown at both once its token is revoked', async () => {
    const token = await keepToken(tempDir(), 'leaver', { scopes: ['mcp'], databaseUrl });
    const session = await openSession(one.url, { headers: bearer(token) });
    expect((await postAt(two, session)).status).toBe(200);
    const store = valueOf(await tryStore({ home: tempDir(), databaseUrl }));
    endLater(() => store.close());
    valueOf(await revokeToken('leaver', { store, nowMs: Date.now(), by: 'local' }));
    for (const gateway of [one, two])
      await until('it is refused', async () =>
        (await postAt(gateway, session)).status === 401 ? true : undefined,
      );
    const headers = { ...session.headers, ...bearer(tokens['ada'] ?? '') };
    for (const { url } of [one, two])
      expect(verdictOf(await send(url, { headers, body: PING }))).toEqual(UNKNOWN);
  });
});

describe('what a session has chosen at /mcp', () => {
  it('survives a restart: its toolset, its mode and its end', async () => {
    const home = tempDir();
    const token = await keepToken(home, 'ada', { scopes: ['mcp'] });
    const env = { ASSAY_MCP_ACCESS: 'token', ASSAY_ENABLE_CONFIG_TOOLS_MENU: 'true' };
    const start = async (): Promise<string> => {
      const assay = await startGateway({ servers: { plain: fixture('plain') }, home, env });
      await untilReady(assay);
      running = assay;
      return assay.url.replace('/all', '');
    };
    let running: Gateway | undefined;
    let url = await start();
    const [equipped, switched, ended] = await Promise.all(
      [1, 2, 3].map(() => openSession(url, { headers: bearer(token) })),
    );
    if (equipped === undefined || switched === undefined || ended === undefined)
      throw new Error('no session');
    const tools = async (session: LegacySession): Promise<readonly Json[]> => {
      const body = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
      return namesAt(messageOf(await postAt({ url }, session, body)), 'result', 'tools');
    };
    for (const session of [equipped, switched])
      await session.ask('tools/call', {
        name: 'build-toolset',
        arguments: {
          name: session === equipped ? 'mine' : 'theirs',
          tools: [{ namespacedName: 'plain.echo' }],
          autoEquip: true,
        },
      });
    await switched.ask('tools/call', { name: 'enter-configuration-mode', arguments: {} });
    expect((await ended.end()).status).toBe(204);
    const before = [await tools(equipped), await tools(switched)];
    expect(before[0]).toContain('plain_echo');
    expect(before[1]).not.toContain('plain_echo');
    await running?.stop();
    url = await start();
    expect([await tools(equipped), await tools(switched)]).toEqual(before);
    expect(verdictOf(await postAt({ url }, ended))).toEqual(UNKNOWN);
  });
});
