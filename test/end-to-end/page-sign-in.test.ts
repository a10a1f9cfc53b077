import { beforeAll, describe, expect, it } from 'vitest';
import { mintSession } from '../../packages/gateway/src/adapters/auth/mint-token.ts';
import { createSignInLink } from '../../packages/gateway/src/gateway/services/sign-in-links.ts';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { openStream, send, type Headers } from '../support/http.ts';
import { at, listAt, textAt, type Json } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { tryStore, valueOf } from '../support/store-values.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const home = tempDir();
let assay: Gateway;
/** Has no token: sends only the headers that a test passes, as a browser would. */
let browser: AdminClient;
let origin: string;
beforeAll(async () => {
  assay = await startGateway({ servers: {}, home, settings: { settings: { 'mcp.access': 'token' } } });
  browser = adminClient(assay);
  origin = `http://127.0.0.1:${assay.port}`;
});

async function newCode(): Promise<string> {
  const store = valueOf(await tryStore({ home, databaseUrl: undefined }));
  const given = { store, mint: mintSession, nowMs: Date.now(), by: 'local' };
  const { url } = valueOf(await createSignInLink(origin, given));
  await store.close();
  return url.slice(url.indexOf('#code=') + 6);
}

/** The headers of a page that has signed in. */
async function signedIn(proof: object): Promise<Headers & { readonly cookie: string }> {
  const answer = await browser.post('/admin/sign-in', proof, { origin });
  expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const [cookie = ''] = answer.headers['set-cookie'] ?? [];
  return { origin, 'sec-fetch-site': 'same-origin', cookie: cookie.split(';')[0] ?? '' };
}

it('a sign-in link works once, and its session may use the REST API until it is signed out', async () => {
  const code = await newCode();
  const first = await browser.post('/admin/sign-in', { code }, { origin });
  expect(first.json()).toEqual({ subject: 'operator', scopes: ['admin'] });
  expect(first.headers).toMatchObject({
    'cache-control': 'no-store',
    'set-cookie': [
      expect.stringMatching(/^assay_session_\d+=\S+; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/),
    ],
  });
  expect(verdictOf(await browser.post('/admin/sign-in', { code }, { origin }))).toBe('401 LINK_UNUSABLE');

  const page = await signedIn({ code: await newCode() });
  expect((await browser.get('/admin/session', page)).json()).toEqual({
    subject: 'operator',
    scopes: ['admin'],
  });
  const made = await browser.post('/tokens', { name: 'by-page', scopes: ['mcp'] }, page);
  expect(verdictOf(made)).toBe('201');
  const [event] = listAt((await browser.get('/activity', page)).json(), 'activity');
  expect(event).toMatchObject({ subject: 'operator', action: 'token.create' });

  const out = await browser.post('/admin/sign-out', {}, page);
  expect([out.status, out.headers['set-cookie']]).toEqual([204, [expect.stringContaining('Max-Age=0')]]);
  expect(verdictOf(await browser.get('/tokens', page))).toBe('401 TOKEN_REQUIRED');
  expect(assay.stderr()).not.toContain(code.slice(13));
});

it('a session cookie is refused from other origins, including other ports', async () => {
  const { cookie } = await signedIn({ code: await newCode() });
  const other = `http://127.0.0.1:${assay.port + 1}`;
  const write = (headers: Headers): Promise<unknown> =>
    browser.post('/tokens', { name: 'evil' }, { cookie, ...headers }).then(verdictOf);
  expect(await write({})).toBe('403 ORIGIN_FORBIDDEN');
  expect(await write({ origin: other })).toBe('403 ORIGIN_FORBIDDEN');
  expect(await write({ origin: 'https://evil.example' })).toBe('403 ORIGIN_FORBIDDEN');
  expect(await write({ origin, 'sec-fetch-site': 'same-site' })).toBe('403 ORIGIN_FORBIDDEN');
  const read = (headers: Headers): Promise<unknown> =>
    browser.get('/tokens', { cookie, ...headers }).then(verdictOf);
  expect(await read({ 'sec-fetch-site': 'same-site' })).toBe('401 TOKEN_REQUIRED');
  expect(await read({ origin: other })).toBe('401 TOKEN_REQUIRED');
  expect(verdictOf(await browser.get('/tokens', { cookie, host: 'evil.example' }))).toBe(
    '403 HOST_FORBIDDEN',
  );
  const login = (headers: Headers): Promise<unknown> =>
    browser.post('/admin/sign-in', { code: 'x' }, headers).then(verdictOf);
  expect(await login({ origin: other })).toBe('403 ORIGIN_FORBIDDEN');
  expect(await login({})).toBe('403 ORIGIN_FORBIDDEN');
  expect(verdictOf(await browser.get('/tokens', { cookie }))).toBe('200');
});

