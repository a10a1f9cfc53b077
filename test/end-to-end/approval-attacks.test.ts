// What must not turn an approval into an unapproved or a second call.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startAsking } from '../fixtures/asking-http.ts';
import { toldIn } from '../fixtures/asking-peer.ts';
import { adminClient, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type Json, type JsonObject, listAt, textAt } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { askedIn, formOf, modernStep, type Step } from '../support/questions.ts';
import { DATABASES } from '../support/stores.ts';
import { bearer, keepToken } from '../support/tokens.ts';

endAfterEach();

const WAITS = { approvals: 'gateway', 'limits.approvalWaitMs': 60_000 };
const ANSWERS_AT_ONCE = { ...WAITS, 'limits.approvalWaitMs': 0 };

interface Started {
  readonly assay: Gateway;
  readonly admin: AdminClient;
}

interface Wanted {
  readonly servers: JsonObject;
  readonly settings: JsonObject;
  readonly home: string;
  readonly databaseUrl?: string | undefined;
  readonly token: string;
}

async function start({ servers, settings, home, databaseUrl, token }: Wanted): Promise<Started> {
  const env = databaseUrl === undefined ? {} : { ASSAY_DATABASE_URL: databaseUrl };
  const assay = await startGateway({ servers, settings: { settings }, home, env });
  await assay.settled();
  return { assay, admin: adminClient(assay, token) };
}

async function wanted(servers: JsonObject, settings: JsonObject): Promise<Wanted> {
  const home = tempDir();
  return { servers, settings, home, token: await keepToken(home, 'boss', { scopes: ['admin'] }) };
}

function untilPending(admin: AdminClient, name: string): Promise<string> {
  return until(`a call of ${name} waits`, async () => {
    const found = listAt((await admin.get('/approvals?state=pending')).json(), 'approvals');
    const one = found.find((each) => at(each, 'namespacedName') === name);
    return one === undefined ? undefined : textAt(one, 'id');
  });
}

const approve = (admin: AdminClient, id: string): Promise<unknown> =>
  admin.post(`/approvals/${id}/approve`, {});
const codeIn = (answer: Json): Json | undefined => at(answer, 'result', '_meta', 'assay/refusal', 'code');

it.for(['/mcp/all', '/mcp/search'])(
  'a definition that changes while its call waits is not called with the earlier approval: %s',
  async (path) => {
    const { assay, admin } = await start(await wanted({ t: fixture('turncoat') }, WAITS));
    const session = await openSession(assay.url.replace('/mcp/all', path));
    const params = { name: 't_act', arguments: {} };
    const acting = session.ask(
      'tools/call',
      path === '/mcp/all' ? params : { name: 'call_tool', arguments: params },
    );
    const act = await untilPending(admin, 't.act');
    const all = await openSession(assay.url);
    const turning = all.ask('tools/call', { name: 't_turn', arguments: {} });
    await approve(admin, await untilPending(admin, 't.turn'));
    expect(textOf(await turning)).toBe('turned');
    await until('the new definition is listed', async () =>
      JSON.stringify(await all.ask('tools/list')).includes('IGNORE') ? true : undefined,
    );
    await approve(admin, act);
    expect(codeIn(await acting)).toBe('APPROVAL_REQUIRED');
  },
);

it.for([
  ['TOOL_DISABLED', (admin) => admin.ask('PATCH', '/tools/plain_counter', { body: { enabled: false } })],
  [
    'CALL_REFUSED',
    (admin) => admin.ask('PATCH', '/preferences', { body: { 'policy.unannotated': 'refuse' } }),
  ],
] as const satisfies readonly (readonly [string, (admin: AdminClient) => Promise<unknown>])[])(
  'whatever forbids the call when it is answered overrides the answer: %s',
  async ([code, forbid]) => {
    const { assay, admin } = await start(await wanted({ plain: fixture('plain') }, WAITS));
    const session = await openSession(assay.url);
    const called = session.ask('tools/call', { name: 'plain_counter', arguments: {} });
    const id = await untilPending(admin, 'plain.counter');
    await forbid(admin);
    await approve(admin, id);
    const answer = await called;
    expect(codeIn(answer) ?? at(answer, 'error', 'data', 'code')).toBe(code);
  },
);

