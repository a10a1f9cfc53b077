import { createHmac } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { sleep, until, untilLogged } from '../support/endings.ts';
import { send, type Answer } from '../support/http.ts';
import { at } from '../support/json.ts';
import { startKeyIssuer, unsigned, type KeyIssuer, type Input } from '../support/key-issuer.ts';
import { openSession } from '../support/legacy.ts';
import { modernSend, modernStream } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const servers = { plain: fixture('plain') };

async function standing(
  env: Record<string, string> = {},
  tokenFailures = 1_000,
): Promise<{ issuer: KeyIssuer; assay: Gateway }> {
  const issuer = await startKeyIssuer();
  const assay = await startGateway({
    servers,
    env: { ASSAY_AUTH_ISSUER: issuer.url, ...env },
    limits: { tokenFailures },
  });
  return { issuer, assay };
}

const baseOf = ({ port }: Gateway): string => `http://127.0.0.1:${port}`;

function ask(assay: Gateway, token?: string, path = '/mcp/all'): Promise<Answer> {
  return modernSend(`${baseOf(assay)}${path}`, 'tools/list', {
    headers: token === undefined ? {} : bearer(token),
  });
}

/** The status, and the reason in the challenge. */
function told({ status, headers }: Answer): string {
  const [, reason] = /error_description="([^"]*)"/.exec(headers['www-authenticate'] ?? '') ?? [];
  return reason === undefined ? String(status) : `${status} ${reason}`;
}

