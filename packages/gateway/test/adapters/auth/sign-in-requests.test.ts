import { createServer, type AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import type { AuthSpec } from '../../../src/core/server-spec.ts';
import type { SignInStep } from '../../../src/gateway/ports/credentials.ts';
import { until } from '../../../../../test/support/endings.ts';
import {
  listen,
  startFakeIssuer,
  type FakeIssuer,
  type FakeIssuerOptions,
  type IssuerRequest,
} from '../../../../../test/support/fake-issuer.ts';
import {
  call,
  onlyCredential,
  openCredentialsOf,
  openReplica,
  signInAt,
  start,
  withAuth,
} from '../../../../../test/support/sign-in-place.ts';

/** A free port of this machine. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the requests of one sign-in', () => {
  it('agree in their resource and scope', async () => {
    const place = await start({
      issuer: { resource: 'required', requiresScopeAtRefresh: true },
      server: { scopes: ['r', 's'] },
    });
    expect(await signInAt(place)).toBeUndefined();
    const replica = await openReplica(place);
    place.issuer.expireAccess();
    expect(await call(replica, place, 'read')).toBe('200');
    const resource = place.server.url;
    expect(place.issuer.to('authorize')[0]?.parameters).toMatchObject({ resource, scope: 'r s' });
    expect(place.issuer.to('token').map(({ parameters }) => parameters)).toMatchObject([
      { grant_type: 'authorization_code', resource },
      { grant_type: 'refresh_token', resource, scope: 'r s' },
    ]);
  });

  it('have the configured resource, or none', async () => {
    for (const resource of ['api://own', false] as const) {
      const place = await start({ auth: () => ({ resource }) });
      expect(await signInAt(place)).toBeUndefined();
      const replica = await openReplica(place);
      place.issuer.expireAccess();
      expect(await call(replica, place, 'read')).toBe('200');
      const sent = [...place.issuer.to('authorize'), ...place.issuer.to('token')];
      const expected = resource === false ? undefined : resource;
      expect(sent.map(({ parameters }) => parameters['resource'])).toEqual([expected, expected, expected]);
    }
  });

  it('go to the first issuer whose metadata can be read', async () => {
    const none = await startFakeIssuer({ document: 'none' });
    const second = await startFakeIssuer();
    const place = await start({ server: { authorizationServers: [none.url, second.url] } });
    expect(await signInAt(place)).toBeUndefined();
    expect([none.to('authorize').length, second.to('authorize').length]).toEqual([0, 1]);
  });
});

describe('the redirect URI', () => {
  it('is sent exactly as configured, and is listened on', async () => {
    const redirectUri = `http://localhost:${await freePort()}/own/path`;
    const place = await start({
      issuer: { clients: { own: [redirectUri] }, registration: 'unlisted' },
      auth: () => ({ clientId: 'own', redirectUri }),
    });
    expect(await signInAt(place)).toBeUndefined();
    const sent = [place.issuer.to('authorize')[0], place.issuer.to('token')[0]];
    expect(sent.map((one) => one?.parameters['redirect_uri'])).toEqual([redirectUri, redirectUri]);
  });

  it('is never another one than configured: a port in use is an error', async () => {
    const taken = new URL(await listen(() => undefined)).port;
    const redirectUri = `http://127.0.0.1:${taken}/callback`;
    const place = await start({ auth: () => ({ clientId: 'own', redirectUri }) });
    expect(await signInAt(place)).toMatchObject({ reason: expect.stringContaining('is its port in use?') });
    expect(place.issuer.to('authorize')).toEqual([]);
  });

  it('has a path for each server if the issuer does not name itself and Assay registered there', async () => {
    const silent: FakeIssuerOptions = { iss: 'absent', isIssAdvertised: false };
    const paths: string[] = [];
    for (const [name, issuer] of [
      ['a', silent],
      ['b', silent],
      ['c', {}],
    ] as const) {
      const place = await start({ name, issuer });
      expect(await signInAt(place)).toBeUndefined();
      const asked: IssuerRequest | undefined = place.issuer.to('authorize')[0];
      paths.push(new URL(asked?.parameters['redirect_uri'] ?? '').pathname);
    }
    expect(paths).toEqual([
      expect.stringMatching(/^\/callback\/[0-9a-f]{12}$/),
      expect.stringMatching(/^\/callback\/[0-9a-f]{12}$/),
      '/callback',
    ]);
    expect(paths[0]).not.toBe(paths[1]);
  });

  it('belongs to configured endpoints, for which nothing is looked up', async () => {
    const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
    const endpoints = (issuer: FakeIssuer): AuthSpec => ({
      clientId: 'own',
      redirectUri,
      authorizationEndpoint: `${issuer.url}/authorize`,
      tokenEndpoint: `${issuer.url}/token`,
    });
    const clients = { own: [redirectUri] };
    const nameless = await start({ issuer: { clients, iss: 'absent' }, auth: endpoints });
    expect(await signInAt(nameless)).toBeUndefined();
    expect(nameless.issuer.requests.map(({ path }) => path)).toEqual(['/authorize', '/token']);
    // An answer of another issuer (mix-up) cannot be told from that of the right one.
    const named = await start({ issuer: { clients }, auth: endpoints });
    expect(await signInAt(named)).toMatchObject({ reason: expect.stringContaining('set "auth.issuer"') });
    expect(named.issuer.to('token')).toEqual([]);
  });
});

describe('a renewal', () => {
  it('that comes too late never removes a newer sign-in, which is used instead', async () => {
    const place = await start({ issuer: { tokenMs: 400 } });
    expect(await signInAt(place)).toBeUndefined();
    const old = await onlyCredential(place);
    expect(await signInAt(place)).toBeUndefined();
    const newer = await onlyCredential(place);
    await place.credentials.save(old.stored, old.content);
    const replica = await openReplica(place);
    await fetch(`${place.issuer.url}/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: old.content.tokens?.refresh ?? '' }),
    });
    const count = place.issuer.countTokenRequests();
    const called = call(replica, place, 'read');
    await until('the renewal is under way', () =>
      place.issuer.countTokenRequests() > count ? true : undefined,
    );
    await place.credentials.save(newer.stored, newer.content);
    expect(await called).toBe('200');
    expect((await onlyCredential(place)).content).toEqual(newer.content);
  });

  it.each([
    { status: 503, error: 'invalid_grant' },
    { status: 429, error: 'invalid_grant' },
    { status: 400, error: 'temporarily_unavailable' },
  ])('that fails with $status $error keeps the sign-in', async (failure) => {
    const place = await start({});
    expect(await signInAt(place)).toBeUndefined();
    const replica = await openReplica(place);
    place.issuer.expireAccess();
    place.issuer.failTokens(failure);
    expect(await call(replica, place, 'read')).toBe('SERVER_UNAVAILABLE');
    place.issuer.failTokens(undefined);
    expect(await call(replica, place, 'read')).toBe('200');
  });
});

describe('the stored sign-in', () => {
  it('does not apply once the entry names another authorization server', async () => {
    const place = await start({});
    expect(await signInAt(place)).toBeUndefined();
    const other = 'https://other.example';
    const auths: readonly AuthSpec[] = [
      { issuer: other },
      { authorizationServer: other },
      { metadataUrl: `${other}/metadata` },
      { clientId: 'c', authorizationEndpoint: `${other}/a`, tokenEndpoint: `${other}/t` },
    ];
    for (const auth of auths) {
      const replica = await openReplica(withAuth(place, auth));
      expect(replica.header()).toBeUndefined();
      const challenge = { kind: 'invalid', scope: undefined, resourceMetadata: undefined } as const;
      expect(await replica.refused(challenge, undefined)).toMatchObject({
        error: { code: 'AUTHORIZATION_NEEDED', cause: { code: 'SIGN_IN_ELSEWHERE' } },
      });
    }
    expect((await openReplica(place)).header()).toMatch(/^Bearer /);
  });

  it('applies if the entry names what was discovered, and not once what it named changes', async () => {
    const place = await start({
      auth: ({ url }) => ({ metadataUrl: `${url}/odd` }),
      issuer: { document: 'odd' },
    });
    expect(await signInAt(place)).toBeUndefined();
    const { url } = place.issuer;
    const own = { metadataUrl: `${url}/odd` };
    const isUsed = async (auth: AuthSpec): Promise<boolean> =>
      (await openReplica(withAuth(place, auth))).header() !== undefined;
    const same: AuthSpec = {
      clientId: 'c',
      authorizationEndpoint: `${url}/authorize`,
      tokenEndpoint: `${url}/token`,
    };
    for (const auth of [own, { ...own, issuer: `${url}/` }, { ...own, ...same }])
      expect(await isUsed(auth), JSON.stringify(auth)).toBe(true);
    const others = [{}, { metadataUrl: `${url}/other` }, { ...own, ...same, tokenEndpoint: `${url}/other` }];
    for (const auth of others) expect(await isUsed(auth), JSON.stringify(auth)).toBe(false);
  });

  it('is no longer used by a running gateway once its entry names another place', async () => {
    const place = await start({});
    expect(await signInAt(place)).toBeUndefined();
    const credentials = await openCredentialsOf(place);
    const before = await credentials.authorizer(place.spec, 'local');
    expect(before?.header()).toMatch(/^Bearer /);
    const moved = withAuth(place, { metadataUrl: 'https://other.example/metadata' });
    const after = await credentials.authorizer(moved.spec, 'local');
    expect([before?.header(), after?.header()]).toEqual([undefined, undefined]);
    expect((await credentials.authorizer(place.spec, 'local'))?.header()).toMatch(/^Bearer /);
  });

  it('is not made of a remembered challenge, which is no sign-in', async () => {
    const place = await start({ server: { guards: 'calls', metadata: 'per_tool' } });
    const replica = await openReplica(place);
    expect(await call(replica, place, 'read')).toBe('AUTHORIZATION_NEEDED');
    expect(await place.credentials.challenge(place.spec, 'local')).toMatchObject({
      resourceMetadata: expect.stringMatching(/\/mcp\/read$/),
    });
    expect(await place.credentials.challenge(place.spec, 'somebody else')).toBeUndefined();
    expect(await place.credentials.all()).toEqual({ ok: true, value: [] });
  });
});

describe('the steps of a sign-in', () => {
  it('print each request and its response, without secrets', async () => {
    const place = await start({ issuer: { registration: 'with_secret' }, server: { guards: 'calls' } });
    const steps: SignInStep[] = [];
    expect(await signInAt(place, (step) => steps.push(step))).toBeUndefined();
    const { url } = place.issuer;
    expect(
      steps.map(({ method, url: to, status }) => [method, to.replace(/:\d+\/callback/, '/callback'), status]),
    ).toEqual([
      ['POST', place.server.url, 200],
      ['POST', place.server.url, 401],
      ['GET', `${new URL(place.server.url).origin}/.well-known/oauth-protected-resource/mcp`, 200],
      ['GET', `${url}/.well-known/oauth-authorization-server`, 200],
      ['POST', `${url}/register`, 201],
      ['BROWSER', `${url}/authorize`, undefined],
      ['CALLBACK', 'http://127.0.0.1/callback', undefined],
      ['POST', `${url}/token`, 200],
    ]);
    expect(steps.at(-1)).toMatchObject({
      sent: { grant_type: 'authorization_code', code: '[masked]', code_verifier: '[masked]' },
      received: expect.stringContaining('"refresh_token":"[masked]"'),
    });
    expect(steps[1]).toMatchObject({ challenge: expect.stringContaining('resource_metadata=') });
    const said = JSON.stringify(steps);
    const { content } = await onlyCredential(place);
    const [redeemed] = place.issuer.to('token');
    for (const secret of [
      content.tokens?.access,
      content.tokens?.refresh,
      content.client.client_secret,
      redeemed?.parameters['code'],
      redeemed?.parameters['code_verifier'],
    ]) {
      expect(secret).toMatch(/.{12}/);
      expect(said).not.toContain(secret);
    }
  });
});