it('a session cookie does not give access to MCP endpoints or metrics', async () => {
  const page = await signedIn({ code: await newCode() });
  const list = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const accept = 'application/json, text/event-stream';
  for (const path of ['/mcp', '/mcp/all', '/mcp/configuration'])
    expect([path, (await browser.post(path, list, { ...page, accept })).status]).toEqual([path, 401]);
  expect((await browser.get('/metrics', page)).status).toBe(401);
});

it('a session has the scopes of its token, and revoking the token signs out the open page', async () => {
  const token = await keepToken(home, 'reader', { scopes: ['read'] });
  const page = await signedIn({ token });
  expect(verdictOf(await browser.get('/tokens', page))).toBe('200');
  expect(verdictOf(await browser.post('/tokens', { name: 'more' }, page))).toBe('403 SCOPE_MISSING');
  const events = await openStream(`${origin}/events`, { method: 'GET', headers: page });
  expect(events.status).toBe(200);
  const boss = await keepToken(home, 'boss', { scopes: ['admin'] });
  const gone = await send(`${origin}/tokens/${token.split('_')[1] ?? ''}`, {
    method: 'DELETE',
    headers: bearer(boss),
  });
  expect(gone.status).toBe(204);
  await events.ended;
  const refused = await browser.get('/tokens', page);
  expect([verdictOf(refused), textAt(refused.json(), 'detail')]).toEqual([
    '401 TOKEN_REQUIRED',
    expect.stringContaining('the session has ended'),
  ]);
});

it('signed-in browsers are listed, and each can be signed out', async () => {
  const boss = await signedIn({ token: await keepToken(home, 'chief', { scopes: ['admin'] }) });
  const other = await signedIn({ code: await newCode() });
  const sessions = async (): Promise<readonly Json[]> =>
    listAt((await browser.get('/sessions', boss)).json(), 'sessions');
  const isOurs = (one: Json): boolean =>
    ['chief', 'operator'].includes(textAt(one, 'subject')) && other.cookie.includes(textAt(one, 'id'));
  expect((await sessions()).find((one) => at(one, 'isCurrent') === true)).toEqual({
    id: expect.stringMatching(/^[0-9a-f]{12}$/),
    subject: 'chief',
    scopes: ['admin'],
    openedBy: 'token',
    createdAt: expect.any(String),
    usedAt: expect.any(String),
    isCurrent: true,
  });
  const found = (await sessions()).find(isOurs);
  expect(found).toMatchObject({ subject: 'operator', openedBy: 'link', isCurrent: false });
  const events = await openStream(`${origin}/events`, { method: 'GET', headers: other });
  const id = textAt(found ?? null, 'id');
  expect(verdictOf(await browser.delete(`/sessions/${id}`, boss))).toBe('204');
  await events.ended;
  expect(verdictOf(await browser.get('/tokens', other))).toBe('401 TOKEN_REQUIRED');
  expect((await sessions()).find(isOurs)).toBeUndefined();
  expect(verdictOf(await browser.get('/sessions', boss))).toBe('200');
  const [event] = listAt((await browser.get('/activity', boss)).json(), 'activity');
  expect(event).toMatchObject({
    subject: 'chief',
    action: 'session.close',
    target: { kind: 'session', id, name: 'operator' },
  });
  // Signing it out again changes nothing.
  expect(verdictOf(await browser.delete(`/sessions/${id}`, boss))).toBe('204');
});

