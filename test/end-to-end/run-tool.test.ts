// POST /tools/{id}/run: an operator calls a tool, and who may approve that call.
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { openStream, type Headers, type Stream } from '../support/http.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const home = tempDir();
let assay: Gateway;
let origin: string;
let token: string;
let boss: AdminClient;
let other: AdminClient;
beforeAll(async () => {
  token = await keepToken(home, 'boss', { scopes: ['admin'] });
  const second = await keepToken(home, 'second', { scopes: ['admin'] });
  assay = await startGateway({
    servers: { plain: fixture('plain'), slow: fixture('cancellable') },
    home,
  });
  await assay.settled();
  origin = `http://127.0.0.1:${assay.port}`;
  boss = adminClient(assay, token);
  other = adminClient(assay, second);
});

function run(tool: string, args: object, headers: Headers = bearer(token)): Promise<Stream> {
  const body = JSON.stringify({ arguments: args });
  return openStream(`${origin}/tools/${tool}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

const resultIn = (stream: Stream): Promise<Json> =>
  stream.next('the end', (one) => at(one, 'content') !== undefined || at(one, 'detail') !== undefined);
const waitingIn = async (stream: Stream): Promise<string> =>
  textAt(await stream.next('it waits', (one) => at(one, 'state') === 'pending'), 'id');

/** The headers of a page signed in with the token `boss`. */
async function signedIn(): Promise<Headers> {
  const answer = await adminClient(assay).post('/admin/sign-in', { token }, { origin });
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  return { origin, 'sec-fetch-site': 'same-origin', cookie: cookie.split(';')[0] ?? '' };
}

it('a run returns the result, and is recorded under the name of its token', async () => {
  const stream = await run('plain.echo', { text: 'hello' });
  expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
  expect(await resultIn(stream)).toEqual({ content: [{ type: 'text', text: '{"text":"hello"}' }] });
  await stream.ended;
  const calls = await until('it is recorded', async () => {
    const found = listAt((await boss.get('/activity/calls?tool=plain.echo')).json(), 'calls');
    return found.length > 0 ? found : undefined;
  });
  expect(calls).toMatchObject([
    { subject: 'boss', client: { name: 'assay-run' }, endpoint: 'all', outcome: 'ok' },
  ]);
});

it('a run relays progress, errors from the server, and refusals', async () => {
  const steps = await run('slow.steps', { steps: 2, intervalMs: 1, who: 'me' });
  await resultIn(steps);
  expect(steps.messages().slice(0, 2)).toEqual([
    { progress: 1, total: 2, message: '"me" 1' },
    { progress: 2, total: 2, message: '"me" 2' },
  ]);
  const failing = await run('plain.refuses', {});
  expect(await failing.next('the error', (one) => at(one, 'code') === -32042)).toEqual({
    code: -32042,
    message: 'custom failure',
    data: { detail: 1 },
  });
  await boss.ask('PATCH', '/tools/plain_counter', { body: { enabled: false } });
  const refused = await run('plain.counter', {});
  expect(await resultIn(refused)).toMatchObject({ code: 'TOOL_DISABLED', title: 'Tool disabled' });
});

it('a run requires the scope admin and valid input, and accepts a cookie only from the pages', async () => {
  const reader = adminClient(assay, await keepToken(home, 'reader', { scopes: ['read', 'mcp', 'execute'] }));
  expect([
    verdictOf(await reader.post('/tools/plain.echo/run', {})),
    verdictOf(await boss.post('/tools/plain.nothing/run', {})),
    verdictOf(await boss.post('/tools/plain.echo/run', { arguments: [] })),
    verdictOf(
      await adminClient(assay).post(
        '/tools/plain.echo/run',
        {},
        { ...(await signedIn()), origin: 'http://127.0.0.1:1' },
      ),
    ),
  ]).toEqual([
    '403 SCOPE_MISSING',
    '404 TOOL_UNKNOWN',
    '422 BODY_INVALID',
    expect.stringMatching(/^403 /) as string,
  ]);
});

it('a run is cancelled at the server when its client disconnects or its token is revoked', async () => {
  const seen = async (): Promise<Json> => {
    const result = await resultIn(await run('slow.seen', {}));
    return JSON.parse(textAt(listAt(result, 'content')[0] ?? null, 'text')) as Json;
  };
  const untilCancelled = (count: number): Promise<Json> =>
    until('the server has heard it', async () => {
      const now = await seen();
      return listAt(now, 'cancelled').length === count ? now : undefined;
    });
  const stream = await run('slow.endless', {});
  await stream.next('progress', (one) => at(one, 'progress') !== undefined);
  stream.cut();
  expect(await untilCancelled(1)).toMatchObject({ waiting: 0 });
  const shortLived = await keepToken(home, 'short', { scopes: ['admin'] });
  const revoked = await run('slow.endless', {}, bearer(shortLived));
  await revoked.next('progress', (one) => at(one, 'progress') !== undefined);
  await boss.delete(`/tokens/${shortLived.split('_')[1] ?? ''}`);
  expect(await untilCancelled(2)).toMatchObject({ waiting: 0 });
});

describe('the approval of a run on the pages', () => {
  it('is required even if clients ask for approvals, and refused from other sessions of the same token', async () => {
    const [page, otherPage] = [await signedIn(), await signedIn()];
    const stream = await run('plain.echo', { text: 'asked' }, page);
    const path = `/approvals/${await waitingIn(stream)}/approve`;
    const anyone = adminClient(assay);
    expect(verdictOf(await anyone.post(path, {}, otherPage))).toBe('403 APPROVAL_OWN');
    expect(verdictOf(await boss.post(path, {}))).toBe('403 APPROVAL_OWN');
    expect(verdictOf(await anyone.post(path, {}, page))).toBe('200');
    expect(await resultIn(stream)).toMatchObject({ content: [{ text: '{"text":"asked"}' }] });
    // The next run of the same call needs another approval.
    const again = await run('plain.echo', { text: 'asked' }, page);
    expect(verdictOf(await anyone.post(`/approvals/${await waitingIn(again)}/deny`, {}, page))).toBe('200');
    expect(await resultIn(again)).toMatchObject({ code: 'APPROVAL_DENIED' });
    const third = await run('plain.echo', { text: 'asked' }, page);
    expect(verdictOf(await other.post(`/approvals/${await waitingIn(third)}/approve`, {}))).toBe('200');
    await resultIn(third);
  });

  it('is required because of what was read only if an operator chose so', async () => {
    const page = await signedIn();
    const prefer = async (body: JsonObject): Promise<void> =>
      expect(verdictOf(await boss.ask('PATCH', '/preferences', { body }))).toBe('200');
    await prefer({ 'policy.alwaysConfirmDestructive': false, 'policy.confirm': 'never' });
    await boss.ask('PATCH', '/tools/plain_echo', { body: { tags: ['private'] } });
    // What an echo returns was sent by its caller, so it is not untrusted.
    expect(await resultIn(await run('plain.label', {}, page))).toHaveProperty('content');
    for (const text of ['sets the other label', 'is not asked about'])
      expect(await resultIn(await run('plain.echo', { text }, page))).toHaveProperty('content');
    await prefer({ 'policy.outbound': 'ask' });
    const asked = await run('plain.echo', { text: 'asked' }, page);
    const path = `/approvals/${await waitingIn(asked)}`;
    expect((await boss.get(path)).json()).toMatchObject({
      scopes: ['once'],
      reasons: [{ code: 'session_labels' }],
    });
    await adminClient(assay).post(`${path}/approve`, {}, page);
    expect(await resultIn(asked)).toHaveProperty('content');
    const keys = ['policy.alwaysConfirmDestructive', 'policy.confirm', 'policy.outbound'];
    await prefer(Object.fromEntries(keys.map((key) => [key, null])));
    await boss.delete('/labels/boss');
  });

  it('does not apply to an MCP client with the same token, whose calls the page cannot approve or deny', async () => {
    const page = await signedIn();
    const edit = { confirm: 'first', annotations: { destructiveHint: false } };
    expect(verdictOf(await boss.ask('PATCH', '/tools/plain_label', { body: edit }))).toBe('200');
    const stream = await run('plain.label', {}, page);
    const id = await waitingIn(stream);
    const anyone = adminClient(assay);
    expect(verdictOf(await anyone.post(`/approvals/${id}/approve`, { scope: 'always' }, page))).toBe('200');
    await resultIn(stream);
    await boss.ask('PATCH', '/preferences', { body: { approvals: 'gateway' } });
    // Approved permanently on the pages, so this run does not ask.
    expect(await resultIn(await run('plain.label', {}, page))).toMatchObject({
      content: [{ text: 'plain' }],
    });
    const session = await openSession(assay.url, { headers: bearer(token) });
    const calling = session.ask('tools/call', { name: 'plain_label', arguments: {} });
    const asked = await until('the client waits', async () => {
      const [one] = listAt((await boss.get('/approvals?state=pending')).json(), 'approvals');
      return one === undefined ? undefined : textAt(one, 'id');
    });
    expect(verdictOf(await anyone.post(`/approvals/${asked}/approve`, {}, page))).toBe('403 APPROVAL_OWN');
    expect(verdictOf(await anyone.post(`/approvals/${asked}/deny`, {}, page))).toBe('403 APPROVAL_OWN');
    await other.post(`/approvals/${asked}/deny`, {});
    expect(at(await calling, 'result', 'isError')).toBe(true);
  });
});
