import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { serverIn } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { browse } from '../support/browser.ts';
import { until, untilLogged } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { startIssuer } from '../support/issuer.ts';
import { at, parseJson, type JsonObject } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { startProtected } from '../support/protected-server.ts';
import { LOCAL_ISSUER, signIn, startSignIn } from '../support/sign-in.ts';

/** Starts a server that requires a sign-in, and its issuer, with a home without sign-ins. */
async function startSetup(
  entry: JsonObject = {},
  issuing: Parameters<typeof startIssuer>[0] = {},
): Promise<{
  readonly issuer: Awaited<ReturnType<typeof startIssuer>>;
  readonly server: Awaited<ReturnType<typeof startProtected>>;
  readonly config: string;
  readonly home: string;
}> {
  const issuer = await startIssuer(issuing);
  const server = await startProtected({ issuer });
  return {
    issuer,
    server,
    config: writeConfig({ remote: { url: server.url, ...entry } }, LOCAL_ISSUER),
    home: tempDir(),
  };
}

const inHome = ({ config, home }: { readonly config: string; readonly home: string }): readonly string[] => [
  ...['--config', config, '--home', home],
];

describe('a server that requires a sign-in', () => {
  it('waits for the sign-in, names the command, and becomes ready in a running `serve` afterwards', async () => {
    const { server, config, home } = await startSetup();
    const assay = await startGateway({ config, home });
    const before = serverIn(await assay.settled(), 'remote');
    expect(before).toMatchObject({
      state: 'unauthorized',
      cause: 'it waits for authorization; run `assay auth remote`',
      causeCode: 'SIGN_IN_NEEDED',
    });
    const done = await signIn('remote', { config, home });
    expect(done).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Signed in at "remote" as "local"'),
    });
    await until('the server is up', async () =>
      at(serverIn(await assay.health(), 'remote'), 'state') === 'up' ? true : undefined,
    );
    const session = await openSession(assay.url);
    expect(await session.call('remote_read')).toBe('done: read');
    expect(server.authorizations.at(-1)).toMatch(/^Bearer \S{20,}$/);
  });

  it('is reported by `assay doctor` with the command to run', async () => {
    const place = await startSetup();
    const found = await runAssay(['doctor', ...inHome(place), '--json']);
    expect(found.stdout).toContain('it waits for authorization; run `assay auth remote`');
    expect((await signIn('remote', place)).code).toBe(0);
    const after = await runAssay(['doctor', ...inHome(place), '--json']);
    expect(after.stdout).not.toContain('waits for authorization');
  });

  it('refuses calls after its sign-in is forgotten, and names the command', async () => {
    const { config, home } = await startSetup();
    const place = { config, home };
    expect((await signIn('remote', place)).code).toBe(0);
    const assay = await startGateway(place);
    await assay.settled();
    expect((await runAssay(['auth', 'remote', '--forget', ...inHome(place)])).code).toBe(0);
    const session = await openSession(assay.url);
    const refused = await until('the call is refused', async () => {
      const answer = await session.ask('tools/call', { name: 'remote_read', arguments: {} });
      return at(answer, 'error') === undefined ? undefined : answer;
    });
    expect(at(refused, 'error', 'message')).toContain('run `assay auth remote`');
  });

  it('is reached without one if the config has a credential, and `assay auth` then refuses', async () => {
    const { issuer, server, config, home } = await startSetup({
      headers: { Authorization: 'Bearer of-the-config' },
    });
    const assay = await startGateway({ config, home });
    expect(at(serverIn(await assay.settled(), 'remote'), 'state')).not.toBe('unauthorized');
    expect(new Set(server.authorizations)).toEqual(new Set(['Bearer of-the-config']));
    expect(issuer.requests).toEqual([]);
    const refused = await runAssay(['auth', 'remote', ...inHome({ config, home })]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('"Authorization" header') });
  });
});

