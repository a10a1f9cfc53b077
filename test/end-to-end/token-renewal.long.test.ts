import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { startAssay, serverIn, type Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { sleep, until } from '../support/endings.ts';
import { startIssuer, type Issuer } from '../support/issuer.ts';
import { at } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { tempDir, writeConfig, writeText } from '../support/paths.ts';
import { startProtected, type ProtectedServer } from '../support/protected-server.ts';
import { LOCAL_ISSUER, signIn } from '../support/sign-in.ts';
import { bearer, createToken } from '../support/tokens.ts';

interface SignedIn {
  readonly issuer: Issuer;
  readonly server: ProtectedServer;
  readonly config: string;
  readonly home: string;
}

/** Starts a server and an issuer, and signs in. */
async function signedIn(tokenSeconds?: number): Promise<SignedIn> {
  const issuer = await startIssuer(tokenSeconds === undefined ? {} : { tokenSeconds });
  const server = await startProtected({ issuer });
  const place = { config: writeConfig({ remote: { url: server.url } }, LOCAL_ISSUER), home: tempDir() };
  expect((await signIn('remote', place)).code).toBe(0);
  return { issuer, server, ...place };
}

/** A second gateway of a home needs a config file of its own. */
async function serving({
  config,
  home,
}: SignedIn): Promise<{ readonly assay: Gateway; readonly session: LegacySession }> {
  const assay = await startGateway({ config: writeText(readFileSync(config, 'utf8'), 'mcp.json'), home });
  expect(serverIn(await assay.settled(), 'remote')).toMatchObject({ state: 'up' });
  return { assay, session: await openSession(assay.url) };
}

function tokenOf({ authorizations }: ProtectedServer): string {
  return (authorizations.at(-1) ?? '').replace('Bearer ', '');
}

describe('an access token', () => {
  it('is renewed before its expiry, so that no call is refused', async () => {
    const place = await signedIn(10);
    const { session } = await serving(place);
    const first = tokenOf(place.server);
    const from = place.server.statuses.length;
    const endMs = Date.now() + 14_000;
    while (Date.now() < endMs) {
      expect(await session.call('remote_read')).toBe('done: read');
      await sleep(250);
    }
    expect(place.server.statuses.slice(from)).not.toContain(401);
    expect(tokenOf(place.server)).not.toBe(first);
    expect(place.issuer.countOf('granted refresh_token')).toBeGreaterThanOrEqual(1);
    expect(place.issuer.countOf('denied refresh_token')).toBe(0);
  });

  it('is renewed once when the server refuses it, and the call succeeds', async () => {
    const place = await signedIn();
    const { session } = await serving(place);
    await place.issuer.revoke(tokenOf(place.server), false);
    const before = place.server.statuses.length;
    expect(await session.call('remote_read')).toBe('done: read');
    expect(place.issuer.countOf('granted refresh_token')).toBe(1);
    const after = place.server.statuses.slice(before);
    expect([after.filter((status) => status === 401).length, after.at(-1)]).toEqual([1, 200]);
  });

  it('is renewed only once if many concurrent calls are refused', async () => {
    const place = await signedIn();
    const { session } = await serving(place);
    await place.issuer.revoke(tokenOf(place.server), false);
    const answers = await Promise.all(Array.from({ length: 20 }, () => session.call('remote_read')));
    expect(new Set(answers)).toEqual(new Set(['done: read']));
    expect(place.issuer.countOf('granted refresh_token')).toBe(1);
  });

  it('requires a new sign-in if it is revoked together with its refresh token', async () => {
    const place = await signedIn();
    const { assay, session } = await serving(place);
    await place.issuer.revoke(tokenOf(place.server), true);
    const answer = await session.ask('tools/call', { name: 'remote_read', arguments: {} });
    expect(at(answer, 'error', 'data')).toMatchObject({ code: 'AUTHORIZATION_NEEDED', server: 'remote' });
    expect(at(answer, 'error', 'message')).toContain('run `assay auth remote`');
    await until(
      () => `the server waits: ${assay.stderr()}`,
      async () =>
        at(serverIn(await assay.health(), 'remote'), 'state') === 'unauthorized' ? true : undefined,
    );
    expect((await signIn('remote', place)).code).toBe(0);
    await until('the server is up', async () =>
      at(serverIn(await assay.health(), 'remote'), 'state') === 'up' ? true : undefined,
    );
    expect(await session.call('remote_read')).toBe('done: read');
  });

  it('is renewed by one of several processes without invalidating the refresh token of the others', async () => {
    const place = await signedIn();
    const two = await Promise.all([serving(place), serving(place)]);
    for (let round = 1; round <= 5; round += 1) {
      await place.issuer.revoke(tokenOf(place.server), false);
      const answers = await Promise.all(two.map(({ session }) => session.call('remote_read')));
      expect(answers).toEqual(['done: read', 'done: read']);
      expect(place.issuer.countOf('granted refresh_token')).toBe(round);
    }
    expect(place.issuer.countOf('denied refresh_token')).toBe(0);
  });

  it('keeps its sign-in if it cannot be renewed because the issuer is down; only the call fails', async () => {
    const place = await signedIn();
    const { session } = await serving(place);
    await place.issuer.revoke(tokenOf(place.server), false);
    place.issuer.setDown(true);
    const answer = await session.ask('tools/call', { name: 'remote_read', arguments: {} });
    expect(at(answer, 'error', 'data')).toMatchObject({ code: 'SERVER_UNAVAILABLE', server: 'remote' });
    place.issuer.setDown(false);
    await until('calls arrive again', async () => {
      const again = await session.ask('tools/call', { name: 'remote_read', arguments: {} });
      return at(again, 'error') === undefined ? true : undefined;
    });
  });
});

describe('a call that needs more scopes', () => {
  it('is refused with the missing scope, which the next sign-in requests, and affects no other call', async () => {
    const place = await signedIn();
    const { assay, session } = await serving(place);
    const answer = await session.ask('tools/call', { name: 'remote_write', arguments: {} });
    expect(at(answer, 'error', 'data')).toMatchObject({ code: 'AUTHORIZATION_NEEDED', server: 'remote' });
    expect(at(answer, 'error', 'message')).toContain('tools:write');
    expect(place.server.statuses.filter((status) => status === 403)).toHaveLength(1);
    expect(await session.call('remote_read')).toBe('done: read');
    const done = await signIn('remote', place);
    expect(done.stderr).toContain('tools%3Awrite');
    await until('the wider token is in use', async () => {
      const again = await session.ask('tools/call', { name: 'remote_write', arguments: {} });
      return at(again, 'error') === undefined ? true : undefined;
    });
    expect(serverIn(await assay.health(), 'remote')).toMatchObject({ state: 'up' });
  });
});

describe('a client with a token', () => {
  it("cannot use another subject's sign-in unless the config shares it", async () => {
    const place = await signedIn();
    const token = await createToken(place.home, 'alice');
    const env = { ASSAY_MCP_ACCESS: 'token' };
    const assay = await startGateway({ ...place, env });
    const session = await openSession(assay.url, { headers: bearer(token) });
    const answer = await session.ask('tools/call', { name: 'remote_read', arguments: {} });
    expect(at(answer, 'error', 'message')).toContain('run `assay auth remote --subject alice`');
    const shared = writeConfig({ remote: { url: place.server.url, auth: { shared: true } } }, LOCAL_ISSUER);
    const other = await startGateway({ config: shared, home: place.home, env });
    const second = await openSession(other.url, { headers: bearer(token) });
    expect(await second.call('remote_read')).toBe('done: read');
  });
});

it('neither the log nor `assay auth --list` ever contains the tokens of a sign-in', async () => {
  const place = await signedIn();
  const assay = await startAssay({ ...place, env: { ASSAY_LOG_LEVEL: 'debug' } });
  await assay.settled();
  const session = await openSession(assay.url);
  const tokens = [tokenOf(place.server)];
  await place.issuer.revoke(tokenOf(place.server), false);
  await session.call('remote_read');
  tokens.push(tokenOf(place.server));
  await assay.stop();
  for (const token of tokens) expect(assay.stderr() + assay.stdout()).not.toContain(token);
  const listed = await runAssay(['auth', '--list', '--json', '--config', place.config, '--home', place.home]);
  for (const token of tokens) expect(listed.stdout).not.toContain(token);
});
