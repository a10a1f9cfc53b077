import { beforeAll, describe, expect, it } from 'vitest';
import { startAsking } from '../fixtures/asking-http.ts';
import { toldIn } from '../fixtures/asking-peer.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { startGateway } from '../support/gateway.ts';
import { legacyAskable as connectAskable } from '../support/askable.ts';
import { endLater } from '../support/endings.ts';
import { at, type Json, type JsonObject } from '../support/json.ts';
import { textOf } from '../support/legacy.ts';
import { fixture } from '../support/paths.ts';
import { askedIn, CAN, modernStep, openAskable, responseOn } from '../support/questions.ts';

endAfterEach();

/** Members, value types and strings that no schema defines and that must not be altered. */
const ODD: JsonObject = {
  method: 'elicitation/create',
  params: {
    message: 'line\nline "quoted" \\ \u2028 ünï 🎈',
    requestedSchema: {
      type: 'object',
      properties: { ['__proto__']: { type: 'string' } },
      'x-odd': [null, {}, [], 0],
    },
    _meta: { 'example.com/odd': { deep: [1, 2, { a: null }] } },
    elicitationId: 'id "1"',
    mode: 'url',
    url: 'https://example.com/?q=%22',
    constructor: false,
  },
};
const UNKNOWN: JsonObject = { method: 'example.com/odd', params: { a: [1.5, 'b'] } };
const ANSWER =
  '{ "action" : "accept",\n "content": {"big": 1.50, "__proto__": "p", "é": "\\u00e9\\n"},\r\n "more": null }';
const PARSED_ANSWER = { action: 'accept', content: { big: 1.5, é: 'é\n' }, more: null };
const LEGACY = ['ls', 'lh'] as const;
const MODERN = ['ms', 'mh'] as const;

let url: string;
beforeAll(async () => {
  const [legacy, modern] = await Promise.all([startAsking('legacy'), startAsking('modern')]);
  endLater(() => legacy.close());
  endLater(() => modern.close());
  const assay = await startGateway({
    servers: {
      ls: fixture('asking', [], { isolation: 'session' }),
      lh: { url: legacy.url },
      ms: fixture('asking', ['--era=modern']),
      mh: { url: modern.url },
    },
  });
  await assay.settled();
  ({ url } = assay);
});

describe('a question and its answer', () => {
  it.for([...LEGACY, ...MODERN])('are relayed as written, between %s and a legacy client', async (server) => {
    const session = await openAskable(url);
    const stream = await session.stream('tools/call', {
      name: `${server}_ask`,
      arguments: { rounds: [[ODD, UNKNOWN]] },
    });
    const asked: Json[] = [];
    for (const { method, params } of [ODD, UNKNOWN]) {
      const question = await stream.next(String(method), (one) => at(one, 'method') === method);
      expect(at(question, 'params')).toEqual(params);
      // Assay's own, which names the process that asked.
      expect(at(question, 'id')).toMatch(/^[\da-f]{12}-\d+$/);
      asked.push(question);
    }
    const id = (question: Json | undefined): string => JSON.stringify(at(question, 'id'));
    await session.post(`{"jsonrpc":"2.0","result":${ANSWER},"id":${id(asked[0])}}`);
    await session.post(`{"jsonrpc":"2.0","id":${id(asked[1])},"result":[]}`);
    const [first, other] = toldIn(textOf(await responseOn(stream)));
    expect(JSON.stringify(first)).toContain('"__proto__":"p"');
    expect(at(first, 'result')).toMatchObject(PARSED_ANSWER);
    expect(other).toEqual({ result: [] });
  });

  it.for(LEGACY)('are relayed as written, even an error, between %s and a legacy client', async (server) => {
    const session = await openAskable(url);
    const params = { name: `${server}_ask`, arguments: { rounds: [[ODD]] } };
    const stream = await session.stream('tools/call', params);
    const question = await stream.next('a question', (one) => at(one, 'method') === ODD['method']);
    const error = { code: -32042, message: 'no "way"\n', data: { a: [null] }, more: 1 };
    await session.post(JSON.stringify({ jsonrpc: '2.0', id: at(question, 'id') ?? null, error }));
    expect(toldIn(textOf(await responseOn(stream)))).toEqual([{ error }]);
  });

  it.for([...LEGACY, ...MODERN])('are relayed as written, between %s and a modern client', async (server) => {
    const step = { name: `${server}_ask`, args: { rounds: [[ODD]] }, capabilities: { ...CAN, odd: {} } };
    const { requests, state } = askedIn(await modernStep(url, step));
    const [[key, question] = ['', null]] = Object.entries(requests);
    expect(question).toEqual(ODD);
    const responses = { [key]: JSON.parse(ANSWER) as Json };
    const answers = toldIn(textOf(await modernStep(url, { ...step, retry: { responses, state } })));
    expect(answers).toHaveLength(1);
    expect(JSON.stringify(answers)).toContain('"__proto__":"p"');
    expect(at(answers[0], 'result')).toMatchObject(PARSED_ANSWER);
  });

  it.for(MODERN)('may be of a kind unknown to Assay, between %s and a modern client', async (server) => {
    const step = { name: `${server}_ask`, args: { rounds: [[{ kind: 'new', of: [1] }]] } };
    const { requests, state } = askedIn(await modernStep(url, step));
    expect(requests).toEqual({ 'k"0': { kind: 'new', of: [1] } });
    expect(state).not.toContain('round');
    const retry = { responses: { 'k"0': [1] }, state };
    expect(toldIn(textOf(await modernStep(url, { ...step, retry })))).toEqual([{ result: [1] }]);
  });

  it('reach a stdio server on one line, even if the client uses line breaks', async () => {
    const session = await openAskable(url);
    const params = { name: 'ls_ask', arguments: { rounds: [[ODD]] } };
    const stream = await session.stream('tools/call', params);
    const question = await stream.next('a question', (one) => at(one, 'method') === ODD['method']);
    await session.post(
      `{\n"jsonrpc":"2.0",\r\n"id":${JSON.stringify(at(question, 'id'))},\n"result":\n{\n}\n}`,
    );
    expect(toldIn(textOf(await responseOn(stream)))).toEqual([{ result: {} }]);
  });
});

