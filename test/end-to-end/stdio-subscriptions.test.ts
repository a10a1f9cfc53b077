import { writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startNotifier } from '../fixtures/notifier-http.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { at, namesAt, parseJson, type Json, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { envelope, META, modernStream } from '../support/modern.ts';
import { fixture, writeConfig } from '../support/paths.ts';
import type { LinePeer } from '../support/stdio.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const isUpdate = (message: Json): boolean => at(message, 'method') === 'notifications/resources/updated';
const stampOf = (message: Json): Json | undefined => at(message, 'params', '_meta', `${META}subscriptionId`);

function sendModern(
  pipe: LinePeer,
  id: Json,
  request: { readonly method: string; readonly params: JsonObject },
): void {
  const params = { ...request.params, _meta: envelope() };
  pipe.send({ jsonrpc: '2.0', id, method: request.method, params });
}

function listenOn(pipe: LinePeer, id: Json, notifications: JsonObject): void {
  sendModern(pipe, id, { method: 'subscriptions/listen', params: { notifications } });
}

function callOn(pipe: LinePeer, id: Json, name: string, args: JsonObject): Promise<Json> {
  sendModern(pipe, id, { method: 'tools/call', params: { name, arguments: args } });
  return pipe.next(`the answer to ${name}`, (message) => at(message, 'id') === id);
}

const messagesOf = (pipe: LinePeer): readonly Json[] => pipe.lines().map((line) => parseJson(line));

describe.each(['legacy', 'modern'])('on stdio, with a %s server', (era) => {
  it('two subscriptions of one client get their own messages each, and a cancelled one no more', async () => {
    const pipe = openStdio({ servers: { s: fixture('notifier', [`--era=${era}`]) } });
    // A client is notified once a list exists that it has not seen.
    for (const method of ['tools/list', 'prompts/list']) {
      sendModern(pipe, method, { method, params: {} });
      await pipe.next(method, (message) => at(message, 'id') === method);
    }
    listenOn(pipe, 'a', { resourceSubscriptions: ['note://one'] });
    listenOn(pipe, 2, { resourceSubscriptions: ['note://two', 'note://one'], promptsListChanged: true });
    for (const id of ['a', 2]) await pipe.next('acknowledgement', (message) => stampOf(message) === id);
    await callOn(pipe, 10, 's_touch', { uri: 'note://two' });
    await callOn(pipe, 11, 's_touch', { uri: 'note://one' });
    await callOn(pipe, 12, 's_grow', { kind: 'prompts' });
    await callOn(pipe, 13, 's_grow', { kind: 'tools' });
    // From the first update: on a slow machine, the prompts were listed before those of the server were there.
    const told = (id: Json): readonly Json[] => {
      const all = messagesOf(pipe)
        .filter((message) => stampOf(message) === id)
        .map((message) => at(message, 'params', 'uri') ?? at(message, 'method') ?? null);
      const first = all.findIndex((one) => String(one).startsWith('note://'));
      return first < 0 ? [] : all.slice(first);
    };
    await until('all was told', () => (told('a').length + told(2).length >= 4 ? true : undefined));
    await sleep(150);
    expect(told('a')).toEqual(['note://one']);
    expect(told(2)).toEqual(['note://two', 'note://one', 'notifications/prompts/list_changed']);
    pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'a' } });
    await callOn(pipe, 14, 's_touch', { uri: 'note://one' });
    await until('the other hears of it', () => (told(2).length === 4 ? true : undefined));
    expect(told('a')).toEqual(['note://one']);
    pipe.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } });
    await until('nobody wants any', async () => {
      const state = at(
        await callOn(pipe, `s${Math.random()}`, 's_state', {}),
        'result',
        'content',
        0,
        'text',
      );
      return at(parseJson(String(state)), 'subscribed', 0) === undefined ? true : undefined;
    });
  });

  it('a legacy client is notified of what it subscribed to, until it unsubscribes', async () => {
    const pipe = openStdio({ servers: { s: fixture('notifier', [`--era=${era}`]) } });
    await pipe.initialize();
    await pipe.ask('resources/list');
    expect(await pipe.ask('resources/subscribe', { uri: 'note://one' })).toMatchObject({ result: {} });
    await pipe.call('s_touch', { uri: 'note://one' });
    const told = await pipe.next('an update', isUpdate);
    expect(stampOf(told)).toBeUndefined();
    expect(await pipe.ask('resources/unsubscribe', { uri: 'note://one' })).toMatchObject({ result: {} });
    await pipe.call('s_touch', { uri: 'note://one' });
    await sleep(150);
    expect(messagesOf(pipe).filter(isUpdate)).toHaveLength(1);
  });
});

