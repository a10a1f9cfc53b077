import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, OFFICIAL } from '../support/clients.ts';
import { sleep } from '../support/endings.ts';
import { at, type Json } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { META, modernStream } from '../support/modern.ts';
import { fixture, writeConfig } from '../support/paths.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const params = (who: string, token: Json | undefined, tool = 'c_steps'): Record<string, Json> => ({
  name: tool,
  arguments: { steps: 4, intervalMs: 30, who },
  ...(token === undefined ? {} : { _meta: { progressToken: token } }),
});

describe('progress', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({ servers: { c: fixture('cancellable'), m: fixture('modern') } });
    await assay.settled();
  });

  it('reaches only the client of its call, even if several use the same token and id', async () => {
    const [one, other] = await Promise.all([openSession(assay.url), openSession(assay.url)]);
    const streams = await Promise.all([
      one.stream('tools/call', params('one', 'same'), 5),
      other.stream('tools/call', params('other', 'same'), 5),
      modernStream(assay.url, 'tools/call', {
        id: 5,
        params: params('third', undefined),
        meta: { progressToken: 'same' },
      }),
    ]);
    await Promise.all(streams.map((stream) => stream.ended));
    for (const [index, who] of ['one', 'other', 'third'].entries()) {
      const messages = streams[index]?.messages() ?? [];
      expect(messages.slice(0, -1).map((message) => at(message, 'params'))).toEqual(
        [1, 2, 3, 4].map((step) => ({
          progressToken: 'same',
          progress: step,
          total: 4,
          message: `"${who}" ${step}`,
        })),
      );
      expect(at(messages.at(-1), 'id')).toBe(5);
      expect(at(messages.at(-1), 'result', 'content', 0, 'text')).toBe(`"${who}" took 4 steps`);
    }
  });

  it.each([0, 7, '', 'tökén', 'progress'])('keeps the token %j unchanged', async (token) => {
    const session = await openSession(assay.url);
    const stream = await session.stream('tools/call', params('a', token));
    await stream.ended;
    expect(
      stream
        .messages()
        .slice(0, -1)
        .map((one) => at(one, 'params', 'progressToken')),
    ).toEqual([token, token, token, token]);
  });

  it('is relayed from a modern server to a legacy client and vice versa', async () => {
    const session = await openSession(assay.url);
    const fromModern = await session.stream('tools/call', params('a', 't', 'm_steps'));
    const toModern = await modernStream(assay.url, 'tools/call', {
      params: params('b', undefined),
      meta: { progressToken: 't' },
    });
    for (const stream of [fromModern, toModern]) {
      await stream.ended;
      expect(
        stream
          .messages()
          .slice(0, -1)
          .map((one) => at(one, 'params', 'progress')),
      ).toEqual([1, 2, 3, 4]);
    }
  });

  it('is not sent if the client did not request it', async () => {
    const session = await openSession(assay.url);
    const stream = await session.stream('tools/call', params('a', undefined));
    await stream.ended;
    expect(stream.headers['content-type']).toBe('application/json');
  });

  it('is never sent on the GET stream or on a subscription', async () => {
    const session = await openSession(assay.url);
    const get = await session.listen();
    const listen = await modernStream(assay.url, 'subscriptions/listen', {
      params: { notifications: { toolsListChanged: true } },
    });
    await (
      await session.stream('tools/call', params('a', 't'))
    ).ended;
    await sleep(100);
    expect(get.messages()).toEqual([]);
    expect(listen.messages()).toHaveLength(1);
  });

  it.each(OFFICIAL)('reaches the official client $label over HTTP and stdio', async ({ connect }) => {
    const config = writeConfig({ c: fixture('cancellable') });
    for (const endpoint of [{ url: assay.url }, { stdio: { all: true, config } }]) {
      const client = await connect(endpoint);
      const progress: number[] = [];
      await client.call('c_steps', { steps: 3, intervalMs: 200 }, (one) => progress.push(one));
      expect(progress).toEqual([1, 2, 3]);
      await client.close();
    }
  });

  it('keeps the tokens of two concurrent calls on stdio apart', async () => {
    const pipe = openStdio({ servers: { c: fixture('cancellable') } });
    await pipe.initialize();
    await pipe.ask('tools/list');
    pipe.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: params('a', 'ta') });
    pipe.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: params('b', 'tb') });
    await Promise.all([1, 2].map((id) => pipe.next('the result', (one) => at(one, 'id') === id)));
    const notifications = pipe
      .lines()
      .map((line) => JSON.parse(line) as Json)
      .filter((one) => at(one, 'method') === 'notifications/progress');
    for (const [token, who] of [
      ['ta', 'a'],
      ['tb', 'b'],
    ]) {
      const mine = notifications.filter((one) => at(one, 'params', 'progressToken') === token);
      expect(mine.map((one) => at(one, 'params', 'message'))).toEqual(
        [1, 2, 3, 4].map((n) => `"${who ?? ''}" ${n}`),
      );
    }
  });
});

describe('log messages from a server', () => {
  it('reach no client if several share the server, because nothing links them to a call', async () => {
    const assay = await startGateway({
      servers: { c: fixture('cancellable') },
      env: { ASSAY_LOG_LEVEL: 'debug' },
    });
    await assay.settled();
    const [one, other] = await Promise.all([openSession(assay.url), openSession(assay.url)]);
    const [mine, others] = await Promise.all([one.listen(), other.listen()]);
    await one.ask('logging/setLevel', { level: 'debug' });
    await other.ask('logging/setLevel', { level: 'debug' });
    const call = await one.stream('tools/call', { name: 'c_talk', arguments: { who: 'one' } });
    await call.ended;
    await sleep(200);
    expect(others.messages()).toEqual([]);
    const notifications = [...mine.messages(), ...call.messages()].filter(
      (m) => at(m, 'method') === 'notifications/message',
    );
    expect(notifications).toEqual([]);
  });

  it('on the stream of a call reach only its caller', async () => {
    const { startHttp } = await import('../fixtures/http.ts');
    const { endLater } = await import('../support/endings.ts');
    const http = await startHttp('legacy');
    endLater(() => http.close());
    const assay = await startGateway({ servers: { web: { type: 'http', url: http.url } } });
    await assay.settled();
    const [one, other] = await Promise.all([openSession(assay.url), openSession(assay.url)]);
    const others = await other.listen();
    const call = await one.stream('tools/call', {
      name: 'web_steps',
      arguments: { steps: 2 },
      _meta: { progressToken: 'p' },
    });
    await call.ended;
    expect(call.messages().map((m) => at(m, 'method') ?? 'result')).toEqual([
      'notifications/progress',
      'notifications/message',
      'notifications/progress',
      'notifications/message',
      'result',
    ]);
    expect(others.messages()).toEqual([]);
    const client = await connectClient({ url: assay.url }, 'modern');
    expect(client.getProtocolEra()).toBe('modern');
    const quiet = await modernStream(assay.url, 'tools/call', {
      params: { name: 'web_steps', arguments: { steps: 2 } },
    });
    await quiet.ended;
    expect(quiet.messages().filter((m) => at(m, 'method') === 'notifications/message')).toEqual([]);
    const wanted = await modernStream(assay.url, 'tools/call', {
      params: { name: 'web_steps', arguments: { steps: 2 } },
      meta: { [`${META}logLevel`]: 'debug' },
    });
    await wanted.ended;
    expect(wanted.messages().filter((m) => at(m, 'method') === 'notifications/message')).toHaveLength(2);
  });
});