describe('a token of the issuer', () => {
  let issuer: KeyIssuer;
  let assay: Gateway;
  const token = (input: Input = {}): Promise<string> => issuer.token(`${baseOf(assay)}/mcp`, input);
  beforeAll(async () => {
    ({ issuer, assay } = await standing({ ASSAY_LOG_LEVEL: 'debug' }));
    await ask(assay, await token());
  });

  it('opens MCP in both eras, and no endpoint is open without one', async () => {
    const good = await token();
    expect((await ask(assay, good)).status).toBe(200);
    const session = await openSession(assay.url, { headers: bearer(good) });
    expect(await session.call('plain_label')).toBe('plain');
    expect((await ask(assay)).status).toBe(401);
    expect((await ask(assay, 'x')).status).toBe(401);
  });

  it('opens the REST API according to its scopes, which may have a prefix, and be in "scope" or in "scp"', async () => {
    const as = async (claims: Readonly<Record<string, unknown>>): Promise<readonly string[]> => {
      const admin = adminClient(assay, await issuer.token(baseOf(assay), { claims }));
      const input = { name: 'x', scopes: ['everything'] };
      return [verdictOf(await admin.get('/tools')), verdictOf(await admin.post('/tokens', input))];
    };
    const lacking = '403 SCOPE_MISSING';
    expect(await as({ scope: 'openid read' })).toEqual(['200', lacking]);
    expect(await as({ scope: 'assay:read' })).toEqual(['200', lacking]);
    expect(await as({ scope: undefined, scp: ['assay:admin'] })).toEqual(['200', '422 BODY_INVALID']);
    expect(await as({ scope: undefined, scp: 'mcp admin' })).toEqual(['200', '422 BODY_INVALID']);
    expect(await as({ scope: 'mcp' })).toEqual([lacking, lacking]);
    expect(await as({ scope: 'Read tools:read other:admin' })).toEqual([lacking, lacking]);
    expect(await as({ scope: { admin: true } })).toEqual([lacking, lacking]);
  });

  it('without a known scope is allowed nothing, and the error names the missing one', async () => {
    const lacking = await ask(assay, await token({ claims: { scope: 'openid profile' } }));
    expect([lacking.status, lacking.headers['www-authenticate']]).toEqual([
      403,
      'Bearer error="insufficient_scope", ' +
        'error_description="the token lacks the scope mcp, which its issuer may also call assay:mcp", ' +
        `scope="mcp", resource_metadata="${baseOf(assay)}/.well-known/oauth-protected-resource/mcp/all"`,
    ]);
  });

  it('for one endpoint opens that one and those below it, and no other', async () => {
    const opened = async (path: string): Promise<readonly number[]> => {
      const given = await issuer.token(`${baseOf(assay)}${path}`, { claims: { scope: 'mcp read' } });
      const statuses = ['/mcp', '/mcp/all', '/mcp/servers/plain'].map(
        async (one) => (await ask(assay, given, one)).status,
      );
      const rest = (await adminClient(assay, given).get('/tools')).status;
      return [...(await Promise.all(statuses)), rest];
    };
    expect(await opened('')).toEqual([200, 200, 200, 200]);
    expect(await opened('/')).toEqual([200, 200, 200, 200]);
    expect(await opened('/mcp')).toEqual([200, 200, 200, 401]);
    expect(await opened('/mcp/all')).toEqual([401, 200, 401, 401]);
    expect(await opened('/mcp/servers/plain')).toEqual([401, 401, 200, 401]);
    for (const path of ['/tools', '/mcpx', '/mcp/al', '.evil.example/mcp', '@evil.example'])
      expect(await opened(path)).toEqual([401, 401, 401, 401]);
  });

  it.each<readonly [string, Input]>([
    ['it has expired', { claims: { exp: Math.floor(Date.now() / 1_000) - 60 } }],
    ['its exp is not valid', { claims: { exp: undefined } }],
    ['its exp is not valid', { claims: { exp: '2999-01-01' } }],
    ['it is not valid yet', { claims: { nbf: Math.floor(Date.now() / 1_000) + 600 } }],
    ['its iss is a different issuer', { claims: { iss: 'https://evil.example' } }],
    ['its iss is a different issuer', { claims: { iss: undefined } }],
    ['its aud is not this resource', { claims: { aud: 'https://another.example/mcp' } }],
    ['its aud is not this resource', { claims: { aud: [] } }],
    ['its aud is not this resource', { claims: { aud: undefined } }],
    ['its signature is not valid', { isForged: true }],
    ['its kid names no key of its issuer', { header: { kid: 'another' } }],
    ['its typ is not that of an access token', { header: { typ: 'logout+jwt' } }],
    ['it has no sub', { claims: { sub: undefined } }],
    ['its sub cannot name anybody', { claims: { sub: 'a\nb' } }],
    ['its sub cannot name anybody', { claims: { sub: 'x'.repeat(256) } }],
    ['it is bound to a key, which is not checked here', { claims: { cnf: { jkt: 'x' } } }],
  ])('is refused because %s', async (reason, input) => {
    expect(told(await ask(assay, await token(input)))).toBe(`401 ${reason}`);
  });

  it('is refused without a signature, or with one by a publicly known key', async () => {
    const nowS = Math.floor(Date.now() / 1_000);
    const claims = { iss: issuer.url, sub: 'ada', aud: baseOf(assay), exp: nowS + 60, scope: 'mcp admin' };
    const reason = '401 its algorithm is not taken';
    expect(told(await ask(assay, unsigned({ alg: 'none' }, claims, '')))).toBe(reason);
    expect(told(await ask(assay, unsigned({ alg: 'none', kid: 'first' }, claims, 'eA')))).toBe(reason);
    const head = { alg: 'HS256', typ: 'JWT', kid: 'first' };
    const text = unsigned(head, claims, '').slice(0, -1);
    const mac = createHmac('sha256', await issuer.publicKey())
      .update(text)
      .digest('base64url');
    expect(told(await ask(assay, `${text}.${mac}`))).toBe(reason);
    expect(told(await ask(assay, 'a.b.c'))).toBe('401 it is not a JSON Web Token');
  });

  it('may be as long as a header may, and a longer one affects nobody', async () => {
    const padded = (length: number): Promise<string> => token({ claims: { pad: 'x'.repeat(length) } });
    expect((await ask(assay, await padded(8_000))).status).toBe(200);
    expect((await ask(assay, await padded(20_000))).status).toBe(431);
    expect((await ask(assay, await token())).status).toBe(200);
  });

  it('is accepted within ten seconds of clock skew', async () => {
    const nowS = Math.floor(Date.now() / 1_000);
    expect((await ask(assay, await token({ claims: { exp: nowS - 3 } }))).status).toBe(200);
    expect((await ask(assay, await token({ claims: { nbf: nowS + 5 } }))).status).toBe(200);
  });

  it('has its own subject, whatever its holder is called', async () => {
    const ours = await keepToken(assay.home, 'ada');
    await until('our token holds', async () => ((await ask(assay, ours)).status === 200 ? true : undefined));
    const theirs = await openSession(assay.url, { headers: bearer(ours) });
    for (const sub of ['ada', 'local', 'operator']) {
      const headers = { ...theirs.headers, ...bearer(await token({ claims: { sub } })) };
      const answer = await send(assay.url, { headers, body: '{"jsonrpc":"2.0","id":9,"method":"ping"}' });
      expect([answer.status, at(answer.json(), 'error', 'data', 'code')]).toEqual([404, 'SESSION_UNKNOWN']);
      await until('the log tells whose it was', () =>
        assay.stderr().includes(`"subject":"${issuer.url}#${sub}"`) ? true : undefined,
      );
    }
  });

  it('cannot be imitated by the name of an Assay token', async () => {
    const run = await runAssay(['token', 'create', `${issuer.url}#ada`, '--home', assay.home]);
    expect([run.code, run.stdout]).toEqual([2, '']);
    expect(run.stderr).toContain('name: it holds "/"');
  });

  it('appears in no log', async () => {
    await untilLogged(assay, 'a token of the issuer was refused');
    expect(assay.stderr()).not.toMatch(/eyJ[\w-]{20}/);
  });
});

