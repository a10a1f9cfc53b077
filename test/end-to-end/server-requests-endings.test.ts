import { describe, expect, it } from 'vitest';
import type { FixedLimits } from '../../packages/gateway/src/core/fixed-limits.ts';
import { startAsking } from '../fixtures/asking-http.ts';
import { toldIn } from '../fixtures/asking-peer.ts';
import type { Gateway } from '../support/assay.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type JsonObject } from '../support/json.ts';
import { textOf } from '../support/legacy.ts';
import { META } from '../support/modern.ts';
import { openThings } from '../support/open-things.ts';
import { fixture, openEventLog, type EventLog } from '../support/paths.ts';
import {
  askedIn,
  CAN,
  codeOf,
  formOf,
  modernStep,
  openAskable,
  reply,
  responseOn,
  untilAsked,
} from '../support/questions.ts';
import { initializeOf } from '../support/legacy.ts';
import { spawnStdio } from '../support/stdio.ts';
import { modernHeaders, modernBody } from '../support/modern.ts';
import { startRequest } from '../support/http.ts';

endAfterEach();

const ROUNDS = { rounds: [[formOf('Who?')]] };
const ACCEPTED = { action: 'accept', content: { who: 'me' } };
const isolated = (eventLog: EventLog): JsonObject =>
  fixture('asking', [], { isolation: 'session', env: eventLog.env });

/** Runs in this process, so its servers are children of this process. */
interface Started extends Gateway {
  readonly pid: number;
}

async function started(
  servers: JsonObject,
  settings: JsonObject = {},
  limits: Partial<FixedLimits> = {},
): Promise<Started> {
  const gateway = await startGateway({ servers, settings: { settings }, limits });
  await gateway.settled();
  return { ...gateway, pid: process.pid };
}

const notedBy = (eventLog: EventLog, kind: string): Promise<unknown> =>
  until(`the server notes ${kind}`, () => (eventLog.read(kind).length > 0 ? true : undefined));

describe('a suspended call', () => {
  it('times out if its client never returns, and its server is notified', async () => {
    const eventLog = openEventLog();
    const assay = await started({ s: isolated(eventLog) }, { 'limits.questionMs': 2_000 });
    const before = await openThings(assay);
    askedIn(await modernStep(assay.url, { name: 's_ask', args: ROUNDS }));
    expect(await openThings(assay)).toMatchObject({ suspendedCalls: 1, privateLinks: 1 });
    await notedBy(eventLog, 'cancelled');
    await until('nothing is left of it', async () => {
      const now = await openThings(assay);
      return now.suspendedCalls === 0 && now.privateLinks === 0 && now.processes <= before.processes
        ? true
        : undefined;
    });
  });

  it('fails with the cause if its server exits in the meantime', async () => {
    const eventLog = openEventLog();
    const legacy = await startAsking('legacy');
    const assay = await started({ s: isolated(eventLog), h: { url: legacy.url } });
    const onLine = { name: 's_crash', args: ROUNDS };
    const overHttp = { name: 'h_ask', args: ROUNDS };
    const one = askedIn(await modernStep(assay.url, onLine));
    const other = askedIn(await modernStep(assay.url, overHttp));
    await legacy.close();
    await sleep(1_000);
    const ended = await modernStep(assay.url, { ...onLine, retry: { responses: {}, state: one.state } });
    expect(codeOf(ended)).toBe('SERVER_ENDED');
    expect(at(ended, 'error', 'message')).toContain('code 9');
    const cut = await modernStep(assay.url, { ...overHttp, retry: { responses: {}, state: other.state } });
    expect(codeOf(cut)).toBe('SERVER_ENDED');
    expect(await openThings(assay)).toMatchObject({ suspendedCalls: 0, inFlight: 0 });
  });

  it('ends when a newer one exceeds the limit', async () => {
    const legacy = await startAsking('legacy');
    endLater(() => legacy.close());
    const assay = await started({ h: { url: legacy.url } }, {}, { suspendedCalls: 1 });
    const step = { name: 'h_ask', args: ROUNDS };
    const first = askedIn(await modernStep(assay.url, step));
    const second = askedIn(await modernStep(assay.url, step));
    const responses = { '1': ACCEPTED };
    const gone = await modernStep(assay.url, { ...step, retry: { responses, state: first.state } });
    expect(at(gone, 'error', 'data', 'code')).toBe('CALL_EXPIRED');
    const done = await modernStep(assay.url, { ...step, retry: { responses, state: second.state } });
    expect(toldIn(textOf(done))).toEqual([{ result: ACCEPTED }]);
  });

  it('asks again if resumed without answers, and asks for the rest if resumed with some', async () => {
    const eventLog = openEventLog();
    const assay = await started({ s: isolated(eventLog) });
    const step = { name: 's_ask', args: { rounds: [[formOf('one'), formOf('two')]] } };
    const first = askedIn(await modernStep(assay.url, step));
    const keys = Object.keys(first.requests);
    expect(keys).toHaveLength(2);
    const again = askedIn(await modernStep(assay.url, { ...step, retry: { state: first.state } }));
    expect(again.requests).toEqual(first.requests);
    const half = { responses: { [keys[1] ?? '']: { two: 2 } }, state: again.state };
    const rest = askedIn(await modernStep(assay.url, { ...step, retry: half }));
    expect(rest.requests).toEqual({ [keys[0] ?? '']: formOf('one') });
    const last = { responses: { [keys[0] ?? '']: { one: 1 } }, state: rest.state };
    expect(toldIn(textOf(await modernStep(assay.url, { ...step, retry: last })))).toEqual([
      { result: { one: 1 } },
      { result: { two: 2 } },
    ]);
  });

  it('does not block other calls to its server', async () => {
    const legacy = await startAsking('legacy');
    endLater(() => legacy.close());
    const assay = await started({ h: { url: legacy.url } }, { 'limits.requestsPerServer': 2 });
    const step = { name: 'h_ask', args: ROUNDS };
    for (let time = 0; time < 6; time += 1) askedIn(await modernStep(assay.url, step));
    expect(textOf(await modernStep(assay.url, { name: 'h_pid', args: {} }))).toBe(String(process.pid));
  });
});

