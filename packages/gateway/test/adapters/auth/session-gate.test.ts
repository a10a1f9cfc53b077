import { afterEach, expect, it } from 'vitest';
import { mintSession, mintToken } from '../../../src/adapters/auth/mint-token.ts';
import { SessionGate, type SessionGateOptions } from '../../../src/adapters/auth/session-gate.ts';
import { TokenGate } from '../../../src/adapters/auth/token-gate.ts';
import {
  EXECUTE_SESSION_MS,
  IDLE_MS,
  LINK_MS,
  LINK_SCOPES,
  SESSION_MS,
} from '../../../src/core/page-session.ts';
import type { Refusal } from '../../../src/core/refusal.ts';
import type { Scope } from '../../../src/core/subject.ts';
import { err, type Result } from '@assay-mcp/kit/result';
import type { Log } from '../../../src/gateway/ports/log.ts';
import type { Store } from '../../../src/gateway/ports/store.ts';
import { createSignInLink } from '../../../src/gateway/services/sign-in-links.ts';
import { createToken } from '../../../src/gateway/services/tokens.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import { readableAuditEvents, tryStore, valueOf } from '../../../../../test/support/store-values.ts';

const LOG: Log = { debug() {}, info() {}, warn() {}, error() {} };
const OPERATOR_TOKEN = 'a-token-of-16-chars';
const HERE = '10.0.0.1';
const endings: (() => unknown)[] = [];
let nowMs = 1_790_000_000_000;

afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

async function open(): Promise<{ readonly store: Store; readonly gate: Replica }> {
  const home = tempDir();
  const store = valueOf(await tryStore({ home, databaseUrl: undefined }));
  endings.push(() => store.close());
  return { store, gate: await replica(store) };
}

interface Replica extends SessionGate {
  readonly tokens: TokenGate;
}

/** Another process on the same store. */
async function replica(store: Store, more: Partial<SessionGateOptions> = {}): Promise<Replica> {
  const operatorToken = 'operatorToken' in more ? more.operatorToken : OPERATOR_TOKEN;
  const ownToken = mintToken();
  const tokens = await TokenGate.open({ store, operatorToken, ownToken, maxFailures: 20, log: LOG });
  const limits = { maxFailures: 20, isLocalOnly: true };
  const options = { store, tokens, operatorToken, nowMs: () => nowMs, log: LOG, ...limits };
  const gate = new SessionGate({ ...options, ...more });
  endings.push(() => {
    gate.close();
    tokens.close();
  });
  return Object.assign(gate, { tokens });
}

async function linkCode(store: Store, scopes?: readonly Scope[]): Promise<string> {
  const deps = { store, mint: mintSession, nowMs, by: 'local', scopes };
  const link = valueOf(await createSignInLink('http://127.0.0.1:4444', deps));
  return link.url.replace('http://127.0.0.1:4444/admin/sign-in#code=', '');
}

async function tokenOf(
  store: Store,
  name: string,
  scopes: readonly ('admin' | 'read' | 'mcp')[],
): Promise<string> {
  const input = { name, scopes, lifetimeMs: undefined };
  return valueOf(await createToken(input, { store, mint: mintToken, nowMs, by: 'local' })).token;
}

function codeOf(result: Result<unknown, Refusal>): string {
  return result.ok ? 'ok' : result.error.code;
}

it('a link signs in one browser, at whichever replica it arrives first, and never again', async () => {
  const { store, gate } = await open();
  const gates = [gate, await replica(store), await replica(store)];
  const code = await linkCode(store);
  const opened = await Promise.all(gates.map((one) => one.open({ code }, HERE)));
  expect(opened.map(codeOf).sort()).toEqual(['LINK_UNUSABLE', 'LINK_UNUSABLE', 'ok']);
  const { text, identity } = valueOf(opened.find(({ ok }) => ok)!);
  expect(identity).toEqual({ subject: 'operator', scopes: ['admin'], sessionId: text.slice(0, 12) });
  for (const one of gates) expect(valueOf(await one.admit(text))).toEqual(identity);
  expect(JSON.stringify(await store.sessions())).not.toContain(text.slice(13));
  const acts = (await readableAuditEvents(store, { limit: 9 })).map(
    ({ action, subject }) => `${subject} ${action}`,
  );
  expect(acts.sort()).toEqual(['local session.link', 'operator session.open']);
});