describe('what a token opened', () => {
  it('ends soon after the token, and not before; a newer token extends it', async () => {
    const { issuer, assay } = await standing();
    const lasting = (sub: string, seconds: number): Promise<string> =>
      issuer.token(`${baseOf(assay)}/mcp`, {
        // Within the ten seconds that clocks may differ.
        claims: { sub, exp: Math.floor(Date.now() / 1_000) - 10 + seconds },
      });
    const open = async (token: string): Promise<readonly (() => boolean)[]> => {
      const session = await openSession(assay.url, { headers: bearer(token) });
      const streams = await Promise.all([
        session.listen(),
        modernStream(assay.url, 'subscriptions/listen', {
          id: 'sub',
          params: { notifications: { toolsListChanged: true } },
          headers: bearer(token),
        }),
      ]);
      return streams.map((stream) => {
        let isOver = false;
        void stream.ended.then(() => (isOver = true));
        return () => isOver;
      });
    };
    const [anna, ben, cleo] = [
      await lasting('anna', 9),
      await lasting('ben', 9),
      await lasting('cleo', 3_600),
    ];
    const [annas, bens, cleos] = [await open(anna), await open(ben), await open(cleo)];
    await sleep(500);
    expect([...annas, ...bens, ...cleos].map((isOver) => isOver())).toEqual(Array(6).fill(false));
    expect((await ask(assay, await lasting('ben', 3_600))).status).toBe(200);
    await until(
      'what anna opened has ended',
      () => (annas.every((isOver) => isOver()) ? true : undefined),
      25_000,
    );
    expect([...bens, ...cleos].map((isOver) => isOver())).toEqual(Array(4).fill(false));
    expect(told(await ask(assay, anna))).toBe('401 it has expired');
  });
});

