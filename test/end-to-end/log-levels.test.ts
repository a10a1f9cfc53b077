import { beforeAll, describe, expect, it } from 'vitest';
import { startNotifier, type NotifierHttp } from '../fixtures/notifier-http.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, connectFirst } from '../support/clients.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { at, parseJson, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { META, modernAsk, modernSend, modernStream } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'];

/** The levels of the log messages among these. */
function saidIn(messages: readonly Json[]): readonly Json[] {
  return messages
    .filter((message) => at(message, 'method') === 'notifications/message')
    .map((message) => at(message, 'params', 'level') ?? null);
}

describe('log messages of a call', () => {
  let legacy: NotifierHttp;
  let modern: NotifierHttp;
  let assay: Gateway;
  beforeAll(async () => {
    [legacy, modern] = await Promise.all([
      startNotifier({ era: 'legacy' }),
      startNotifier({ era: 'modern' }),
    ]);
    for (const one of [legacy, modern]) endLater(() => one.close());
    assay = await startGateway({
      servers: {
        legacy: { type: 'http', url: legacy.url, isolation: 'shared' },
        modern: { type: 'http', url: modern.url, isolation: 'shared' },
      },
    });
    await assay.settled();
  });

  const said = async (session: LegacySession, server: string): Promise<readonly Json[]> => {
    const stream = await session.stream('tools/call', { name: `${server}_talk` });
    await stream.ended;
    return saidIn(stream.messages());
  };
  const saidToModern = async (server: string, level: string | undefined): Promise<readonly Json[]> => {
    const stream = await modernStream(assay.url, 'tools/call', {
      params: { name: `${server}_talk` },
      meta: level === undefined ? {} : { [`${META}logLevel`]: level },
    });
    await stream.ended;
    return saidIn(stream.messages());
  };

  it('for a legacy client without a level: all of a legacy server, and those from "info" on of a modern one', async () => {
    const session = await openSession(assay.url);
    expect(await said(session, 'legacy')).toEqual(LEVELS);
    expect(await said(session, 'modern')).toEqual(LEVELS.slice(1));
    expect(await session.call('modern_meta')).toContain(`"${META}logLevel":"info"`);
  });

  it.each(['legacy', 'modern'])('of a %s server reach each client from its own level on', async (server) => {
    const [one, other] = await Promise.all([openSession(assay.url), openSession(assay.url)]);
    await one.ask('logging/setLevel', { level: 'error' });
    expect(await said(one, server)).toEqual(LEVELS.slice(4));
    await other.ask('logging/setLevel', { level: 'debug' });
    expect(await said(other, server)).toEqual(LEVELS);
    expect(await said(one, server)).toEqual(LEVELS.slice(4));
    expect(await saidToModern(server, 'alert')).toEqual(['alert', 'emergency']);
    expect(await saidToModern(server, 'debug')).toEqual(LEVELS);
    expect(await saidToModern(server, undefined)).toEqual([]);
  });

  it('with an invalid level: the level is refused, and the request with it', async () => {
    const answer = await modernSend(assay.url, 'tools/call', {
      params: { name: 'legacy_talk' },
      meta: { [`${META}logLevel`]: 'loud' },
    });
    expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32602]);
  });

  it('reach official clients, of both eras from servers of both', async () => {
    for (const server of ['legacy', 'modern']) {
      const heard: string[] = [];
      const first = await connectFirst({ url: assay.url });
      first.fallbackNotificationHandler = (note) => {
        heard.push(String(note.params?.['level']));
        return Promise.resolve();
      };
      await first.setLoggingLevel('alert');
      await first.callTool({ name: `${server}_talk` });
      expect(heard).toEqual(['alert', 'emergency']);
      const second = await connectClient({ url: assay.url }, 'modern');
      second.fallbackNotificationHandler = (note) => {
        heard.push(String(note.params?.['level']));
        return Promise.resolve();
      };
      await second.callTool({ name: `${server}_talk`, _meta: { [`${META}logLevel`]: 'emergency' } });
      expect(heard).toEqual(['alert', 'emergency', 'emergency']);
    }
  });
});

describe('the level of a legacy server shared by several clients', () => {
  it('is the lowest that any of them wants, and never above the default for one that set none', async () => {
    const http = await startNotifier({ era: 'legacy' });
    endLater(() => http.close());
    const assay = await startGateway({
      servers: { s: { type: 'http', url: http.url, isolation: 'shared' } },
    });
    await assay.settled();
    const session = await openSession(assay.url);
    const level = async (): Promise<Json> => at(parseJson(await session.call('s_state')), 'level') ?? null;
    expect(await level()).toBeNull();
    await modernAsk(assay.url, 'tools/call', {
      params: { name: 's_talk' },
      meta: { [`${META}logLevel`]: 'error' },
    });
    expect(await level()).toBe('info');
    await session.ask('logging/setLevel', { level: 'debug' });
    expect(await level()).toBe('debug');
    await (await openSession(assay.url)).ask('logging/setLevel', { level: 'critical' });
    expect(await level()).toBe('debug');
    expect(http.seen['logging/setLevel']).toBe(2);
  });

  it('is sent again to a restarted server', async () => {
    const assay = await startGateway({ servers: { s: fixture('notifier') } });
    await assay.settled();
    const session = await openSession(assay.url);
    await session.ask('logging/setLevel', { level: 'debug' });
    await session.ask('tools/call', { name: 's_die' });
    const level = await until('the server is back', async () => {
      const state = await session.ask('tools/call', { name: 's_state' });
      const text = at(state, 'result', 'content', 0, 'text');
      return typeof text === 'string' ? at(parseJson(text), 'level') : undefined;
    });
    expect(level).toBe('debug');
  });
});

it.each(['legacy', 'modern'])(
  "a log message of a %s server outside of any call goes to Assay's log only",
  async (era) => {
    const http = await startNotifier({ era: era === 'modern' ? 'modern' : 'legacy' });
    endLater(() => http.close());
    const stdio = fixture('notifier', [`--era=${era}`]);
    const assay = await startGateway({
      servers: { s: { type: 'http', url: http.url, isolation: 'shared' }, p: stdio },
      env: { ASSAY_LOG_LEVEL: 'debug' },
    });
    await assay.settled();
    const session = await openSession(assay.url);
    await session.ask('logging/setLevel', { level: 'debug' });
    const get = await session.listen();
    const listen = await modernStream(assay.url, 'subscriptions/listen', {
      params: { notifications: { toolsListChanged: true } },
    });
    await listen.next('acknowledgement', () => true);
    await session.call('p_mutter');
    if (era === 'legacy') await session.call('s_mutter');
    const wanted = era === 'legacy' ? 2 : 1;
    await until('the log has it', () =>
      assay.stderr().split('muttered').length > wanted ? true : undefined,
    );
    await sleep(100);
    expect(get.messages()).toEqual([]);
    expect(listen.messages()).toHaveLength(1);
  },
);

it('on stdio a client gets messages from its own level on', async () => {
  const http = await startNotifier({ era: 'modern' });
  endLater(() => http.close());
  const pipe = openStdio({ servers: { s: { type: 'http', url: http.url, isolation: 'shared' } } });
  await pipe.initialize();
  await pipe.ask('tools/list');
  await pipe.ask('logging/setLevel', { level: 'alert' });
  await pipe.call('s_talk');
  const lines = pipe.lines().map((line) => parseJson(line));
  expect(saidIn(lines)).toEqual(['alert', 'emergency']);
});
