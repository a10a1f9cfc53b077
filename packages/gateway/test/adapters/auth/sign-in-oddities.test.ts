import { describe, expect, it } from 'vitest';
import { forget } from '../../../src/adapters/auth/sign-out.ts';
import {
  call,
  openReplica,
  RULES,
  signInAt,
  start,
  type Oddity,
} from '../../../../../test/support/sign-in-place.ts';

/** Each with what a user sets, if anything. */
const ODDITIES: readonly (readonly [name: string, oddity: Oddity])[] = [
  ['follows the standards', {}],
  [
    'challenges only calls, with metadata for each tool',
    { server: { guards: 'calls', metadata: 'per_tool' } },
  ],
  ['has its metadata at the root', { server: { metadata: 'root', namesMetadata: false } }],
  ['names the issuer with a slash that its document lacks', { server: { issuerSuffix: '/' } }],
  ['names the issuer without the slash of its document', { issuer: { endsWithSlash: true } }],
  [
    'has an issuer with a path, without the slash of its document',
    { issuer: { path: '/t', endsWithSlash: true } },
  ],
  [
    'has a page at every other address',
    { issuer: { document: 'openid', path: '/t', otherAddresses: 'html' } },
  ],
  [
    'has a page where its metadata should be',
    { server: { metadata: 'root', namesMetadata: false, otherAddresses: 'html' } },
  ],
  [
    'has an issuer whose document has another text',
    {
      issuer: { path: '/v1', documentIssuer: 'https://sts.example/t/' },
      auth: ({ url }) => ({ authorizationServer: url, issuer: 'https://sts.example/t' }),
    },
  ],
  ['has no metadata', { server: { metadata: 'none' }, auth: ({ url }) => ({ authorizationServer: url }) }],
  [
    'has an issuer whose metadata is elsewhere',
    { issuer: { document: 'odd' }, auth: ({ url }) => ({ metadataUrl: `${url}/odd` }) },
  ],
  ['has an issuer that lists no PKCE methods', { issuer: { pkceMethods: 'absent' } }],
  ['has an issuer that does not name itself', { issuer: { iss: 'absent', isIssAdvertised: false } }],
  ['has an issuer that names itself without saying so before', { issuer: { isIssAdvertised: false } }],
  ['has an issuer that requires a resource', { issuer: { resource: 'required' } }],
  [
    'has an issuer that refuses a resource',
    { issuer: { resource: 'refused' }, auth: () => ({ resource: false }) },
  ],
  ['has an issuer that refuses a resource when it renews', { issuer: { resource: 'refused_at_refresh' } }],
  [
    'has an issuer that requires the scope when it renews',
    { issuer: { requiresScopeAtRefresh: true }, server: { scopes: ['r'] } },
  ],
  [
    'has an issuer that wants other parameters',
    {
      issuer: { refreshTokens: 'access_type', requiredParameters: { audience: 'api' } },
      auth: () => ({ parameters: { access_type: 'offline', audience: 'api' } }),
    },
  ],
  [
    'has an issuer that gives refresh tokens for offline_access only',
    { issuer: { refreshTokens: 'offline_access', scopes: ['offline_access'] } },
  ],
  [
    'has an issuer that lists offline_access but does not know it',
    { issuer: { scopes: ['offline_access'], unknownScopes: ['offline_access'] } },
  ],
  ['has an issuer that answers a registration with a secret', { issuer: { registration: 'with_secret' } }],
  [
    'has an issuer that answers a registration with another redirect URI',
    { issuer: { registration: 'with_other_redirect' } },
  ],
  ['has an issuer that keeps its refresh tokens', { issuer: { rotation: 'none' } }],
  [
    'has an issuer that revokes the grant if two renew',
    { issuer: { rotation: 'revokes_family', tokenMs: 300 } },
  ],
];

