import { beforeAll, describe, expect, it } from 'vitest';
import { startAsking, type AskingHttp } from '../fixtures/asking-http.ts';
import { toldIn } from '../fixtures/asking-peer.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at, type Json, type JsonObject } from '../support/json.ts';
import { messageOf, textOf } from '../support/legacy.ts';
import { modernBody, modernHeaders } from '../support/modern.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { askedIn, codeOf, formOf, modernStep, type Step } from '../support/questions.ts';
import { DATABASES } from '../support/stores.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const ROUNDS = { rounds: [[formOf('Who?')]] };
const ACCEPTED = { action: 'accept', content: { who: 'me' } };
const ANSWERS = [{ result: ACCEPTED }];

interface Both {
  readonly legacy: AskingHttp;
  readonly modern: AskingHttp;
  readonly servers: JsonObject;
}

async function startBoth(): Promise<Both> {
  const [legacy, modern] = await Promise.all([startAsking('legacy'), startAsking('modern')]);
  endLater(() => legacy.close());
  endLater(() => modern.close());
  return { legacy, modern, servers: { l: { url: legacy.url }, m: { url: modern.url } } };
}

const begin = async (
  url: string,
  step: Step,
): Promise<{ readonly responses: JsonObject; readonly state: string }> => {
  const { requests, state } = askedIn(await modernStep(url, step));
  return { responses: Object.fromEntries(Object.keys(requests).map((key) => [key, ACCEPTED])), state };
};

describe.for(DATABASES)('two replicas on one %s', ([, newPlace]) => {
  let one: Gateway;
  let other: Gateway;
  beforeAll(async () => {
    const { home, databaseUrl } = await newPlace();
    const { servers } = await startBoth();
    const env = databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: databaseUrl };
    // Started concurrently, as an operator might do it.
    [one, other] = await Promise.all([
      startGateway({ servers, home, env }),
      startGateway({ servers, home: databaseUrl === undefined ? home : tempDir(), env }),
    ]);
    await Promise.all([one.settled(), other.settled()]);
  });

  it("accept each other's state for a modern server", async () => {
    const step = { name: 'm_ask', args: ROUNDS };
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      const retry = await begin(from.url, step);
      expect(toldIn(textOf(await modernStep(to.url, { ...step, retry })))).toEqual(ANSWERS);
    }
  });

  it('refuse to resume a call suspended on the other one, which can still resume it', async () => {
    const step = { name: 'l_ask', args: ROUNDS };
    const retry = await begin(one.url, step);
    expect(codeOf(await modernStep(other.url, { ...step, retry }))).toBe('CALL_ELSEWHERE');
    expect(toldIn(textOf(await modernStep(one.url, { ...step, retry })))).toEqual(ANSWERS);
  });
});