describe('a modern server', () => {
  it.for(MODERN)('%s may use a state of 100 kB or 5 MB', async (server) => {
    for (const stateBytes of [100_000, 5_000_000]) {
      const step = { name: `${server}_ask`, args: { rounds: [[ODD], [ODD]], stateBytes } };
      const first = askedIn(await modernStep(url, step));
      const retry = { responses: { 'k"0': {} }, state: first.state };
      const second = askedIn(await modernStep(url, { ...step, retry }));
      const done = await modernStep(url, { ...step, retry: { ...retry, state: second.state } });
      expect(toldIn(textOf(done))).toEqual([{ result: {} }, { result: {} }]);
      const session = await openAskable(url, { capabilities: {} });
      const none = { name: `${server}_ask`, arguments: { rounds: [[], [], []], stateBytes } };
      expect(toldIn(textOf(await session.ask('tools/call', none)))).toEqual([]);
    }
  });

  it.for(MODERN)('%s may ask nothing and return only a state', async (server) => {
    const step = { name: `${server}_ask`, args: { rounds: [[], []] } };
    const first = await modernStep(url, step);
    expect(at(first, 'result', 'inputRequests')).toBeUndefined();
    const second = askedIn(await modernStep(url, { ...step, retry: { state: askedIn(first).state } }));
    expect(toldIn(textOf(await modernStep(url, { ...step, retry: { state: second.state } })))).toEqual([]);
  });

  it.for(MODERN)('%s is stopped after ten rounds if it keeps asking', async (server) => {
    const client = await connectAskable({ url });
    const rounds = Array.from({ length: 12 }, () => [{ method: 'roots/list' }]);
    await expect(client.call(`${server}_ask`, { rounds })).rejects.toThrow('asks again after each of');
    expect(client.asked).toHaveLength(10);
  });
});

describe.for([...LEGACY, ...MODERN])('the server %s', (server) => {
  const rounds = JSON.stringify([[ODD]]);
  it('can ask during a prompt request', async () => {
    const step = { method: 'prompts/get', name: `${server}_ask`, args: { rounds } };
    const { requests, state } = askedIn(await modernStep(url, step));
    const [key = ''] = Object.keys(requests);
    const done = await modernStep(url, { ...step, retry: { responses: { [key]: { a: 1 } }, state } });
    expect(at(done, 'result', 'description')).toBe('[{"result":{"a":1}}]');
  });

  it('can ask during a resource request', async () => {
    const own = url.replace('/mcp/all', `/mcp/servers/${server}`);
    const step = { method: 'resources/read', name: `asking://a?${encodeURIComponent(rounds)}`, args: {} };
    const { requests, state } = askedIn(await modernStep(own, step));
    const [key = ''] = Object.keys(requests);
    const done = await modernStep(own, { ...step, retry: { responses: { [key]: { a: 1 } }, state } });
    expect(at(done, 'result', 'contents', 0, 'text')).toBe('[{"result":{"a":1}}]');
  });
});
