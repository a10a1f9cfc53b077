import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient, OFFICIAL } from '../support/clients.ts';
import { openLine } from '../support/cutting.ts';
import { sleep, until } from '../support/endings.ts';
import { send, type Answer, type Stream } from '../support/http.ts';
import { at, namesAt, type Json } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { modernStream } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';
import { readGauge } from '../support/prometheus.ts';

const CHANGED = 'notifications/tools/list_changed';
const isResponse = (message: Json): boolean => at(message, 'method') === undefined;
const isChange = (message: Json): boolean => at(message, 'method') === CHANGED;

/** The texts of the messages of a `steps` call: its steps in order, and its response. */
function textsOf(messages: readonly Json[]): readonly Json[] {
  return messages.map(
    (one) => at(one, 'params', 'message') ?? at(one, 'result', 'content', 0, 'text') ?? one,
  );
}

function wholeOf(who: string, steps: number): readonly string[] {
  const each = Array.from({ length: steps }, (_, step) => `"${who}" ${step + 1}`);
  return [...each, `"${who}" took ${steps} steps`];
}

interface Steps {
  readonly steps: number;
  readonly intervalMs: number;
  readonly text?: string;
}

function callSteps(
  session: LegacySession,
  id: string,
  { steps, intervalMs, text = id }: Steps,
): Promise<Stream> {
  const args = { steps, intervalMs, who: text };
  return session.stream('tools/call', { name: 'c_steps', arguments: args, _meta: { progressToken: id } }, id);
}

/** The id of the nth message on a stream; for 0, the id of the event before the first message. */
function idAfter(stream: Stream, count: number): string {
  const before = stream.events.filter(({ data, id }) => data !== '' || id !== undefined);
  const hasPriming = before[0]?.data === '';
  const id = before[hasPriming ? count : count - 1]?.id;
  if (id === undefined) throw new Error(`No id after ${count} of ${JSON.stringify(stream.events)}`);
  return id;
}

async function cutAfter(stream: Stream, count: number): Promise<string> {
  await until('enough was said', () =>
    stream.events.length > 0 && stream.messages().length >= count ? true : undefined,
  );
  stream.cut();
  return idAfter(stream, count);
}

const codeOf = (answer: Answer): Json | undefined => at(answer.json(), 'error', 'data', 'code');

function getAfter(url: string, session: LegacySession, lastEventId: string): Promise<Answer> {
  const headers = { ...session.headers, accept: 'text/event-stream', 'last-event-id': lastEventId };
  return send(url, { method: 'GET', headers });
}