describe.concurrent('the keys of the issuer', () => {
  it('are fetched once for many tokens, and no token causes a second fetch', async () => {
    const { issuer, assay } = await standing();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        issuer.token(`${baseOf(assay)}/mcp`, { claims: { sub: `s${n}` } }),
      ),
    );
    expect(issuer.requests).toEqual([]);
    const answers = await Promise.all([...tokens, ...tokens].map((token) => ask(assay, token)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(issuer.requests).toEqual([
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/keys',
    ]);
  });

  it('are read from the configured URL, without any metadata', async () => {
    const issuer = await startKeyIssuer();
    const assay = await startGateway({
      servers,
      env: { ASSAY_AUTH_ISSUER: issuer.url, ASSAY_AUTH_JWKS_URI: `${issuer.url}/keys` },
    });
    expect((await ask(assay, await issuer.token(`${baseOf(assay)}/mcp`))).status).toBe(200);
    expect(issuer.requests).toEqual(['/keys']);
  });

  it('may be rotated: a new one is found soon, and the old one forgotten', async () => {
    const { issuer, assay } = await standing();
    const before = await issuer.token(`${baseOf(assay)}/mcp`);
    expect((await ask(assay, before)).status).toBe(200);
    const old = await issuer.token(`${baseOf(assay)}/mcp`, { claims: { sub: 'ben' } });
    await issuer.rotate('second');
    const after = await issuer.token(`${baseOf(assay)}/mcp`);
    const status = async (token: string): Promise<number> => (await ask(assay, token)).status;
    await until(
      'the new key is found',
      async () => ((await status(after)) === 200 ? true : undefined),
      12_000,
    );
    expect(told(await ask(assay, old))).toBe('401 its kid names no key of its issuer');
    // It was verified a moment ago, which is valid for two minutes.
    expect(await status(before)).toBe(200);
  });

  it.each(['down', 'moved', 'garbage', 'foreign'] as const)(
    'that cannot be fetched, as the issuer is %s, lead to 503, never to an invalid token, and nothing is open',
    async (how) => {
      const { issuer, assay } = await standing();
      issuer.behave(how);
      const token = await issuer.token(`${baseOf(assay)}/mcp`);
      const answer = await ask(assay, token);
      expect([answer.status, at(answer.json(), 'error', 'data'), answer.headers['retry-after']]).toEqual([
        503,
        { code: 'ISSUER_UNAVAILABLE', issuer: issuer.url, waitSeconds: 5 },
        '5',
      ]);
      expect(answer.headers).not.toHaveProperty('www-authenticate');
      const asked = issuer.requests.length;
      expect((await ask(assay, token)).status).toBe(503);
      expect(issuer.requests).toHaveLength(asked);
      expect(verdictOf(await adminClient(assay, token).get('/tools'))).toBe('503 ISSUER_UNAVAILABLE');
      expect((await send(`${baseOf(assay)}/health`, { method: 'GET', headers: bearer(token) })).status).toBe(
        200,
      );
      expect(assay.stderr().match(/keys of the issuer cannot be had/g)).toHaveLength(1);
      issuer.behave('good');
      await until(
        'it is asked again',
        async () => ((await ask(assay, token)).status === 200 ? true : undefined),
        12_000,
      );
    },
  );

  it('are not read from a place to which the issuer redirects', async () => {
    const { issuer, assay } = await standing();
    const other = await startKeyIssuer();
    issuer.behave('moved', other.url);
    expect((await ask(assay, await issuer.token(`${baseOf(assay)}/mcp`))).status).toBe(503);
    expect(issuer.requests).not.toEqual([]);
    expect(other.requests).toEqual([]);
  });
});

describe('slow keys of the issuer', () => {
  it('do not block a request forever, nor anybody else', async () => {
    const { issuer, assay } = await standing();
    const ours = await keepToken(assay.home, 'ours');
    await until('our token holds', async () => ((await ask(assay, ours)).status === 200 ? true : undefined));
    issuer.behave('lost');
    const startedMs = performance.now();
    const slow = issuer.token(`${baseOf(assay)}/mcp`).then((token) => ask(assay, token));
    const mine = performance.now();
    expect((await ask(assay, ours)).status).toBe(200);
    expect(performance.now() - mine).toBeLessThan(scaledMs(2_000));
    expect((await slow).status).toBe(503);
    expect(performance.now() - startedMs).toBeLessThan(scaledMs(9_000));
  });
});

