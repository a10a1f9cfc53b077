import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { forget } from '../../../src/adapters/auth/sign-out.ts';
import { signClientAssertion } from '../../../src/adapters/auth/client-assertion.ts';
import type { AssertionAlgorithm, AuthSpec } from '../../../src/core/server-spec.ts';
import { CERTIFICATE, CERTIFICATE_KEY } from '../../../../../test/fixtures/certificate.ts';
import { CLIENT_CERTIFICATE, CLIENT_KEY } from '../../../../../test/fixtures/client-certificate.ts';
import { freePort } from '../../../../../test/support/assay.ts';
import { until } from '../../../../../test/support/endings.ts';
import type { FakeIssuer, FakeIssuerOptions } from '../../../../../test/support/fake-issuer.ts';
import { tempDir } from '../../../../../test/support/paths.ts';
import {
  call,
  openReplica,
  RULES,
  signInAt,
  start,
  type Place,
} from '../../../../../test/support/sign-in-place.ts';

interface Pair {
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
}

function toPem({ publicKey, privateKey }: Pair): { readonly publicKey: string; readonly privateKey: string } {
  return {
    publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
    privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

const KEYS = {
  RS256: toPem(generateKeyPairSync('rsa', { modulusLength: 2_048 })),
  ES256: toPem(generateKeyPairSync('ec', { namedCurve: 'P-256' })),
  ES384: toPem(generateKeyPairSync('ec', { namedCurve: 'P-384' })),
} satisfies Record<AssertionAlgorithm, unknown>;
const folder = tempDir();
function writeKey(name: string, pem: string): string {
  const path = join(folder, name);
  writeFileSync(path, pem);
  return path;
}
const FILES = Object.fromEntries(
  Object.entries(KEYS).map(([name, { privateKey }]) => [name, writeKey(name, privateKey)]),
);

/** A server and an issuer at which the client `own` authenticates with a key. */
function startWithKey(
  algorithm: AssertionAlgorithm,
  { auth, ...issuer }: FakeIssuerOptions & { readonly auth?: (issuer: FakeIssuer) => AuthSpec },
): Promise<Place> {
  return start({
    issuer: { credentials: { own: { publicKey: KEYS[algorithm].publicKey } }, ...issuer },
    auth: (one) => ({
      ...{ clientId: 'own', privateKeyFile: FILES[algorithm] ?? '', issuer: one.url },
      ...{ grant: 'client_credentials', ...auth?.(one) },
    }),
  });
}

describe('client credentials', () => {
  it('get a token without a person, and another one when it is refused', async () => {
    const place = await start({
      issuer: { credentials: { own: { secret: 'own-secret' } }, resource: 'required' },
      server: { scopes: ['r', 's'] },
      auth: ({ url }) => ({
        ...{ clientId: 'own', clientSecret: 'own-secret', issuer: url },
        ...{ grant: 'client_credentials' },
      }),
    });
    const replica = await openReplica(place);
    expect(await call(replica, place, 'read')).toBe('200');
    place.issuer.expireAccess();
    expect(await call(replica, place, 'read')).toBe('200');
    expect(place.issuer.to('token').map(({ parameters }) => parameters)).toEqual(
      Array.from({ length: 2 }, () => ({
        ...{ grant_type: 'client_credentials', resource: place.server.url },
      })),
    );
  });

  it('ask for the scopes of the entry alone, whatever the server names', async () => {
    const place = await startWithKey('ES256', { auth: () => ({ scope: 'own' }) });
    const replica = await openReplica(place);
    const challenge = { kind: 'invalid', scope: 'admin', resourceMetadata: undefined } as const;
    expect(await replica.refused(challenge, replica.header())).toEqual({ ok: true, value: 'again' });
    const scopes = place.issuer.to('token').map(({ parameters }) => parameters['scope']);
    expect(scopes).toEqual(['own', 'own']);
  });

  it('are sent once for 20 calls at the same time', async () => {
    const place = await startWithKey('ES256', { tokenMs: 50 });
    const replica = await openReplica(place);
    place.issuer.expireAccess();
    const before = place.issuer.countTokenRequests();
    const calls = await Promise.all(Array.from({ length: 20 }, () => call(replica, place, 'read')));
    expect(new Set(calls)).toEqual(new Set(['200']));
    expect(place.issuer.countTokenRequests()).toBe(before + 1);
  });

  it('are sent again before the token expires', async () => {
    const replica = await openReplica(await startWithKey('ES256', { tokenSeconds: 1 }));
    const header = replica.header();
    await until('the token is renewed early', () => (replica.header() === header ? undefined : true));
  });

  it('do not go to another issuer than the configured one', async () => {
    const foreign = await start({ issuer: { credentials: { own: { secret: 'own-secret' } } } });
    const place = await start({
      server: { authorizationServers: [foreign.issuer.url] },
      auth: ({ url }) => ({
        ...{ clientId: 'own', clientSecret: 'own-secret', issuer: url },
        ...{ grant: 'client_credentials' },
      }),
    });
    expect(await call(await openReplica(place), place, 'read')).toBe('SERVER_UNAVAILABLE');
    expect(foreign.issuer.requests).toEqual([]);
  });

  it('are not sent for every call if the issuer refuses them', async () => {
    const place = await startWithKey('ES256', { credentials: {} });
    const replica = await openReplica(place);
    for (let calls = 0; calls < 15; calls += 1)
      expect(await call(replica, place, 'read')).toBe('SERVER_UNAVAILABLE');
    expect(place.issuer.countTokenRequests()).toBeLessThanOrEqual(10);
  });

  it('name the scopes that a call lacks, since nobody can grant them', async () => {
    const place = await startWithKey('ES256', {});
    const replica = await openReplica(place);
    const challenge = { kind: 'too_little', scope: 'w', resourceMetadata: undefined } as const;
    const refused = await replica.refused(challenge, replica.header());
    expect(refused).toMatchObject({
      error: {
        code: 'SERVER_UNAVAILABLE',
        cause: {
          code: 'CLIENT_CREDENTIALS_REFUSED',
          reason: 'the token lacks scopes that the server requires: w',
        },
      },
    });
  });
});

describe('a client that authenticates with its certificate', () => {
  const tls = {
    certFile: writeKey('client.pem', CLIENT_CERTIFICATE),
    keyFile: writeKey('client.key', CLIENT_KEY),
    caFile: writeKey('ca.pem', CERTIFICATE),
  };
  const mtls = { cert: CERTIFICATE, key: CERTIFICATE_KEY, ca: CERTIFICATE, requestCert: true };
  const credentials = { own: { certificateName: 'assay-client' } };
  const auth = ({ url }: FakeIssuer): AuthSpec => ({
    ...{ clientId: 'own', issuer: url, tokenAuthMethod: 'tls_client_auth' },
  });

  it('uses the addresses of the issuer for that, and sends no secret', async () => {
    const place = await start({
      issuer: { credentials, mtls },
      tls,
      auth: (issuer) => ({ ...auth(issuer), grant: 'client_credentials' }),
    });
    expect(await call(await openReplica(place), place, 'read')).toBe('200');
    expect(place.issuer.to('token')).toEqual([
      {
        path: '/token',
        parameters: { grant_type: 'client_credentials', client_id: 'own', resource: place.server.url },
      },
    ]);
  });

  it('is refused with another certificate, and shows none to an issuer that only the server names', async () => {
    const other = {
      ...tls,
      certFile: writeKey('other.pem', CERTIFICATE),
      keyFile: writeKey('o.key', CERTIFICATE_KEY),
    };
    const grant = { grant: 'client_credentials' } as const;
    const issuer = { credentials, mtls: { ...mtls, rejectUnauthorized: false } };
    const wrong = await start({ issuer, tls: other, auth: (one) => ({ ...auth(one), ...grant }) });
    expect(await call(await openReplica(wrong), wrong, 'read')).toBe('SERVER_UNAVAILABLE');
    const errors = wrong.issuer.to('token').map(({ error }) => error);
    expect(new Set(errors)).toEqual(new Set(['the certificate is of localhost']));
    const foreign = await start({ issuer });
    const place = await start({
      server: { authorizationServers: [foreign.issuer.url] },
      tls,
      auth: (one) => ({ ...auth(one), ...grant }),
    });
    expect(await call(await openReplica(place), place, 'read')).toBe('SERVER_UNAVAILABLE');
    expect(foreign.issuer.requests).toEqual([]);
  });

  it('does so too when a person signs in, and when the sign-in is renewed and revoked', async () => {
    const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
    const place = await start({
      issuer: { credentials, mtls, clients: { own: [redirectUri] } },
      tls,
      auth: (issuer) => ({ ...auth(issuer), redirectUri }),
    });
    expect(await signInAt(place)).toBeUndefined();
    place.issuer.expireAccess();
    expect(await call(await openReplica(place), place, 'read')).toBe('200');
    const gone = await forget({ server: 'g', subject: 'local' }, place.credentials, {
      servers: [place.spec],
      rules: RULES,
    });
    expect(gone).toMatchObject({ ok: true, value: { isRevoked: true } });
    const sent = [...place.issuer.to('token'), ...place.issuer.to('revoke')];
    expect(sent.map(({ parameters: { grant_type: type }, error }) => [type, error])).toEqual([
      ['authorization_code', undefined],
      ['refresh_token', undefined],
      [undefined, undefined],
    ]);
  });
});

describe('a client that authenticates with its key', () => {
  it.each(['RS256', 'ES256', 'ES384'] as const)('signs with %s', async (algorithm) => {
    const place = await startWithKey(algorithm, { auth: () => ({ keyId: 'k1' }) });
    expect(await call(await openReplica(place), place, 'read')).toBe('200');
    const { client_assertion: assertion = '' } = place.issuer.to('token')[0]?.parameters ?? {};
    const header: unknown = JSON.parse(Buffer.from(assertion.split('.')[0] ?? '', 'base64url').toString());
    expect(header).toEqual({ alg: algorithm, typ: 'JWT', kid: 'k1' });
  });

  it('uses the configured audience', async () => {
    const place = await startWithKey('ES256', {
      assertionAudience: 'https://id.example/token',
      auth: () => ({ assertionAudience: 'https://id.example/token' }),
    });
    expect(await call(await openReplica(place), place, 'read')).toBe('200');
  });

  it('does so too when a person signs in, and when the sign-in is renewed', async () => {
    const redirectUri = `http://127.0.0.1:${await freePort()}/callback`;
    const place = await startWithKey('ES256', {
      clients: { own: [redirectUri] },
      auth: () => ({ redirectUri }),
    });
    const { transport } = place.spec;
    if (transport.kind !== 'http') throw new Error('not at a URL');
    const { grant: _grant, ...auth } = transport.auth ?? {};
    const person = { ...place, spec: { ...place.spec, transport: { ...transport, auth } } };
    const steps: unknown[] = [];
    expect(await signInAt(person, (step) => steps.push(step))).toBeUndefined();
    const replica = await openReplica(person);
    place.issuer.expireAccess();
    expect(await call(replica, person, 'read')).toBe('200');
    const sent = place.issuer.to('token').map(({ parameters, error }) => [parameters['grant_type'], error]);
    expect(sent).toEqual([
      ['authorization_code', undefined],
      ['refresh_token', undefined],
    ]);
    const { client_assertion: assertion = 'none' } = place.issuer.to('token')[0]?.parameters ?? {};
    expect(JSON.stringify(steps)).not.toContain(assertion);
  });

  it('is told what is wrong with its key', async () => {
    const weak = toPem(generateKeyPairSync('rsa', { modulusLength: 1_024 })).privateKey;
    const curve = toPem(generateKeyPairSync('ec', { namedCurve: 'P-521' })).privateKey;
    const sign = (auth: AuthSpec): Promise<string> =>
      signClientAssertion(auth, { clientId: 'own', audience: 'https://id.example' });
    await expect(sign({ privateKeyFile: writeKey('weak', weak) })).rejects.toThrow('fewer than 2048 bits');
    await expect(sign({ privateKeyFile: writeKey('p521', curve) })).rejects.toThrow(
      'it fits none of RS256, ES256, ES384',
    );
    await expect(sign({ privateKeyFile: FILES['ES256'] ?? '', algorithm: 'RS256' })).rejects.toThrow(
      'it does not fit "auth.algorithm", which is RS256',
    );
    await expect(sign({ privateKeyFile: join(folder, 'none') })).rejects.toThrow('there is no such file');
  });
});