describe('a stream', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({ servers: { c: fixture('cancellable'), changer: fixture('changer') } });
    await assay.settled();
  });

  it('has event ids that are unique in its session', async () => {
    const session = await openSession(assay.url);
    const get = await session.listen();
    const streams = await Promise.all(
      ['a', 'b', 'c'].map((who) => callSteps(session, who, { steps: 3, intervalMs: 5 })),
    );
    await session.call('changer_grow');
    await get.next('list_changed', isChange);
    await Promise.all(streams.map(({ ended }) => ended));
    const ids = [get, ...streams].flatMap(({ events }) => events.map(({ id }) => id));
    expect(ids).not.toContain(undefined);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('starts with an id, a retry delay and no message for a 2025-11-25 client', async () => {
    const session = await openSession(assay.url);
    const streams = [await session.listen(), await callSteps(session, 'a', { steps: 1, intervalMs: 1 })];
    for (const stream of streams) {
      const first = await until('an event', () => stream.events[0]);
      expect(first).toEqual({ data: '', id: expect.stringMatching(/./), retry: '1000', comment: '' });
    }
  });

  it.each(['2025-03-26', '2025-06-18'])('never has an empty event for a %s client', async (version) => {
    const session = await openSession(assay.url, { version });
    const stream = await callSteps(session, 'a', { steps: 2, intervalMs: 5 });
    await stream.ended;
    expect(stream.events.map(({ data, retry }) => [data === '', retry])).toEqual(
      Array(3).fill([false, undefined]),
    );
    const again = await session.resume(idAfter(stream, 1));
    await again.ended;
    expect(again.events).toEqual(stream.events.slice(1));
  });

  it.each([
    ['2025-03-26', 1],
    ['2025-06-18', 1],
    ['2025-11-25', 0],
  ])(
    'of a %s client continues with the next message, whichever message it broke after',
    async (version, first) => {
      const session = await openSession(assay.url, { version });
      const counts = Array.from({ length: 6 - first }, (_, index) => first + index).slice(0, -1);
      await Promise.all(
        counts.map(async (count) => {
          const who = `${version} ${count}`;
          const whole = wholeOf(who, 4);
          const stream = await callSteps(session, who, { steps: 4, intervalMs: 60 });
          const resumed = await session.resume(await cutAfter(stream, count));
          await resumed.ended;
          expect(textsOf(resumed.messages())).toEqual(whole.slice(count));
        }),
      );
    },
  );

  it('loses and repeats nothing if it breaks at each message', async () => {
    const session = await openSession(assay.url);
    let stream = await callSteps(session, 'again', { steps: 5, intervalMs: 80 });
    const received: Json[] = [];
    while (!received.some((one) => one === '"again" took 5 steps')) {
      const lastEventId = await cutAfter(stream, 1);
      received.push(...textsOf(stream.messages().slice(0, 1)));
      if (received.length < 6) stream = await session.resume(lastEventId);
    }
    expect(received).toEqual(wholeOf('again', 5));
  });

  it('continues where it was if it breaks again before the next message', async () => {
    const session = await openSession(assay.url);
    let stream = await callSteps(session, 'quiet', { steps: 1, intervalMs: 600 });
    // The response headers arrive with the first event, so the stream can only be cut after it.
    let lastEventId = await cutAfter(stream, 1);
    for (let time = 0; time < 3; time += 1) {
      stream = await session.resume(lastEventId);
      lastEventId = await cutAfter(stream, 0);
    }
    stream = await session.resume(lastEventId);
    await stream.ended;
    expect(textsOf(stream.messages())).toEqual(['"quiet" took 1 steps']);
  });

  it('delivers the response of a call that ended while disconnected, as often as requested', async () => {
    const session = await openSession(assay.url);
    const stream = await callSteps(session, 'away', { steps: 2, intervalMs: 50 });
    const lastEventId = await cutAfter(stream, 1);
    await sleep(500);
    for (let time = 0; time < 3; time += 1) {
      const resumed = await session.resume(lastEventId);
      await resumed.ended;
      expect(textsOf(resumed.messages())).toEqual(wholeOf('away', 2).slice(1));
    }
  });

  it('is answered with 204 if it was received completely', async () => {
    const session = await openSession(assay.url);
    const stream = await callSteps(session, 'whole', { steps: 1, intervalMs: 5 });
    await stream.ended;
    const answer = await getAfter(assay.url, session, idAfter(stream, 2));
    expect([answer.status, answer.text]).toEqual([204, '']);
  });

  it('ends when its client cancels the call, and is then answered with 204', async () => {
    const session = await openSession(assay.url);
    const stream = await callSteps(session, 'cancelled', { steps: 100, intervalMs: 20 });
    await stream.next('a step', () => true);
    await session.notify('notifications/cancelled', { requestId: 'cancelled' });
    await stream.ended;
    expect(stream.messages().some(isResponse)).toBe(false);
    const last = stream.events.at(-1)?.id ?? '';
    expect((await getAfter(assay.url, session, last)).status).toBe(204);
  });

  it('is refused with 400 if the id is invalid, unknown, or from another session', async () => {
    const [session, other] = await Promise.all([openSession(assay.url), openSession(assay.url)]);
    const streams = await Promise.all(
      [session, other].map((one) => callSteps(one, 'same', { steps: 1, intervalMs: 5 })),
    );
    await Promise.all(streams.map(({ ended }) => ended));
    const [own = '', foreign = ''] = streams.map((stream) => idAfter(stream, 1));
    const part = own.slice(0, own.lastIndexOf('-'));
    for (const id of [foreign, `${part}-99`, `${own}-1`, part, 'x', '0', `${part}--1`]) {
      const answer = await getAfter(assay.url, session, id);
      expect([id, answer.status, codeOf(answer)]).toEqual([id, 400, 'EVENT_UNKNOWN']);
    }
    const gone = { ...other.headers, 'mcp-session-id': 'gone', 'last-event-id': foreign };
    const answer = await send(assay.url, { method: 'GET', headers: gone });
    expect([answer.status, codeOf(answer)]).toEqual([404, 'SESSION_UNKNOWN']);
  });

  it('can be resumed alongside the GET stream, and each message is sent on only one of them', async () => {
    const session = await openSession(assay.url);
    const get = await session.listen();
    const stream = await callSteps(session, 'beside', { steps: 4, intervalMs: 150 });
    const resumed = await session.resume(await cutAfter(stream, 1));
    await session.call('changer_grow');
    await get.next('list_changed', isChange);
    await resumed.ended;
    expect(textsOf(resumed.messages())).toEqual(wholeOf('beside', 4).slice(1));
    expect(get.messages().map(isChange)).toEqual([true]);
  });

  it('ends on its older connection when a newer one resumes it', async () => {
    const session = await openSession(assay.url);
    const stream = await callSteps(session, 'newer', { steps: 6, intervalMs: 100 });
    await stream.next('a step', () => true);
    const newer = await session.resume(idAfter(stream, 1));
    await stream.ended;
    await newer.ended;
    expect(stream.messages().some(isResponse)).toBe(false);
    expect(textsOf(newer.messages())).toEqual(wholeOf('newer', 6).slice(1));
  });

  it('opened with GET delivers what was sent since it broke, once', async () => {
    const own = await startGateway({ servers: { changer: fixture('changer') } });
    await own.settled();
    const session = await openSession(own.url);
    const first = await session.listen();
    await session.call('changer_grow');
    await first.next('list_changed', isChange);
    await sleep(300);
    const lastEventId = await cutAfter(first, first.messages().length);
    await until('its end is known', async () =>
      (await readGauge(own, 'assay_connections')) === 1 ? true : undefined,
    );
    for (let time = 0; time < 3; time += 1) {
      await session.call('changer_grow');
      await sleep(100);
    }
    await until('all changes are read', async () =>
      namesAt(await session.ask('tools/list'), 'result', 'tools').includes('changer_extra_3')
        ? true
        : undefined,
    );
    // The last change is announced a moment later, and must not arrive after the client is back.
    await sleep(500);
    const resumed = await session.resume(lastEventId);
    await resumed.next('list_changed', isChange);
    await sleep(200);
    expect(resumed.messages().map(isChange)).toEqual([true]);
    const fresh = await session.listen();
    await resumed.ended;
    await sleep(200);
    expect(fresh.messages()).toEqual([]);
  });

  it('of a modern client has no event ids and cannot be resumed', async () => {
    const stream = await modernStream(assay.url, 'tools/call', {
      params: { name: 'c_steps', arguments: { steps: 2, intervalMs: 20 } },
      meta: { progressToken: 1 },
    });
    await stream.ended;
    expect(stream.messages()).toHaveLength(3);
    expect(stream.events.flatMap(({ id, retry }) => [id, retry])).toEqual(Array(6).fill(undefined));
    const headers = {
      accept: 'text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'last-event-id': '1',
    };
    expect((await send(assay.url, { method: 'GET', headers })).status).toBe(405);
  });
});