it("subscriptions on stdio count towards the client's limit of concurrent requests", async () => {
  const settings = { settings: { 'limits.requestsPerClient': 3 } };
  const pipe = openStdio({ servers: { s: fixture('notifier') }, settings });
  for (const id of [1, 2, 3, 4]) listenOn(pipe, id, { toolsListChanged: true });
  const refused = await pipe.next('a refusal', (message) => at(message, 'error') !== undefined);
  expect([at(refused, 'id'), at(refused, 'error', 'data', 'code')]).toEqual([4, 'CLIENT_BUSY']);
});

it('a capability that a server has only after a restart is announced to clients of both eras', async () => {
  const before = await startNotifier({ era: 'legacy', capabilities: { tools: {} } });
  const { port } = before;
  const assay = await startGateway({
    servers: { s: { type: 'http', url: before.url, isolation: 'shared' } },
  });
  await assay.settled();
  const session = await openSession(assay.url);
  expect(namesAt(await session.ask('prompts/list'), 'result', 'prompts')).toEqual([]);
  const get = await session.listen();
  const listen = await modernStream(assay.url, 'subscriptions/listen', {
    params: { notifications: { promptsListChanged: true } },
  });
  await before.close();
  const after = await startNotifier({ era: 'legacy', port });
  endLater(() => after.close());
  await session.ask('tools/call', { name: 's_state' });
  const isChange = (message: Json): boolean => at(message, 'method') === 'notifications/prompts/list_changed';
  await Promise.all([get, listen].map((stream) => stream.next('a change', isChange)));
  expect(namesAt(await session.ask('prompts/list'), 'result', 'prompts')).toEqual(['s_greet']);
  after.grow('prompts');
  await until('the next change', () => (listen.messages().filter(isChange).length === 2 ? true : undefined));
});

it('a server without resource subscriptions is not declared as having them', async () => {
  const config = writeConfig({ s: fixture('changer') });
  const assay = await startGateway({ config });
  await assay.settled();
  const session = await openSession(assay.url);
  expect(at(session.initialized, 'result', 'capabilities', 'resources')).toEqual({ listChanged: true });
  expect(at(await session.ask('resources/subscribe', { uri: 'changer://a' }), 'error', 'code')).toBe(-32601);
  writeFileSync(config, JSON.stringify({ mcpServers: { s: fixture('changer'), t: fixture('notifier') } }));
  await until('the new server has come', async () => {
    const later = await openSession(assay.url);
    return at(later.initialized, 'result', 'capabilities', 'resources', 'subscribe') === true
      ? true
      : undefined;
  });
  await until('it can be subscribed to', async () => {
    const answer = await session.ask('resources/subscribe', { uri: 'note://one' });
    return at(answer, 'result') === undefined ? undefined : true;
  });
  await session.call('s_grow', { kinds: ['resources'] });
  await until('its resource is known', async () => {
    const answer = await session.ask('resources/subscribe', { uri: 'changer://extra_0' });
    return at(answer, 'error', 'data', 'code') === 'SUBSCRIPTION_UNSUPPORTED' ? true : undefined;
  });
});
