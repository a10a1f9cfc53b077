import { describe, expect, it } from 'vitest';
import { startGateway } from '../support/gateway.ts';
import { sleep } from '../support/endings.ts';
import { openStream } from '../support/http.ts';
import { at, isObject, parseJson, type Json } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { META, modernBody, modernHeaders } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';
import type { LinePeer } from '../support/stdio.ts';
import { openStdio } from '../support/stdio-gateway.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';

describe('a client over HTTP', () => {
  it('that sends 70 MB with fetch() can read why it is refused', async () => {
    const assay = await startGateway({ servers: {} });
    const body = Buffer.alloc(70 * 1024 * 1024, 0x20);
    for (let time = 0; time < 3; time++) {
      const answer = await fetch(assay.url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body,
      });
      expect(answer.status).toBe(413);
      const message = parseJson(await answer.text());
      expect(at(message, 'error', 'data', 'code')).toBe('MESSAGE_TOO_LARGE');
    }
    expect(at(await assay.health(), 'status')).toEqual(expect.any(String));
  });

  it('that opens a second GET stream gets messages on that one, and the first one ends', async () => {
    const assay = await startGateway({ servers: { changer: fixture('changer') } });
    await assay.settled();
    const session = await openSession(assay.url);
    const first = await session.listen();
    const second = await session.listen();
    expect([first.status, second.status]).toEqual([200, 200]);
    await first.ended;
    await session.call('changer_grow');
    await second.next('the change', (one) => at(one, 'method') === 'notifications/tools/list_changed');
    expect(first.messages()).toEqual([]);
    // The end of the first one, which may be noticed late, costs the second one nothing.
    await sleep(100);
    const heard = second.messages().length;
    await session.call('changer_grow');
    await second.next('the next change', () => second.messages().length > heard);
  });

  it('gets its subscription id back as written', async () => {
    const assay = await startGateway({ servers: { changer: fixture('changer') } });
    await assay.settled();
    const session = await openSession(assay.url);
    for (const id of ['12345678901234567890', '"12345678901234567890"', '0', '"\\u00e9"']) {
      const params = { notifications: { toolsListChanged: true } };
      const stream = await openStream(assay.url, {
        headers: modernHeaders('subscriptions/listen', params),
        body: modernBody('subscriptions/listen', { id: 7, params }).replace('"id":7', `"id":${id}`),
      });
      await stream.next('the acknowledgement', (one) => String(at(one, 'method')).endsWith('/acknowledged'));
      await session.call('changer_grow');
      await stream.next('the change', (one) => String(at(one, 'method')).endsWith('/list_changed'));
      const said = stream.events.filter((event) => event.data !== '');
      for (const { data } of said) expect(data).toContain(`"${META}subscriptionId":${id}}`);
      stream.cut();
    }
  });
});

describe.concurrent('a client on stdio', () => {
  /** The output for these lines, up to the answer to a final ping. */
  async function answersTo(pipe: LinePeer, ...lines: readonly string[]): Promise<readonly Json[]> {
    const before = pipe.lines().length;
    for (const line of lines) pipe.write(`${line}\n`);
    await sleep(100);
    pipe.write('{"jsonrpc":"2.0","id":"last","method":"ping"}\n');
    await pipe.next('the last pong', (one) => at(one, 'id') === 'last');
    return pipe
      .lines()
      .slice(before)
      .map(parseJson)
      .filter((one) => at(one, 'id') !== 'last');
  }

  it('may ping before it initializes', async () => {
    const pipe = openStdio({ servers: {} });
    expect(await answersTo(pipe, PING)).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
    expect(at(await pipe.initialize(), 'result', 'protocolVersion')).toBe('2025-11-25');
    expect(await answersTo(pipe, PING)).toEqual([{ jsonrpc: '2.0', id: 1, result: {} }]);
  });

  it('of 2025-03-26 gets one array for a batch, without responses to notifications', async () => {
    const pipe = openStdio({ servers: { plain: fixture('plain') } });
    await pipe.initialize('2025-03-26');
    await pipe.ask('tools/list');
    const call = '{"jsonrpc":"2.0","id":"two","method":"tools/call","params":{"name":"plain_label"}}';
    const note = '{"jsonrpc":"2.0","method":"notifications/initialized"}';
    const unknown = '{"jsonrpc":"2.0","id":3,"method":"no/such"}';
    // List changes may be announced at any time; responses have no method.
    const answered = (): number => pipe.lines().filter((line) => !line.includes('list_changed')).length;
    const before = answered();
    pipe.write(`[${PING},${call},${note},${unknown}]\n`);
    const answer = await pipe.next('the array', (one) => Array.isArray(one));
    const ids = (answer as readonly Json[]).map((one) => at(one, 'id'));
    expect([...ids].sort()).toEqual([1, 3, 'two']);
    expect(
      (answer as readonly Json[]).map((one) => at(one, 'error', 'code') ?? at(one, 'result') !== undefined),
    ).toEqual(expect.arrayContaining([true, true, -32601]));
    expect(answered()).toBe(before + 1);
  });

  it('of 2025-03-26 gets nothing for a batch of notifications', async () => {
    const pipe = openStdio({ servers: {} });
    await pipe.initialize('2025-03-26');
    expect(await answersTo(pipe, '[{"jsonrpc":"2.0","method":"notifications/initialized"}]')).toEqual([]);
  });

  it.each(['x', ' {}', ']', `,${PING}`, `[${PING}]`])(
    'is refused a batch that is followed by %s',
    async (rest) => {
      const pipe = openStdio({ servers: {} });
      await pipe.initialize('2025-03-26');
      const answers = await answersTo(pipe, `[${PING}]${rest}`);
      expect(answers).toHaveLength(1);
      expect(at(answers[0], 'error', 'code')).toBe(-32700);
    },
  );

  it('of a revision without batches gets one error for a batch', async () => {
    const pipe = openStdio({ servers: {} });
    await pipe.initialize('2025-11-25');
    const answers = await answersTo(pipe, `[${PING},${PING}]`);
    expect(answers.map((one) => [isObject(one), at(one, 'error', 'code')])).toEqual([[true, -32600]]);
  });
});
