import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, it } from 'vitest';
import { runAssay } from '../support/commands.ts';
import { endLater } from '../support/endings.ts';
import { startIssuer } from '../support/issuer.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { LOCAL_ISSUER } from '../support/sign-in.ts';
import { startProtected, type ProtectedOptions } from '../support/protected-server.ts';

/** The message of `assay auth` for a server whose metadata points elsewhere. */
async function authErrorFor(
  options: Omit<ProtectedOptions, 'issuer'>,
  more: Parameters<typeof writeConfig>[1] = LOCAL_ISSUER,
): Promise<string> {
  const issuer = await startIssuer();
  const server = await startProtected({ issuer, ...options });
  const config = writeConfig({ remote: { url: server.url } }, more);
  const run = await runAssay(['auth', 'remote', '--no-browser', '--config', config, '--home', tempDir()]);
  expect(run.code).toBe(1);
  return run.stderr;
}

/** A server that must not be contacted, and records each request. */
async function trap(host: string): Promise<{ readonly url: string; readonly requests: readonly string[] }> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(request.url ?? '');
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  endLater(() => new Promise((resolve) => server.close(() => resolve())));
  return { url: `http://${host}:${(server.address() as AddressInfo).port}`, requests };
}

function issuerAt(issuer: string): Omit<ProtectedOptions, 'issuer'> {
  return { metadata: (own) => ({ resource: `${own}/mcp`, authorization_servers: [issuer] }) };
}

const OWN_ADDRESS = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address;

describe('the sign-in address named by a server', () => {
  it.each([
    ['https://169.254.169.254/latest/meta-data', 'a metadata address'],
    ['https://[fd00:ec2::254]/', 'a metadata address'],
    ['https://10.0.0.1/', 'a private address'],
    ['https://[::ffff:10.0.0.1]/', 'a private address'],
    ['https://0x0a000001/', 'a private address'],
    ['https://169.254.7.7/', 'a link-local address'],
    ['https://0.0.0.0/', 'a reserved address'],
  ])('cannot be %s', async (issuer, kind) => {
    expect(await authErrorFor(issuerAt(issuer))).toContain(`leads to ${kind}, so nothing was sent there: `);
  });

  it.each(['http://93.184.215.14/', 'http://169.254.169.254/', 'ftp://127.0.0.1/'])(
    'must use TLS: %s',
    async (issuer) => {
      expect(await authErrorFor(issuerAt(issuer))).toContain('is not an https address');
    },
  );

  it.runIf(OWN_ADDRESS !== undefined)('cannot be another interface of this machine', async () => {
    const other = await trap(OWN_ADDRESS!);
    await authErrorFor(issuerAt(other.url.replace('http:', 'https:')));
    await authErrorFor(issuerAt(other.url));
    expect(other.requests).toEqual([]);
  });

  it('cannot lead to a private address through its metadata URL or a redirect', async () => {
    const place = await authErrorFor({ metadataUrl: 'https://192.168.7.7/metadata' });
    expect(place).toContain('a private address');
    const other = await trap('127.0.0.1');
    const redirected = await authErrorFor({ redirectsTo: `${other.url}/metadata`, metadata: () => ({}) });
    expect(redirected).toContain('was not authorized');
    expect(other.requests).toEqual([]);
  });

  it('can be a loopback address only if http.allowLoopback is set, which the error names', async () => {
    const other = await trap('127.0.0.1');
    expect(await authErrorFor(issuerAt(other.url), {})).toContain(
      'leads to a loopback address, so nothing was sent there: to allow it, set http.allowLoopback (ASSAY_HTTP_ALLOW_LOOPBACK=true)',
    );
    expect(other.requests).toEqual([]);
    await authErrorFor(issuerAt(other.url));
    expect(other.requests).not.toEqual([]);
  });

  it('cannot come from metadata for another resource', async () => {
    const text = await authErrorFor({
      metadata: () => ({ resource: 'https://other.example/mcp', authorization_servers: [] }),
    });
    expect(text).toContain('was not authorized');
  });
});

describe('the issuer of an entry with a client secret', () => {
  it('is the only one that the secret may go to, whichever one the server names', async () => {
    const issuer = await startIssuer();
    const server = await startProtected({ issuer });
    const auth = { clientId: 'a', clientSecret: 'a secret of the config', issuer: 'https://id.example' };
    const config = writeConfig({ remote: { url: server.url, auth } }, LOCAL_ISSUER);
    const run = await runAssay(['auth', 'remote', '--no-browser', '--config', config, '--home', tempDir()]);
    expect(run.code).toBe(1);
    expect(run.stderr).toContain(
      `the server names the issuer "${issuer.url}", and "auth.issuer" of its entry is "https://id.example"; nothing was sent there`,
    );
    expect(['GET /auth', 'POST /token'].map((request) => issuer.countOf(request))).toEqual([0, 0]);
  });
});