describe('an official client with broken connections', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({ servers: { c: fixture('cancellable'), changer: fixture('changer') } });
    await assay.settled();
  });

  it.each(OFFICIAL.filter(({ label }) => label === '1.x' || label === '2.x legacy'))(
    'gets the rest of the progress and the result of each interrupted call: $label',
    async ({ connect }) => {
      const breaking = [1, 2, 3].map(async (when) => {
        const line = await openLine(assay.port);
        const client = await connect({ url: line.url });
        const progress: number[] = [];
        const text = await client.call('c_steps', { steps: 4, intervalMs: 600, who: 'me' }, (one) => {
          progress.push(one);
          if (progress.length === when) line.cut();
        });
        expect([when, text, progress]).toEqual([when, '"me" took 4 steps', [1, 2, 3, 4]]);
        expect(await client.tools()).toContain('c_steps');
        await client.close();
      });
      await Promise.all(breaking);
    },
  );

  it('is notified once of a list change that it missed', async () => {
    const line = await openLine(assay.port);
    const client = await connectClient({ url: line.url }, 'legacy');
    let received = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => {
      received += 1;
    });
    const session = await openSession(assay.url);
    await sleep(300);
    line.cut();
    await session.call('changer_grow');
    await until('it hears', () => (received > 0 ? true : undefined));
    await sleep(1_500);
    expect(received).toBe(1);
  });
});

describe('a flood of unread events', () => {
  it('is cut to the newest ones, and a returning client learns how many are missing', async () => {
    const assay = await startGateway({
      servers: { c: fixture('cancellable') },
      limits: { replayBytes: 20_000 },
    });
    await assay.settled();
    const session = await openSession(assay.url);
    const text = 'x'.repeat(1_000);
    const stream = await callSteps(session, 'flood', { steps: 200, intervalMs: 0, text });
    const lastEventId = await cutAfter(stream, 1);
    await until('the call is over', async () =>
      (await readGauge(assay, 'assay_requests_in_flight', { server: 'c' })) === 0 ? true : undefined,
    );
    const resumed = await session.resume(lastEventId);
    await resumed.ended;
    const messages = resumed.messages();
    expect(messages.at(-1)).toHaveProperty('result');
    expect(messages.length).toBeLessThan(20);
    const comment = resumed.events.map((event) => event.comment).join('');
    expect(comment).toBe(`: ${200 - messages.length} events are not kept any more`);
  });
});
