import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { startAssay } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { until } from '../support/endings.ts';
import { at, listAt, namesAt, textAt, type Json } from '../support/json.ts';
import { tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

let assay: Gateway;
let admin: AdminClient;
let executor: AdminClient;
let adminToken: string;
beforeAll(async () => {
  const home = tempDir();
  adminToken = await keepToken(home, 'boss', { scopes: ['admin'] });
  const executorToken = await keepToken(home, 'executor', { scopes: ['admin', 'execute'] });
  assay = await startGateway({ servers: {}, home });
  admin = adminClient(assay, adminToken);
  executor = adminClient(assay, executorToken);
});

const make = async (input: object): Promise<Json> => {
  const made = await admin.post('/tokens', input);
  expect(verdictOf(made)).toBe('201');
  expect(made.headers['cache-control']).toBe('no-store');
  return made.json();
};
/** The store notifies the gate of a change a moment later. */
const comesTo = (token: string, verdict: string): Promise<true> =>
  until(`the token comes to ${verdict}`, async () =>
    verdictOf(await adminClient(assay, token).get('/tokens')) === verdict ? true : undefined,
  );

describe('a token', () => {
  it('is created, used, revoked, and listed without its secret', async () => {
    const made = await make({ name: 'ci', scopes: ['mcp', 'read'], expiresIn: '1h' });
    const { token: _, ...kept } = made as Record<string, Json>;
    expect(kept).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
      name: 'ci',
      scopes: ['read', 'mcp'],
      state: 'valid',
      createdAt: expect.any(String),
      expiresAt: expect.any(String),
      revokedAt: null,
    });
    const token = textAt(made, 'token');
    await comesTo(token, '200');
    const listed = await admin.get('/tokens');
    expect(listAt(listed.json(), 'tokens')).toContainEqual(kept);
    for (const secret of [token, adminToken].map((one) => one.slice(-43)))
      expect(listed.text).not.toContain(secret);
    expect(listed.text).not.toMatch(/[0-9a-f]{64}/);
    expect(verdictOf(await admin.delete(`/tokens/${textAt(made, 'id')}`))).toBe('204');
    await comesTo(token, '401 TOKEN_REQUIRED');
    expect(verdictOf(await admin.delete(`/tokens/${textAt(made, 'id')}`))).toBe('404 TOKEN_UNKNOWN');
    const revoked = listAt((await admin.get('/tokens')).json(), 'tokens').find(
      (one) => at(one, 'name') === 'ci',
    );
    expect(revoked).toMatchObject({ state: 'revoked', revokedAt: expect.any(String) });
  });

  it('cannot grant what its creator may not do', async () => {
    const input = { name: 'runner', scopes: ['execute'] };
    const refused = await admin.post('/tokens', input);
    expect([verdictOf(refused), refused.headers['www-authenticate']]).toEqual([
      '403 SCOPE_MISSING',
      'Bearer error="insufficient_scope", scope="execute"',
    ]);
    expect(namesAt((await admin.get('/tokens')).json(), 'tokens')).not.toContain('runner');
    expect(verdictOf(await executor.post('/tokens', input))).toBe('201');
  });

  it('is not revoked by its name, and its name is unique', async () => {
    await make({ name: 'named', scopes: ['mcp'] });
    for (const name of ['named', 'x', '../named', adminToken])
      expect(verdictOf(await admin.delete(`/tokens/${encodeURIComponent(name)}`))).toBe('404 TOKEN_UNKNOWN');
    expect(verdictOf(await admin.post('/tokens', { name: 'named' }))).toBe('409 TOKEN_EXISTS');
  });

  it.each<[string, object, string]>([
    ['a name that means somebody else', { name: 'operator' }, '/name'],
    ['no name', { name: '' }, '/name'],
    ['a name that looks like a token', { name: 'assay_x' }, '/name'],
    ['no scope', { name: 'a', scopes: [] }, '/scopes'],
    ['a time that is none', { name: 'a', expiresIn: 'soon' }, '/expiresIn'],
    ['a time that is over', { name: 'a', expires_at: '2020-01-01T00:00:00Z' }, '/expires_at'],
    ['two ends', { name: 'a', expiresIn: '1h', expiresAt: '2100-01-01T00:00:00Z' }, '/expiresAt'],
  ])('cannot be created with %s', async (_, input, pointer) => {
    const refused = await admin.post('/tokens', input);
    expect([verdictOf(refused), at(refused.json(), 'errors', 0, 'pointer')]).toEqual([
      '422 BODY_INVALID',
      pointer,
    ]);
  });

  it('may have a time as its expiry', async () => {
    const made = await make({ name: 'dated', expires_at: '2100-01-01T02:00:00+02:00' });
    expect(textAt(made, 'expiresAt')).toBe('2100-01-01T00:00:00.000Z');
    expect(at(made, 'scopes')).toEqual(['mcp']);
  });
});

describe('when the system clock is set back', () => {
  it('an expired token is shown as expired, and a new one is valid for its full lifetime', async () => {
    const home = tempDir();
    const boss = await keepToken(home, 'boss', { scopes: ['admin'] });
    const stepMs = join(home, 'step-ms');
    const clock = join(home, 'clock.mjs');
    writeFileSync(stepMs, '0');
    writeFileSync(
      clock,
      `import { readFileSync } from 'node:fs'; const now = Date.now; Date.now = () => now() + Number(readFileSync(${JSON.stringify(stepMs)}, 'utf8'));`,
    );
    const env = { NODE_OPTIONS: `--import=${pathToFileURL(clock).href}` };
    const client = adminClient(await startAssay({ servers: {}, home, env }), boss);
    const stateOf = async (name: string): Promise<Json | undefined> =>
      at(
        listAt((await client.get('/tokens')).json(), 'tokens').find((one) => at(one, 'name') === name),
        'state',
      );
    expect(verdictOf(await client.post('/tokens', { name: 'old', expiresIn: '1h' }))).toBe('201');
    expect(await stateOf('old')).toBe('valid');
    writeFileSync(stepMs, '7200000');
    expect(await stateOf('old')).toBe('expired');
    writeFileSync(stepMs, '0');
    expect(await stateOf('old')).toBe('expired');
    expect(verdictOf(await client.post('/tokens', { name: 'new', expiresIn: '1h' }))).toBe('201');
    expect(await stateOf('new')).toBe('valid');
  });
});