describe("a server's question", () => {
  it.for(['s', 'h'])('is withdrawn from a legacy client when server %s withdraws it', async (name) => {
    const legacy = await startAsking('legacy');
    endLater(() => legacy.close());
    const assay = await started({ s: isolated(openEventLog()), h: { url: legacy.url } });
    const session = await openAskable(assay.url);
    const { stream, question } = await untilAsked(session, `${name}_withdraw`, ROUNDS);
    const note = await stream.next(
      'a cancellation',
      (one) => at(one, 'method') === 'notifications/cancelled',
    );
    expect(at(note, 'params', 'requestId')).toBe(at(question, 'id'));
    expect(await reply(session, question, { result: ACCEPTED })).toBe(202);
    expect(textOf(await responseOn(stream))).toBe('withdrawn');
  });

  it('gets no answer if its server withdraws it before a modern client answers', async () => {
    const assay = await started({ s: isolated(openEventLog()) });
    const step = { name: 's_withdraw', args: ROUNDS };
    const { state } = askedIn(await modernStep(assay.url, step));
    await sleep(500);
    const done = await modernStep(assay.url, { ...step, retry: { responses: { '1': ACCEPTED }, state } });
    expect(textOf(done)).toBe('withdrawn');
  });

  it('times out with an error and is withdrawn if a legacy client does not answer', async () => {
    const legacy = await startAsking('legacy');
    endLater(() => legacy.close());
    const assay = await started(
      { s: isolated(openEventLog()), h: { url: legacy.url }, m: fixture('asking', ['--era=modern']) },
      { 'limits.questionMs': 500 },
    );
    const session = await openAskable(assay.url);
    for (const name of ['s', 'h', 'm']) {
      const { stream, question } = await untilAsked(session, `${name}_ask`, ROUNDS, name);
      const note = await stream.next(
        'a cancellation',
        (one) => at(one, 'method') === 'notifications/cancelled',
      );
      expect(at(note, 'params', 'requestId')).toBe(at(question, 'id'));
      const response = await responseOn(stream);
      const failed = name === 'm' ? response : toldIn(textOf(response))[0];
      expect(at(failed, 'error', 'message')).toContain('did not answer');
    }
  });

  it.for(['h', 'm'])('is withdrawn when a legacy client cancels its call to %s', async (name) => {
    const legacy = await startAsking('legacy');
    endLater(() => legacy.close());
    const assay = await started({ h: { url: legacy.url }, m: fixture('asking', ['--era=modern']) });
    const session = await openAskable(assay.url);
    const { stream, question } = await untilAsked(session, `${name}_ask`, ROUNDS, name);
    await session.notify('notifications/cancelled', { requestId: name });
    const note = await stream.next(
      'a cancellation',
      (one) => at(one, 'method') === 'notifications/cancelled',
    );
    expect(at(note, 'params', 'requestId')).toBe(at(question, 'id'));
    await stream.ended;
    expect(await reply(session, question, { result: ACCEPTED })).toBe(202);
    expect(legacy.countOf('notifications/cancelled')).toBe(name === 'h' ? 1 : 0);
  });

  it('can be answered by a legacy client that lost the stream it arrived on', async () => {
    const eventLog = openEventLog();
    const assay = await started({ s: isolated(eventLog) });
    const session = await openAskable(assay.url);
    const { stream, question } = await untilAsked(session, 's_ask', ROUNDS);
    stream.cut();
    await sleep(100);
    await reply(session, question, { result: ACCEPTED });
    await notedBy(eventLog, 'answered');
    expect(eventLog.read('answered')[0]?.detail).toBe(JSON.stringify([{ result: ACCEPTED }]));
  });

  it('is answered once: late, repeated or unrelated answers are dropped', async () => {
    const eventLog = openEventLog();
    const assay = await started({ s: isolated(eventLog) });
    const session = await openAskable(assay.url);
    const { stream, question } = await untilAsked(session, 's_ask', ROUNDS);
    for (const id of [0, -1, 1, 'q1', '65536', 1e15, null])
      expect(await reply(session, { id }, { result: { wrong: true } })).toBeLessThan(500);
    await reply(session, question, { result: ACCEPTED });
    await reply(session, question, { result: { wrong: true } });
    expect(toldIn(textOf(await responseOn(stream)))).toEqual([{ result: ACCEPTED }]);
    const responses = eventLog.read('message').filter(({ detail }) => detail.includes('"wrong"'));
    expect(responses).toEqual([]);
  });

  it('can be answered only by the session that was asked', async () => {
    const eventLog = openEventLog();
    const assay = await started({ s: isolated(eventLog) });
    const [session, other] = await Promise.all([openAskable(assay.url), openAskable(assay.url)]);
    const { stream, question } = await untilAsked(session, 's_ask', ROUNDS);
    await reply(other, question, { result: { wrong: true } });
    await reply(session, question, { result: ACCEPTED });
    expect(toldIn(textOf(await responseOn(stream)))).toEqual([{ result: ACCEPTED }]);
  });
});