describe('`assay auth`', () => {
  it('accepts the redirect address pasted from the browser', async () => {
    const place = await startSetup();
    const started = await startSignIn('remote', place);
    started.paste(await browse(started.address));
    expect(await started.ended).toBe(0);
    expect(started.stdout()).toContain('Signed in');
  });

  it('keeps waiting for the browser after stdin is closed', async () => {
    const place = await startSetup();
    const started = await startSignIn('remote', place);
    started.hangUp();
    const answer = await browse(started.address);
    expect(started.hasEnded()).toBe(false);
    await send(answer, { method: 'GET' });
    expect(await started.ended).toBe(0);
  });

  it('rejects a redirect with a different "state", from the browser or pasted', async () => {
    const place = await startSetup();
    const started = await startSignIn('remote', place);
    const answer = new URL(await browse(started.address));
    answer.searchParams.set('state', 'x'.repeat(32));
    expect((await send(answer.href, { method: 'GET' })).status).toBe(400);
    expect(started.hasEnded()).toBe(false);
    started.paste(answer.href);
    expect(await started.ended).toBe(1);
    await untilLogged(started, 'its "state" differs');
  });

  it('rejects a redirect from another issuer', async () => {
    const place = await startSetup();
    const started = await startSignIn('remote', place);
    const answer = new URL(await browse(started.address));
    answer.searchParams.set('iss', 'https://evil.example');
    await send(answer.href, { method: 'GET' });
    expect(await started.ended).toBe(1);
    await untilLogged(started, 'https://evil.example');
    expect(place.issuer.countOf('granted authorization_code')).toBe(0);
  });

  it('accepts a redirect only once', async () => {
    const place = await startSetup();
    const started = await startSignIn('remote', place);
    const answer = await browse(started.address);
    const [first, second] = await Promise.all([
      send(answer, { method: 'GET' }),
      send(answer, { method: 'GET' }).catch(() => undefined),
    ]);
    expect([first.status, second?.status ?? 400].sort()).toEqual([200, 400]);
    expect(await started.ended).toBe(0);
  });

  it("prints the issuer's error", async () => {
    const place = await startSetup();
    const started = await startSignIn('remote', place);
    const { searchParams } = new URL(started.address);
    const back = new URL(searchParams.get('redirect_uri') ?? '');
    back.search = new URLSearchParams({
      error: 'access_denied',
      state: searchParams.get('state') ?? '',
      iss: place.issuer.url,
    }).toString();
    await send(back.href, { method: 'GET' });
    expect(await started.ended).toBe(1);
    await untilLogged(started, 'the issuer refused: "access_denied"');
  });

  it('lists sign-ins without secrets, and revokes one at the issuer if supported', async () => {
    const place = await startSetup();
    expect((await signIn('remote', place)).code).toBe(0);
    const listed = await runAssay(['auth', '--list', '--json', ...inHome(place)]);
    expect(parseJson(listed.stdout)).toEqual({
      credentials: [
        {
          server: 'remote',
          issuer: place.issuer.url,
          subject: 'local',
          state: 'renewable',
          scope: 'tools:read',
          expiresAt: expect.stringMatching(/^\d{4}-.*Z$/),
        },
      ],
    });
    const forgotten = await runAssay(['auth', 'remote', '--forget', '--json', ...inHome(place)]);
    expect(parseJson(forgotten.stdout)).toMatchObject({ revoked: true });
    expect(place.issuer.countOf('POST /token/revocation')).toBe(1);
    const again = await runAssay(['auth', 'remote', '--forget', ...inHome(place)]);
    expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('There is no sign-in') });
  });

  it('lists the known servers if the name is unknown', async () => {
    const place = await startSetup();
    const run = await runAssay(['auth', 'remoet', ...inHome(place)]);
    expect(run).toEqual({
      code: 2,
      stdout: '',
      stderr: 'assay: The config has no server named "remoet". There are: "remote".\n',
    });
  });

  it('uses the configured client id if the issuer does not support registration', async () => {
    const clients = [
      {
        client_id: 'assay-here',
        client_secret: 'a secret of the config',
        application_type: 'native',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
      },
    ];
    const without = await startSetup({}, { clients, hasRegistration: false });
    const refused = await runAssay(['auth', 'remote', '--no-browser', ...inHome(without)]);
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('"clientId"') });
    const auth = {
      clientId: 'assay-here',
      clientSecret: 'a secret of the config',
      issuer: without.issuer.url,
      scope: 'tools:write',
    };
    const place = {
      ...without,
      config: writeConfig({ remote: { url: without.server.url, auth } }, LOCAL_ISSUER),
    };
    const done = await signIn('remote', place);
    expect(done.code).toBe(0);
    expect(done.stderr).toContain('scope=tools%3Awrite');
    expect(place.issuer.countOf('POST /reg')).toBe(0);
  });

  it('uses a client metadata document if the client id is a URL', async () => {
    const clientId = 'https://assay.example/client.json';
    const document = {
      client_id: clientId,
      client_name: 'Assay',
      application_type: 'native',
      redirect_uris: ['http://127.0.0.1/callback'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    };
    const place = await startSetup({ auth: { clientId } }, { document });
    const done = await signIn('remote', place);
    expect(done.code).toBe(0);
    expect(done.stderr).toContain(`client_id=${encodeURIComponent(clientId)}`);
    expect(place.issuer.countOf('POST /reg')).toBe(0);
  });
});