it.for([
  ['/mcp/all', 'plain_counter'],
  ['/mcp/configuration', 'delete-toolset'],
] as const)('a call is not carried out once its token was revoked: %s', async ([path, name]) => {
  const given = await wanted({ plain: fixture('plain') }, { ...WAITS, 'policy.confirm': 'always' });
  const gone = await keepToken(given.home, 'gone', {});
  const { assay, admin } = await start(given);
  const step: Step = { name, args: { name: 'x' }, headers: bearer(gone), capabilities: {} };
  const called = modernStep(assay.url.replace('/mcp/all', path), step);
  called.catch(() => undefined);
  const id = await until('it waits', async () => {
    const [one] = listAt((await admin.get('/approvals?state=pending')).json(), 'approvals');
    return one === undefined ? undefined : textAt(one, 'id');
  });
  const tokens = listAt((await admin.get('/tokens')).json(), 'tokens');
  const token = tokens.find((one) => at(one, 'name') === 'gone') ?? null;
  expect((await admin.delete(`/tokens/${textAt(token, 'id')}`)).status).toBe(204);
  await approve(admin, id);
  // Its connection is cut once it is 2 s old.
  const answer = await called.catch(() => null);
  expect(answer === null ? 'TOKEN_REQUIRED' : at(answer, 'error', 'data', 'code')).toBe('TOKEN_REQUIRED');
  const other = (await openSession(assay.url)).ask('tools/call', { name: 'plain_counter', arguments: {} });
  await approve(admin, await untilPending(admin, 'plain.counter'));
  expect(textOf(await other)).toBe('1');
});

it.for(DATABASES)('any replica can accept the answer, and a restart loses none: %s', async ([, newPlace]) => {
  const { home, databaseUrl } = await newPlace();
  const token = await keepToken(home, 'boss', { scopes: ['admin'], databaseUrl });
  const given = { servers: { plain: fixture('plain') }, home, databaseUrl, token };
  const [one, other] = [
    await start({ ...given, settings: WAITS }),
    await start({ ...given, settings: ANSWERS_AT_ONCE }),
  ];
  const params = { name: 'plain_counter', arguments: {} };
  const called = (await openSession(one.assay.url)).ask('tools/call', params);
  await approve(other.admin, await untilPending(other.admin, 'plain.counter'));
  expect(textOf(await called)).toBe('1');
  const session = await openSession(other.assay.url);
  expect(codeIn(await session.ask('tools/call', params))).toBe('APPROVAL_REQUIRED');
  const id = await untilPending(one.admin, 'plain.counter');
  await other.assay.stop();
  await approve(one.admin, id);
  const again = await start({ ...given, settings: ANSWERS_AT_ONCE });
  const next = await openSession(again.assay.url);
  expect(textOf(await next.ask('tools/call', params))).toBe('1');
  expect(codeIn(await next.ask('tools/call', params))).toBe('APPROVAL_REQUIRED');
});

it('nothing is approved while the store is unavailable', async () => {
  const given = await wanted({ plain: fixture('plain') }, { ...WAITS, 'policy.approver': 'client' });
  const { assay } = await start(given);
  const step: Step = { name: 'plain_counter', args: {} };
  const { state } = askedIn(await modernStep(assay.url, step));
  for (const end of ['', '-wal', '-shm']) rmSync(join(given.home, `assay.db${end}`), { force: true });
  const retry = { state, responses: { approval: { action: 'accept', content: {} } } };
  const answer = await modernStep(assay.url, { ...step, retry });
  expect(at(answer, 'result')).toBeUndefined();
  expect(at(answer, 'error', 'data', 'code')).toMatch(/^STORE_/);
});

it('a session approval is not used while the store is unavailable, as it cannot be revoked', async () => {
  const settings = { ...WAITS, 'policy.alwaysConfirmDestructive': false };
  const given = await wanted({ plain: fixture('plain') }, settings);
  const { assay, admin } = await start(given);
  const session = await openSession(assay.url);
  const called = session.ask('tools/call', { name: 'plain_counter', arguments: {} });
  const id = await untilPending(admin, 'plain.counter');
  await admin.post(`/approvals/${id}/approve`, { scope: 'session' });
  expect([textOf(await called), await session.call('plain_counter')]).toEqual(['1', '2']);
  for (const end of ['', '-wal', '-shm']) rmSync(join(given.home, `assay.db${end}`), { force: true });
  expect((await admin.delete(`/approvals/${id}`)).status).toBe(503);
  const answer = await session.ask('tools/call', { name: 'plain_counter', arguments: {} });
  expect(at(answer, 'error', 'data', 'code')).toMatch(/^STORE_/);
});