it('an expired link and a forged or misplaced secret do not sign in', async () => {
  const { store, gate } = await open();
  const code = await linkCode(store);
  const forged = `${code.slice(0, 12)}.${mintSession().text.slice(13)}`;
  const session = valueOf(await gate.open({ code: await linkCode(store) }, HERE)).text;
  for (const wrong of [forged, mintSession().text, session, '', 'x', `${code}0`])
    expect([wrong, codeOf(await gate.open({ code: wrong }, HERE))]).toEqual([wrong, 'LINK_UNUSABLE']);
  for (const wrong of [code, `${session.slice(0, 12)}.${mintSession().text.slice(13)}`, 'x', ''])
    expect([wrong, codeOf(await gate.admit(wrong))]).toEqual([wrong, 'TOKEN_REQUIRED']);
  nowMs += LINK_MS;
  expect(codeOf(await gate.open({ code }, HERE))).toBe('LINK_UNUSABLE');
});

it('guessed codes are refused unchecked after a while, for that address only', async () => {
  const { store } = await open();
  const gate = await replica(store, { maxFailures: 3 });
  for (let guess = 0; guess < 3; guess += 1) await gate.open({ code: mintSession().text }, HERE);
  expect(codeOf(await gate.open({ code: await linkCode(store) }, HERE))).toBe('TOO_MANY_FAILURES');
  expect(codeOf(await gate.open({ code: await linkCode(store) }, '10.0.0.2'))).toBe('ok');
});

it('a session ends when it is idle, and one week after the sign-in', async () => {
  const { store, gate } = await open();
  const idle = valueOf(await gate.open({ code: await linkCode(store) }, HERE)).text;
  const used = valueOf(await gate.open({ code: await linkCode(store) }, HERE)).text;
  const startMs = nowMs;
  for (; nowMs < startMs + SESSION_MS; nowMs += IDLE_MS - 1)
    expect(codeOf(await gate.admit(used))).toBe('ok');
  expect(codeOf(await gate.admit(idle))).toBe('TOKEN_REQUIRED');
  nowMs = startMs + SESSION_MS;
  expect(codeOf(await gate.admit(used))).toBe('TOKEN_REQUIRED');
  expect(codeOf(await (await replica(store)).admit(used))).toBe('TOKEN_REQUIRED');
});

it('a session with execute by a link ends an hour after the sign-in, however much it is used', async () => {
  const { store, gate } = await open();
  const code = await linkCode(store, LINK_SCOPES);
  const { text, identity } = valueOf(await gate.open({ code }, HERE));
  expect(identity).toEqual({ subject: 'operator', scopes: LINK_SCOPES, sessionId: text.slice(0, 12) });
  expect(codeOf(await gate.open({ code }, HERE))).toBe('LINK_UNUSABLE');
  nowMs += EXECUTE_SESSION_MS - 1;
  expect([codeOf(await gate.admit(text)), gate.isHolder(identity, 'execute')]).toEqual(['ok', true]);
  nowMs += 1;
  expect([codeOf(await gate.admit(text)), gate.isHolder(identity, undefined)]).toEqual([
    'TOKEN_REQUIRED',
    false,
  ]);
});

it('a link with execute, and its session, are refused where other machines reach the gateway', async () => {
  const { store, gate } = await open();
  const reached = await replica(store, { isLocalOnly: false });
  const code = await linkCode(store, LINK_SCOPES);
  expect(codeOf(await reached.open({ code }, HERE))).toBe('LINK_UNUSABLE');
  const { text, identity } = valueOf(await gate.open({ code }, HERE));
  expect([codeOf(await reached.admit(text)), reached.isHolder(identity, 'read')]).toEqual([
    'TOKEN_REQUIRED',
    false,
  ]);
  expect(await reached.list()).toEqual([]);
  expect(codeOf(await gate.admit(text))).toBe('ok');
});

