// Preferences of a token affect its calls and no others.
import { beforeAll, expect, it } from 'vitest';
import { adminClient, type AdminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { bearer, keepToken, revokeToken } from '../support/tokens.ts';

const home = tempDir();
const config = writeConfig(
  { plain: fixture('plain') },
  { settings: { approvals: 'gateway', 'policy.unannotated': 'worst_case', 'limits.approvalWaitMs': 0 } },
);
const LENIENT = { 'policy.alwaysConfirmDestructive': false, 'policy.confirm': 'never' };

let assay: Gateway;
let admin: AdminClient;
const tokens: Record<string, string> = {};
const idOf = (name: string): string => tokens[name]?.split('_')[1] ?? '';

beforeAll(async () => {
  for (const name of ['boss', 'ci', 'other'])
    tokens[name] = await keepToken(home, name, { scopes: name === 'boss' ? ['admin'] : ['mcp'] });
  assay = await startGateway({ home, config });
  admin = adminClient(assay, tokens['boss'] ?? '');
  await assay.settled();
});

async function add(token: string | undefined): Promise<string> {
  const session = await openSession(assay.url, token === undefined ? {} : { headers: bearer(token) });
  return session.call('plain_add', { a: 1, b: 2 });
}

const change = (id: string, body: JsonObject): ReturnType<AdminClient['ask']> =>
  admin.ask('PATCH', `/tokens/${id}/preferences`, { body });

it('preferences of a token apply to its calls only, at once, and end with the token', async () => {
  for (const token of [tokens['ci'], tokens['other'], undefined])
    expect(await add(token)).toMatch(/needs approval/);
  const changed = await change(idOf('ci'), LENIENT);
  expect(verdictOf(changed)).toBe('200');
  expect(at(changed.json(), 'preferences')).toContainEqual({
    ...{ key: 'policy.confirm', value: 'never', origin: 'token' },
  });
  expect(await add(tokens['ci'])).toBe('3');
  expect(await add(tokens['other'])).toMatch(/needs approval/);
  const decided = async (token: string): Promise<unknown> =>
    at((await admin.get(`/tools/plain_add/decision?token=${token}`)).json(), 'decision');
  expect([await decided('ci'), await decided('other')]).toEqual(['allow', 'ask']);
  const [event] = at((await admin.get('/activity?limit=1')).json(), 'activity') as readonly JsonObject[];
  expect(event).toMatchObject({ action: 'token.preferences', target: { name: 'ci' }, after: LENIENT });

  await revokeToken(home, 'ci');
  expect(verdictOf(await change(idOf('ci'), LENIENT))).toBe('404 TOKEN_UNKNOWN');
  tokens['ci'] = await keepToken(home, 'ci');
  expect(await add(tokens['ci'])).toMatch(/needs approval/);
});

it('preferences can be set by name on the command line, also for callers without a token', async () => {
  const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
    runAssay(['token', 'preferences', ...args, '--home', home, '--config', config]);
  for (const [key, value] of Object.entries(LENIENT))
    expect((await run('local', key, String(value))).code).toBe(0);
  await expect.poll(() => add(undefined), { timeout: 10_000 }).toBe('3');
  expect((await run('other')).stdout).toMatch(/^policy\.confirm +first +default$/m);
  expect((await run('local', 'policy.confirm', 'default')).stdout).toMatch(
    /^policy\.confirm +first +default$/m,
  );
  expect((await run('local', 'policy.confirm', 'sometimes')).code).toBe(3);
  expect((await run('local', 'approvals', 'client')).code).toBe(2);
  expect((await run('nobody')).code).toBe(2);
});

it('the API refuses preferences fixed by the config file, invalid ones, and a name instead of a token id', async () => {
  expect(verdictOf(await change(idOf('other'), { 'policy.unannotated': 'ask' }))).toBe(
    '409 SETTING_OVERRIDDEN',
  );
  expect(verdictOf(await change('other', LENIENT))).toBe('404 TOKEN_UNKNOWN');
  expect(verdictOf(await change(idOf('other'), { approvals: 'client' }))).toBe('422 BODY_INVALID');
  expect(verdictOf(await change(idOf('other'), { 'policy.confirm': 'sometimes' }))).toBe('422 BODY_INVALID');
});