describe('a sign-in link with the scope execute', () => {
  const link = (...more: readonly string[]) =>
    runAssay(['token', 'link', '--scopes', 'execute', '--home', home, ...more]);
  const codeIn = (text: string): string => text.slice(text.indexOf('#code=') + 6).trim();

  it('is created at the command line, and signs one browser in with execute, from the own page only', async () => {
    const made = await link();
    expect([made.code, made.stderr]).toEqual([0, expect.stringContaining('for an hour')]);
    const code = codeIn(made.stdout);
    for (const evil of ['https://evil.example', `http://127.0.0.1:${assay.port + 1}`])
      expect(verdictOf(await browser.post('/admin/sign-in', { code }, { origin: evil }))).toBe(
        '403 ORIGIN_FORBIDDEN',
      );
    const page = await signedIn({ code });
    expect((await browser.get('/admin/session', page)).json()).toEqual({
      subject: 'operator',
      scopes: ['admin', 'execute'],
    });
    expect(verdictOf(await browser.put('/secrets/TOKEN', { value: 'of-the-operator' }, page))).toBe('200');
    expect(verdictOf(await browser.post('/admin/sign-in', { code }, { origin }))).toBe('401 LINK_UNUSABLE');
    // It cannot prolong itself.
    const again = await browser.post('/sign-in-links', { scopes: ['execute'] }, page);
    expect([verdictOf(again), again.text]).toEqual([
      '422 BODY_INVALID',
      expect.stringContaining('command line of this machine only'),
    ]);
  });

  it('is not created over REST, not even with a token that has execute', async () => {
    const token = await keepToken(home, 'executor', { scopes: ['admin', 'execute'] });
    const refused = await browser.post('/sign-in-links', { scopes: ['execute'] }, bearer(token));
    expect(verdictOf(refused)).toBe('422 BODY_INVALID');
    expect(verdictOf(await browser.post('/sign-in-links', {}, bearer(token)))).toBe('201');
  });

  it.each([
    ['for another address', { more: ['--url', 'https://assay.example.com'] }, 'one at 127.0.0.1'],
    ['without a gateway', { home: tempDir() }, 'created by the running gateway'],
    ['on other interfaces', { host: '0.0.0.0' }, 'reached from other machines'],
    ['with a public URL', { publicUrl: 'https://assay.example.com' }, 'reached from other machines'],
  ])('is refused %s', async (_, { more = [], home: other = home, host, publicUrl }: Place, why) => {
    const far = host === undefined && publicUrl === undefined ? undefined : tempDir();
    if (far !== undefined) {
      await keepToken(far, 'boss', { scopes: ['admin'] });
      const settings = { settings: { 'auth.publicUrl': publicUrl ?? '' } };
      await startGateway({ servers: {}, home: far, settings, ...(host !== undefined && { host }) });
    }
    const refused = await runAssay(
      ['token', 'link', '--scopes', 'execute', '--home', far ?? other].concat(more),
    );
    expect([refused.code, refused.stdout]).toEqual([2, '']);
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(why);
  });
});

interface Place {
  readonly more?: string[];
  readonly home?: string;
  readonly host?: string;
  readonly publicUrl?: string;
}

it('only an admin can list and sign out browsers, and an unused sign-in link is not one of them', async () => {
  const reader = await signedIn({ token: await keepToken(home, 'viewer', { scopes: ['read'] }) });
  expect(verdictOf(await browser.get('/sessions', reader))).toBe('403 SCOPE_MISSING');
  expect(verdictOf(await browser.delete('/sessions/0123456789ab', reader))).toBe('403 SCOPE_MISSING');
  const code = await newCode();
  const link = code.slice(0, 12);
  const boss = await signedIn({ token: await keepToken(home, 'head', { scopes: ['admin'] }) });
  expect((await browser.get('/sessions', boss)).text).not.toContain(link);
  expect(verdictOf(await browser.delete(`/sessions/${link}`, boss))).toBe('204');
  await signedIn({ code });
});