describe('the stored sign-in', () => {
  it('is stored nowhere in plaintext, and only this user can read its key', async () => {
    const place = await startSetup();
    expect((await signIn('remote', place)).code).toBe(0);
    await runAssay(['tools', ...inHome(place)]);
    const token = /^Bearer (.+)$/.exec(place.server.authorizations.at(-1) ?? '')?.[1] ?? '';
    expect(token).toHaveLength(43);
    const files = readdirSync(place.home).filter((name) => statSync(join(place.home, name)).isFile());
    expect(files).toContain('assay.db');
    for (const name of files) expect(readFileSync(join(place.home, name)).includes(token), name).toBe(false);
    expect(statSync(join(place.home, 'encryption.key')).mode & 0o777).toBe(0o600);
  });

  it('cannot be used for another server under the same name', async () => {
    const place = await startSetup();
    expect((await signIn('remote', place)).code).toBe(0);
    const other = await startProtected({ issuer: place.issuer });
    const config = writeConfig({ remote: { url: other.url } }, LOCAL_ISSUER);
    const run = await runAssay(['tools', '--config', config, '--home', place.home]);
    expect(run.stderr).toContain('it waits for authorization');
    expect(new Set(other.authorizations)).toEqual(new Set(['']));
    const listed = await runAssay(['auth', '--list', '--config', config, '--home', place.home]);
    expect(listed.stdout).toContain('foreign');
  });

  it('must be repeated if the encryption key is lost', async () => {
    const place = await startSetup();
    expect((await signIn('remote', place)).code).toBe(0);
    writeFileSync(join(place.home, 'encryption.key'), Buffer.alloc(32, 7).toString('base64'));
    const run = await runAssay(['tools', ...inHome(place)]);
    expect(run.stderr).toContain(
      'it waits for authorization (the last sign-in was stored with a different encryption key); run `assay auth remote`',
    );
    expect((await runAssay(['auth', '--list', ...inHome(place)])).stdout).toContain('locked');
    expect((await signIn('remote', place)).code).toBe(0);
    expect((await runAssay(['tools', ...inHome(place)])).stdout).toContain('remote_read');
  });

  it('is encrypted with the key from the environment if there is one, and never with an invalid one', async () => {
    const place = await startSetup();
    const env = { ASSAY_ENCRYPTION_KEY: Buffer.alloc(32, 9).toString('hex') };
    expect((await signIn('remote', { ...place, env })).code).toBe(0);
    expect(readdirSync(place.home)).not.toContain('encryption.key');
    expect((await runAssay(['tools', ...inHome(place)], { env })).stdout).toContain('remote_read');
    const weak = await startSignIn('remote', { ...place, env: { ASSAY_ENCRYPTION_KEY: 'a phrase' } });
    await send(await browse(weak.address), { method: 'GET' });
    expect(await weak.ended).toBe(3);
    await untilLogged(weak, 'openssl rand -base64 32');
  });
});