describe('an approval for one reason', () => {
  const LENIENT = { ...WAITS, 'policy.alwaysConfirmDestructive': false };
  const strict = (admin: AdminClient): Promise<unknown> =>
    admin.ask('PATCH', '/preferences', { body: { 'policy.unannotated': 'ask' } });

  it('does not cover another: neither for the waiting call nor for its repetition', async () => {
    const { assay, admin } = await start(await wanted({ plain: fixture('plain') }, LENIENT));
    const session = await openSession(assay.url);
    const params = { name: 'plain_counter', arguments: {} };
    const called = session.ask('tools/call', params);
    const id = await untilPending(admin, 'plain.counter');
    await strict(admin);
    await approve(admin, id);
    expect(codeIn(await called)).toBe('APPROVAL_REQUIRED');
    const again = session.ask('tools/call', params);
    const other = await untilPending(admin, 'plain.counter');
    expect((await admin.get(`/approvals/${other}`)).json()).toMatchObject({
      reasons: [{ code: 'unannotated' }],
      scopes: ['once'],
    });
    await approve(admin, other);
    expect(textOf(await again)).toBe('1');
  });

  it('is requested again if by then a modern client answers it, or its server asks', async () => {
    const peer = await startAsking('modern');
    endLater(() => peer.close());
    const settings = { ...LENIENT, 'policy.approver': 'client' };
    const { assay, admin } = await start(await wanted({ s: { url: peer.url } }, settings));
    const step: Step = { name: 's_ask', args: { rounds: [[formOf('Who?')]] } };
    const accepted = (answer: Json): Step => {
      const { requests, state } = askedIn(answer);
      const content = { action: 'accept', content: {} };
      const responses = Object.fromEntries(Object.keys(requests).map((key) => [key, content]));
      return { ...step, retry: { responses, state } };
    };
    const first = accepted(await modernStep(assay.url, step));
    const asked = await modernStep(assay.url, first);
    const second = accepted(await modernStep(assay.url, step));
    await strict(admin);
    const question = await modernStep(assay.url, second);
    expect(Object.keys(askedIn(question).requests)).toEqual(['approval']);
    const before = peer.countOf('tools/call');
    const resumed = modernStep(assay.url, accepted(asked));
    const id = await untilPending(admin, 's.ask');
    expect(peer.countOf('tools/call')).toBe(before);
    await approve(admin, id);
    expect(at(await resumed, 'error')).toBeUndefined();
  });
});

it('a modern client that was sent to the inbox continues after an approval for its session', async () => {
  const settings = { ...WAITS, 'policy.alwaysConfirmDestructive': false };
  const { assay, admin } = await start(await wanted({ plain: fixture('plain') }, settings));
  const step: Step = { name: 'plain_counter', args: {} };
  for (const forbidsNothing of [false, true]) {
    const { state } = askedIn(
      await modernStep(assay.url, forbidsNothing ? { ...step, args: { a: 1 } } : step),
    );
    const id = await untilPending(admin, 'plain.counter');
    if (forbidsNothing) await admin.ask('PATCH', '/preferences', { body: { 'policy.confirm': 'never' } });
    else await admin.post(`/approvals/${id}/approve`, { scope: 'session' });
    const retry = { state, responses: { approval: { action: 'accept' } } };
    const again = forbidsNothing ? { ...step, args: { a: 1 }, retry } : { ...step, retry };
    expect(textOf(await modernStep(assay.url, again))).toMatch(/^\d$/);
    const granted = listAt((await admin.get('/approvals?state=approved')).json(), 'approvals');
    for (const one of granted) await admin.delete(`/approvals/${textAt(one, 'id')}`);
  }
});

describe('a server that asks for input after its call was approved', () => {
  const FORM = { rounds: [[formOf('Who?')]] };
  const ACCEPTED = { action: 'accept', content: { who: 'me' } };
  const answered = (step: Step, answer: Json): Step => {
    const { requests, state } = askedIn(answer);
    const responses = Object.fromEntries(Object.keys(requests).map((key) => [key, ACCEPTED]));
    return { ...step, retry: { responses, state } };
  };

  it.for(['modern', 'legacy'] as const)(
    'gets the answer without another approval, and once: %s',
    async (era) => {
      const peer = await startAsking(era);
      endLater(() => peer.close());
      const settings = { ...WAITS, 'policy.approver': 'client' };
      const { assay } = await start(await wanted({ s: { url: peer.url } }, settings));
      const step: Step = { name: 's_ask', args: FORM };
      const approval = askedIn(await modernStep(assay.url, step));
      expect(Object.keys(approval.requests)).toEqual(['approval']);
      const approved: Step = {
        ...step,
        retry: { state: approval.state, responses: { approval: { action: 'accept', content: {} } } },
      };
      const asked = await modernStep(assay.url, approved);
      expect(Object.keys(askedIn(asked).requests)).not.toContain('approval');
      const last = answered(step, asked);
      expect(toldIn(textOf(await modernStep(assay.url, last)))).toEqual([{ result: ACCEPTED }]);
      const before = peer.countOf('tools/call');
      expect(at(await modernStep(assay.url, last), 'error', 'data', 'code')).toMatch(
        /^(STATE_INVALID|CALL_EXPIRED)$/,
      );
      expect(at(await modernStep(assay.url, approved), 'error', 'data', 'code')).toBe('STATE_INVALID');
      expect(peer.countOf('tools/call')).toBe(before);
      // The server sees nothing of Assay's own question.
      expect(JSON.stringify(peer.seen)).not.toContain('"approval"');
    },
  );
});