it('a session has the name and scopes of its token, and ends with it', async () => {
  const { store, gate } = await open();
  const token = await tokenOf(store, 'anna', ['read']);
  const { text, identity } = valueOf(await gate.open({ token }, HERE));
  const { sessionId } = identity;
  const tokenId = token.split('_')[1];
  expect(identity).toEqual({ subject: 'anna', scopes: ['read'], sessionId, tokenId });
  expect([gate.isHolder(identity, 'read'), gate.isHolder(identity, 'admin')]).toEqual([true, false]);
  valueOf(await store.revokeToken('anna', nowMs));
  await gate.tokens.refresh();
  expect([gate.isHolder(identity, 'read'), codeOf(await gate.admit(text))]).toEqual([
    false,
    'TOKEN_REQUIRED',
  ]);
});

it('a session of ASSAY_TOKEN ends when the variable changes', async () => {
  const { store, gate } = await open();
  const { text, identity } = valueOf(await gate.open({ token: OPERATOR_TOKEN }, HERE));
  expect(identity).toMatchObject({ subject: 'operator', scopes: ['admin', 'execute', 'read', 'mcp'] });
  expect(codeOf(await (await replica(store)).admit(text))).toBe('ok');
  for (const operatorToken of ['another-token-of-16', undefined])
    expect(codeOf(await (await replica(store, { operatorToken })).admit(text))).toBe('TOKEN_REQUIRED');
});

it('only a valid token with read access can sign in', async () => {
  const { store, gate } = await open();
  expect(codeOf(await gate.open({ token: await tokenOf(store, 'client', ['mcp']) }, HERE))).toBe(
    'SCOPE_MISSING',
  );
  expect(codeOf(await gate.open({ token: mintToken().text }, HERE))).toBe('TOKEN_REQUIRED');
});

it('signing out ends this session, or all sessions of the same credential, at every replica', async () => {
  const { store, gate } = await open();
  const other = await replica(store);
  const token = await tokenOf(store, 'anna', ['admin']);
  const [one, two] = [await gate.open({ token }, HERE), await gate.open({ token }, HERE)].map(valueOf);
  const byLink = valueOf(await gate.open({ code: await linkCode(store) }, HERE));
  const states = async (): Promise<readonly string[]> =>
    Promise.all([one!, two!, byLink].map(async ({ text }) => codeOf(await gate.admit(text))));
  expect(codeOf(await other.admit(one!.text))).toBe('ok');
  valueOf(await gate.end(one!.identity, 'this'));
  expect(await states()).toEqual(['TOKEN_REQUIRED', 'ok', 'ok']);
  const unused = await linkCode(store);
  valueOf(await gate.end(two!.identity, 'all'));
  expect(await states()).toEqual(['TOKEN_REQUIRED', 'TOKEN_REQUIRED', 'ok']);
  await expect
    .poll(async () => codeOf(await other.admit(one!.text)), { timeout: 10_000 })
    .toBe('TOKEN_REQUIRED');
  const again = valueOf(await gate.open({ code: unused }, HERE));
  const leaked = await linkCode(store);
  valueOf(await gate.end(again.identity, 'all'));
  expect(codeOf(await gate.open({ code: leaked }, HERE))).toBe('LINK_UNUSABLE');
});

it('a browser can be signed out by its id, unless the store cannot tell whether it is signed in', async () => {
  const { store, gate } = await open();
  const token = await tokenOf(store, 'anna', ['admin']);
  const [own, other] = [await gate.open({ token }, HERE), await gate.open({ token }, HERE)].map(valueOf);
  const id = other!.identity.sessionId!;
  const down: Store = Object.assign(Object.create(store) as Store, {
    onChange: (listener: Parameters<Store['onChange']>[0]) => store.onChange(listener),
    sessions: () => Promise.resolve(err({ code: 'STORE_UNAVAILABLE', reason: 'the test says so' } as const)),
  });
  expect(codeOf(await (await replica(store, { store: down })).end(own!.identity, { id }))).toBe(
    'STORE_UNAVAILABLE',
  );
  expect(codeOf(await gate.admit(other!.text))).toBe('ok');
  valueOf(await (await replica(store)).end(own!.identity, { id }));
  await expect
    .poll(async () => codeOf(await gate.admit(other!.text)), { timeout: 10_000 })
    .toBe('TOKEN_REQUIRED');
  expect(codeOf(await gate.admit(own!.text))).toBe('ok');
});