describe.for(['m', 'l'] as const)('the request state for a question from %s', (name) => {
  let assay: Gateway;
  let both: Both;
  beforeAll(async () => {
    both = await startBoth();
    const { servers } = both;
    const twin = (servers as Readonly<Record<string, Json>>)[name] ?? null;
    assay = await startGateway({ servers: { ...servers, twin } });
    await assay.settled();
  });
  const step: Step = { name: `${name}_ask`, args: ROUNDS };
  const calls = (): number => both.legacy.countOf('tools/call') + both.modern.countOf('tools/call');

  /** Expects Assay to refuse the request without calling a server. */
  async function expectRefusal(attempt: Step, url = assay.url): Promise<void> {
    const before = calls();
    expect(codeOf(await modernStep(url, attempt))).toBe('STATE_INVALID');
    expect(calls()).toBe(before);
  }

  it('is rejected if altered in any way', async () => {
    const { state, responses } = await begin(assay.url, step);
    const at = [
      0,
      5,
      state.indexOf('.'),
      state.indexOf('.') + 1,
      Math.floor(state.length / 2),
      state.length - 3,
    ];
    for (const index of at) {
      const other = state[index] === 'A' ? 'B' : 'A';
      const wrong = state.slice(0, index) + other + state.slice(index + 1);
      await expectRefusal({ ...step, retry: { responses, state: wrong } });
    }
    for (const wrong of [
      '',
      '.',
      'parked',
      '{"round":0}',
      state.slice(0, -8),
      `${state}AAAA`,
      state.slice(1),
    ])
      await expectRefusal({ ...step, retry: { responses, state: wrong } });
    expect(toldIn(textOf(await modernStep(assay.url, { ...step, retry: { responses, state } })))).toEqual(
      ANSWERS,
    );
  });

  it('is rejected for other arguments, another tool, server, endpoint or method', async () => {
    const retry = await begin(assay.url, step);
    const rounds = [[formOf('Who else?')]];
    await expectRefusal({ ...step, retry, args: { rounds } });
    await expectRefusal({ ...step, retry, args: {} });
    await expectRefusal({ ...step, retry, name: `${name}_told` });
    await expectRefusal({ ...step, retry, name: 'twin_ask' });
    await expectRefusal({ ...step, retry, method: 'prompts/get' });
    await expectRefusal(
      { ...step, retry, name: 'ask' },
      assay.url.replace('/mcp/all', `/mcp/servers/${name}`),
    );
    expect(toldIn(textOf(await modernStep(assay.url, { ...step, retry })))).toEqual(ANSWERS);
  });

  it('is accepted for equal arguments in a different key order', async () => {
    const args = { rounds: [[formOf('Who?')]], a: 1, b: { c: [1], d: 'é' } };
    const retry = await begin(assay.url, { ...step, args });
    const same = { b: { d: 'é', c: [1] }, a: 1, rounds: args.rounds };
    expect(toldIn(textOf(await modernStep(assay.url, { ...step, args: same, retry })))).toEqual(ANSWERS);
  });

  it('is rejected if it is duplicated or not a string', async () => {
    const { state, responses } = await begin(assay.url, step);
    const params = { name: step.name, arguments: step.args, inputResponses: responses, requestState: state };
    const raw = async (body: string): Promise<Json> =>
      messageOf(await send(assay.url, { headers: modernHeaders('tools/call', params), body }));
    const body = modernBody('tools/call', { params });
    const before = calls();
    for (const key of ['requestState', '\\u0072equestState']) {
      const twice = body.replace('"params":{', `"params":{"${key}":"{}",`);
      expect(at(await raw(twice), 'error', 'code')).toEqual(expect.any(Number));
    }
    for (const wrong of ['1', 'null', '{}', '["a"]', 'true'])
      expect(codeOf(await raw(body.replace(JSON.stringify(state), wrong)))).toBe('PARAMS_INVALID');
    for (const wrong of ['1', 'null', '[]', '"a"'])
      expect(codeOf(await raw(body.replace(JSON.stringify(responses), wrong)))).toBe('PARAMS_INVALID');
    expect(calls()).toBe(before);
  });
});

describe('a suspended call', () => {
  it('can be resumed only once', async () => {
    const { servers, legacy } = await startBoth();
    const assay = await startGateway({ servers });
    await assay.settled();
    const step = { name: 'l_ask', args: ROUNDS };
    const retry = await begin(assay.url, step);
    const before = legacy.seen.length;
    const [one, other] = await Promise.all([
      modernStep(assay.url, { ...step, retry }),
      modernStep(assay.url, { ...step, retry }),
    ]);
    expect([codeOf(one), codeOf(other)].sort()).toEqual(['CALL_EXPIRED', undefined]);
    expect(codeOf(await modernStep(assay.url, { ...step, retry }))).toBe('CALL_EXPIRED');
    // The server received exactly one answer.
    expect(legacy.seen.length).toBe(before + 1);
  });

  it('cannot be resumed after its time limit', async () => {
    const { servers, legacy } = await startBoth();
    const assay = await startGateway({ servers, settings: { settings: { 'limits.questionMs': 500 } } });
    await assay.settled();
    const step = { name: 'l_ask', args: ROUNDS };
    const retry = await begin(assay.url, step);
    await sleep(1_000);
    expect(codeOf(await modernStep(assay.url, { ...step, retry }))).toBe('STATE_INVALID');
    expect(legacy.countOf('notifications/cancelled')).toBe(1);
  });
});

describe('a subject', () => {
  it.for(['m_ask', 'l_ask', 's_ask'])(
    'cannot resume a call to %s that another subject began',
    async (name) => {
      const { servers, legacy, modern } = await startBoth();
      const home = tempDir();
      const s = fixture('asking', [], { isolation: 'session' });
      const env = { ASSAY_MCP_ACCESS: 'token' };
      const assay = await startGateway({ servers: { ...servers, s }, home, env });
      const [mine, theirs] = [await keepToken(home, 'mine'), await keepToken(home, 'theirs')];
      await sleep(1_000);
      const step: Step = { name, args: ROUNDS, headers: bearer(mine) };
      const retry = await begin(assay.url, step);
      const before = legacy.seen.length + modern.seen.length;
      const other = await modernStep(assay.url, { ...step, retry, headers: bearer(theirs) });
      expect(codeOf(other)).toBe('STATE_INVALID');
      expect(legacy.seen.length + modern.seen.length).toBe(before);
      expect(toldIn(textOf(await modernStep(assay.url, { ...step, retry })))).toEqual(ANSWERS);
    },
  );
});