describe('a modern client that disconnects', () => {
  it('cancels its running call, and its private link is closed', async () => {
    const eventLog = openEventLog();
    const assay = await started({ s: isolated(eventLog) });
    const params = { name: 's_wait', arguments: {} };
    const asked = startRequest(assay.url, {
      headers: modernHeaders('tools/call', params),
      body: modernBody('tools/call', { params, meta: { [`${META}clientCapabilities`]: CAN } }),
    });
    await notedBy(eventLog, 'waiting');
    asked.cut();
    await notedBy(eventLog, 'cancelled');
    await until('its process is gone', async () =>
      (await openThings(assay)).privateLinks === 0 ? true : undefined,
    );
  });
});

describe('assay stdio', () => {
  it('exits when its client disconnects during a request from a server', async () => {
    const pipe = spawnStdio({ servers: { s: fixture('asking'), m: fixture('asking', ['--era=modern']) } });
    pipe.write(`${initializeOf('2025-11-25', CAN, 'init')}\n`);
    await pipe.next('the answer to initialize', (one) => at(one, 'id') === 'init');
    for (const name of ['s', 'm']) {
      pipe.send({
        jsonrpc: '2.0',
        id: name,
        method: 'tools/call',
        params: { name: `${name}_ask`, arguments: ROUNDS },
      });
    }
    await until('both ask', () =>
      pipe.lines().filter((line) => line.includes('elicitation/create')).length === 2 ? true : undefined,
    );
    pipe.closeStdin();
    expect(await pipe.ended).toBe(0);
  });

  it.for(['legacy', 'modern'])(
    'exits when its client disconnects before its first message, with a %s server',
    async (era) => {
      const pipe = spawnStdio({ servers: { s: fixture('asking', [`--era=${era}`]) } });
      pipe.closeStdin();
      expect(await pipe.ended).toBe(0);
    },
  );

  it('still asks a client that repeats its handshake', async () => {
    const pipe = spawnStdio({ servers: { s: fixture('asking') } });
    for (const id of ['one', 'two']) {
      pipe.write(`${initializeOf('2025-11-25', CAN, id)}\n`);
      await pipe.next('the answer to initialize', (one) => at(one, 'id') === id);
    }
    for (const id of [1, 2])
      pipe.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 's_ask', arguments: ROUNDS } });
    for (const id of [1, 2]) {
      const isNew = (line: string): boolean => line.includes('elicitation/create');
      const question = await until('a question', () => pipe.lines().filter(isNew)[id - 1]);
      const asked = JSON.parse(question) as { readonly id: number };
      pipe.send({ jsonrpc: '2.0', id: asked.id, result: ACCEPTED });
    }
    for (const id of [1, 2])
      expect(toldIn(textOf(await pipe.next(`answer ${id}`, (one) => at(one, 'id') === id)))).toEqual([
        { result: ACCEPTED },
      ]);
  });
});