describe('invalid tokens', () => {
  it('are refused, and lock out no other token: only a signed one is no longer checked once it came too often', async () => {
    const { issuer, assay } = await standing({}, 3);
    const aud = `${baseOf(assay)}/mcp`;
    const good = await issuer.token(aud);
    expect((await ask(assay, good)).status).toBe(200);
    const ours = await keepToken(assay.home, 'ours');
    await until('our token holds', async () => ((await ask(assay, ours)).status === 200 ? true : undefined));
    const late = await issuer.token(aud, {
      claims: { sub: 'ben', exp: Math.floor(Date.now() / 1_000) - 60 },
    });
    for (let count = 0; count < 3; count += 1) expect((await ask(assay, late)).status).toBe(401);
    expect((await ask(assay, late)).status).toBe(429);
    // The issuer signed it, so it is not a guess: other tokens are still checked.
    expect((await ask(assay, await issuer.token(aud, { claims: { sub: 'cleo' } }))).status).toBe(200);
    const forged = { isForged: true };
    const unknownKey = { header: { kid: 'unknown' } };
    for (let count = 0; count < 25; count += 1)
      for (const junk of [forged, unknownKey])
        expect((await ask(assay, await issuer.token(aud, junk))).status).toBe(401);
    expect((await ask(assay, await issuer.token(aud, { claims: { sub: 'dan' } }))).status).toBe(200);
    expect((await ask(assay, good)).status).toBe(200);
    expect((await ask(assay, ours)).status).toBe(200);
  });
});

describe('an address other than loopback', () => {
  const env = (issuer: KeyIssuer): Record<string, string> => ({ ASSAY_AUTH_ISSUER: issuer.url });

  it('can be served with an issuer instead of Assay tokens, if the public URL is known', async () => {
    const issuer = await startKeyIssuer();
    const assay = await startGateway({
      servers,
      host: '0.0.0.0',
      env: { ...env(issuer), ASSAY_AUTH_PUBLIC_URL: 'https://gateway.example/tools/' },
    });
    const none = await ask(assay);
    expect([none.status, none.headers['www-authenticate']]).toEqual([
      401,
      'Bearer scope="mcp", resource_metadata="https://gateway.example/.well-known/oauth-protected-resource/tools/mcp/all"',
    ]);
    expect((await ask(assay, await issuer.token('https://gateway.example/tools/mcp'))).status).toBe(200);
    expect(told(await ask(assay, await issuer.token(`${baseOf(assay)}/mcp`)))).toBe(
      '401 its aud is not this resource',
    );
    for (const path of ['/tools/mcp', '/mcp']) {
      const place = `${baseOf(assay)}/.well-known/oauth-protected-resource${path}`;
      const metadata = await send(place, { method: 'GET' });
      expect(at(metadata.json(), 'resource')).toBe('https://gateway.example/tools/mcp');
    }
  });

  it('is not served while the URL is unknown, or ASSAY_TOKEN can be guessed', async () => {
    const issuer = await startKeyIssuer();
    const config = writeConfig(servers);
    const serve = ['serve', '--config', config, '--host', '0.0.0.0', '--port', '0', '--home', tempDir()];
    const nameless = await runAssay(serve, { env: env(issuer) });
    expect([nameless.code, nameless.stdout]).toEqual([3, '']);
    expect(nameless.stderr).toContain('auth.publicUrl');
    const weak = await runAssay(serve, {
      env: { ...env(issuer), ASSAY_AUTH_PUBLIC_URL: 'https://gateway.example', ASSAY_TOKEN: 'short' },
    });
    expect(weak.code).toBe(3);
  });

  it("may use the issuer's own audience in place of URLs, which opens everything that the scopes allow", async () => {
    const { issuer, assay } = await standing({ ASSAY_AUTH_AUDIENCE: 'api://assay' });
    const good = await issuer.token(['api://other', 'api://assay'], { claims: { scope: 'mcp read' } });
    expect((await ask(assay, good)).status).toBe(200);
    expect((await adminClient(assay, good).get('/tools')).status).toBe(200);
    expect(told(await ask(assay, await issuer.token(`${baseOf(assay)}/mcp`)))).toBe(
      '401 its aud is not this resource',
    );
  });

  it('is not served with an invalid setting, which is reported without its value', async () => {
    const run = await runAssay(
      ['serve', '--config', writeConfig(servers), '--home', tempDir(), '--port', '0'],
      { env: { ASSAY_AUTH_ISSUER: 'https://me:secret@issuer.example' } },
    );
    expect([run.code, run.stdout]).toEqual([3, '']);
    expect(run.stderr).toContain('The setting ASSAY_AUTH_ISSUER is not valid: it must');
    expect(run.stderr).not.toContain('secret');
  });
});