describe('a server that', () => {
  it.each(ODDITIES)('%s: sign-in, renewal by two replicas, step-up and revocation', async (_, oddity) => {
    const place = await start(oddity);
    if (oddity.server?.guards === 'calls')
      expect(await call(await openReplica(place), place, 'read')).toBe('AUTHORIZATION_NEEDED');
    expect(await signInAt(place)).toBeUndefined();
    const replicas = await Promise.all([openReplica(place), openReplica(place)]);
    const [first] = replicas;
    expect(await call(first, place, 'read')).toBe('200');

    place.issuer.expireAccess();
    const renewed = await Promise.all(
      [...replicas, ...replicas].map((replica) => call(replica, place, 'read')),
    );
    expect(renewed).toEqual(['200', '200', '200', '200']);
    const refreshes = place.issuer
      .to('token')
      .filter(({ parameters }) => parameters['grant_type'] === 'refresh_token');
    expect(refreshes.filter(({ error }) => error === undefined)).toHaveLength(1);

    expect(await call(first, place, 'write')).toBe('AUTHORIZATION_NEEDED');
    expect(await call(first, place, 'read')).toBe('200');
    const before = place.issuer.to('authorize').at(-1)?.parameters['scope'] ?? '';
    expect(await signInAt(place)).toBeUndefined();
    const asked = place.issuer.to('authorize').at(-1)?.parameters['scope']?.split(' ');
    expect(asked?.sort()).toEqual([...before.split(' ').filter((one) => one !== ''), 'w'].sort());
    const after = await openReplica(place);
    expect(await call(after, place, 'write')).toBe('200');

    const token = (after.header() ?? '').replace('Bearer ', '');
    const target = { server: place.spec.name, subject: 'local' };
    const done = await forget(target, place.credentials, { servers: [place.spec], rules: RULES });
    expect(done.ok && done.value.isRevoked).toBe(true);
    expect(place.issuer.look(token)).toBeUndefined();
  });
});

/** Each with what the user is told. */
const REFUSED: readonly (readonly [name: string, oddity: Oddity, told: readonly string[]])[] = [
  [
    'an error and another issuer',
    { issuer: { iss: 'wrong', requiredParameters: { a: 'b' } } },
    ['"https://evil.example"'],
  ],
  ['another issuer', { issuer: { iss: 'wrong' } }, ['"https://evil.example"']],
  ['its issuer with a slash', { issuer: { iss: 'with_slash' } }, ['the answer comes from', '/"']],
  ['no issuer, though announced', { issuer: { iss: 'absent' } }, ['the answer comes from']],
];

describe('an answer with', () => {
  it.each(REFUSED)('%s is refused before the code is sent anywhere', async (_, oddity, told) => {
    const place = await start(oddity);
    const refusal = await signInAt(place);
    expect(refusal).toMatchObject({ code: 'AUTHORIZATION_FAILED' });
    for (const text of told) expect(refusal).toMatchObject({ reason: expect.stringContaining(text) });
    expect(place.issuer.to('token')).toEqual([]);
  });
});

describe('a sign-in fails, and says what to do,', () => {
  const unsent: readonly (readonly [string, Oddity, readonly string[]])[] = [
    [
      'if a document names another issuer',
      { issuer: { documentIssuer: 'https://id.example' } },
      ['"https://id.example"', '"auth.authorizationServer"', '"auth.issuer"'],
    ],
    [
      // Else a server could send codes and the secret to its own token endpoint, under the name of the issuer.
      'if a server sends its client to a place that only claims to be the configured issuer',
      { issuer: { documentIssuer: 'https://id.example' }, auth: () => ({ issuer: 'https://id.example' }) },
      ['nothing was sent there', '"auth.authorizationServer"'],
    ],
    [
      'if two slashes differ',
      {
        issuer: { document: 'odd', path: '/t', endsWithSlash: true },
        auth: ({ url }) => ({ metadataUrl: `${new URL(url).origin}/odd`, issuer: `${url}//` }),
      },
      ['was expected'],
    ],
    [
      'if all addresses have pages',
      { issuer: { document: 'none', otherAddresses: 'html', registration: 'refused' } },
      [
        '/.well-known/oauth-authorization-server": not JSON but "text/html"',
        '/.well-known/openid-configuration"',
      ],
    ],
    [
      'if the metadata cannot be read now',
      { issuer: { document: 'none', otherAddresses: 503 } },
      ['HTTP 503; try again'],
    ],
    [
      'if the metadata is for another resource',
      { server: { resource: 'https://other.example/mcp' } },
      ['"https://other.example/mcp"', '"auth.resource"'],
    ],
    ['if the issuer offers no S256', { issuer: { pkceMethods: ['plain'] } }, ['S256']],
    [
      'if the issuer registers nobody',
      { issuer: { registration: 'refused' } },
      ['HTTP 422', '"clientId"', '"redirectUri"'],
    ],
    [
      'if the issuer has no registration',
      { issuer: { registration: 'unlisted' } },
      ['"clientId"', '"redirectUri"'],
    ],
  ];
  it.each(unsent)('%s', async (_, oddity, told) => {
    const place = await start(oddity);
    const refusal = await signInAt(place);
    expect(refusal).toMatchObject({ code: 'AUTHORIZATION_FAILED' });
    for (const text of told) expect(refusal).toMatchObject({ reason: expect.stringContaining(text) });
    expect([...place.issuer.to('authorize'), ...place.issuer.to('token')]).toEqual([]);
  });
});
