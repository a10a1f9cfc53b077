import { beforeAll, describe, expect, it } from 'vitest';
import { startAssay, freePort, type Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { startGateway } from '../support/gateway.ts';
import { connectClient } from '../support/clients.ts';
import { send, sendBytes } from '../support/http.ts';
import { at } from '../support/json.ts';
import { BOTH, initializeOf, openSession } from '../support/legacy.ts';
import { modernSend } from '../support/modern.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';

const TOKEN = 'a-token-of-more-than-16-characters';

describe('on loopback', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({ servers: { plain: fixture('plain') } });
  });

  const post = (headers: Record<string, string>) =>
    send(assay.url, {
      headers: { 'content-type': 'application/json', accept: BOTH, ...headers },
      body: initializeOf('2025-11-25'),
    });

  it.each([
    'evil.example',
    'evil.example:80',
    '127.0.0.1.evil.example',
    'localhost.evil.example',
    '169.254.1.1',
    'a@127.0.0.1',
  ])('the Host %j is refused with 403, on every path', async (host) => {
    const answer = await post({ host });
    expect([answer.status, at(answer.json(), 'error', 'data', 'code')]).toEqual([403, 'HOST_FORBIDDEN']);
    expect(
      (await send(`http://127.0.0.1:${assay.port}/health`, { method: 'GET', headers: { host } })).status,
    ).toBe(403);
  });

  it('the Hosts 127.0.0.1, localhost and [::1] are accepted, with the port', async () => {
    for (const host of ['127.0.0.1', 'localhost', 'LOCALHOST', '[::1]']) {
      expect((await post({ host: `${host}:${assay.port}` })).status).toBe(200);
    }
  });

  it.each([
    'http://evil.example',
    'https://evil.example',
    'null',
    'http://127.0.0.1.evil.example',
    'file://',
    'http://localhost@evil.example',
    'chrome-extension://abc',
    'x',
  ])('the Origin %s is refused with 403, in both eras, without CORS headers', async (origin) => {
    const answer = await post({ origin });
    expect([answer.status, at(answer.json(), 'error', 'data', 'code')]).toEqual([403, 'ORIGIN_FORBIDDEN']);
    expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
    const modern = await modernSend(assay.url, 'tools/list', { headers: { origin } });
    expect(modern.status).toBe(403);
  });

  it('Assay’s own origin is accepted', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      expect((await post({ origin: `http://${host}:${assay.port}` })).status).toBe(200);
    }
  });

  it('a foreign request affects no connected client', async () => {
    const session = await openSession(assay.url);
    const running = session.call('plain_sleep', { ms: 300 });
    await post({ origin: 'http://evil.example' });
    await post({ host: 'evil.example' });
    expect(await running).toBe('slept 300');
    expect(await session.call('plain_label')).toBe('plain');
  });

  it('Content-Type text/plain is refused with 415: a page can send it without a preflight', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      expect((await post({ 'content-type': type })).status).toBe(415);
    }
    expect((await post({ 'content-type': 'application/json; charset=utf-8' })).status).toBe(200);
  });

  it('an Accept without any supported type is refused with 406', async () => {
    expect((await post({ accept: 'text/html' })).status).toBe(406);
    expect((await post({ accept: '*/*' })).status).toBe(200);
  });

  it('two Host headers, or none, are refused', async () => {
    for (const head of ['Host: 127.0.0.1\r\nHost: evil.example', 'X-Nothing: 1']) {
      const answer = await sendBytes(assay.port, [
        `POST /mcp/all HTTP/1.1\r\n${head}\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n`,
      ]);
      expect(answer).toMatch(/^HTTP\/1\.1 40[03] /);
    }
  });
});

describe('an address other than loopback', () => {
  it('is refused without a token: exit code 3, and a message that says what to do', async () => {
    for (const host of ['0.0.0.0', '::']) {
      const run = await runAssay([
        'serve',
        '--config',
        writeConfig({ plain: fixture('plain') }),
        '--home',
        tempDir(),
        '--host',
        host,
        '--port',
        String(await freePort()),
      ]);
      expect(run.code).toBe(3);
      expect(run.stderr).toContain('ASSAY_TOKEN');
    }
  });

  it('is refused with a token that is too short', async () => {
    const run = await runAssay(
      [
        'serve',
        '--config',
        writeConfig({ plain: fixture('plain') }),
        '--home',
        tempDir(),
        '--host',
        '0.0.0.0',
        '--port',
        String(await freePort()),
      ],
      { env: { ASSAY_TOKEN: 'short' } },
    );
    expect(run.code).toBe(3);
  });

  it('is served with a token: 401 without it, 200 with it, and it is never shown', async () => {
    const assay = await startAssay({
      servers: { plain: fixture('plain') },
      args: ['--host', '0.0.0.0'],
      env: { ASSAY_TOKEN: TOKEN, ASSAY_LOG_LEVEL: 'trace' },
    });
    const post = (headers: Record<string, string>) =>
      send(assay.url, {
        headers: { 'content-type': 'application/json', accept: BOTH, ...headers },
        body: initializeOf('2025-11-25'),
      });
    for (const authorization of [
      undefined,
      'Bearer wrong-token-of-the-same-len',
      `Basic ${TOKEN}`,
      `Bearer ${TOKEN}x`,
      `Bearer ${TOKEN.slice(0, -1)}`,
      'Bearer',
    ]) {
      const answer = await post(authorization === undefined ? {} : { authorization });
      expect([answer.status, at(answer.json(), 'error', 'data', 'code')]).toEqual([401, 'TOKEN_REQUIRED']);
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    }
    expect((await post({ authorization: `Bearer ${TOKEN}` })).status).toBe(200);
    expect((await post({ authorization: `bearer ${TOKEN}` })).status).toBe(200);
    const client = await connectClient(
      { url: assay.url, headers: { authorization: `Bearer ${TOKEN}` } },
      'modern',
    );
    expect((await client.listTools()).tools.length).toBeGreaterThan(0);
    const health = await send(`http://127.0.0.1:${assay.port}/health`, { method: 'GET' });
    expect(health.status).toBe(200);
    expect(health.text + assay.stderr() + assay.stdout()).not.toContain(TOKEN);
  });

  it('a token on loopback is required too, once it is set', async () => {
    const assay = await startGateway({ servers: { plain: fixture('plain') }, env: { ASSAY_TOKEN: TOKEN } });
    expect((await modernSend(assay.url, 'tools/list')).status).toBe(401);
    const authorized = await modernSend(assay.url, 'tools/list', {
      headers: { authorization: `Bearer ${TOKEN}` },
    });
    expect(authorized.status).toBe(200);
  });

  it('a token is not forwarded to the servers, in no header and no environment variable', async () => {
    const assay = await startGateway({ servers: { plain: fixture('plain') }, env: { ASSAY_TOKEN: TOKEN } });
    const session = await openSession(assay.url, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(await session.call('plain_env', { name: 'ASSAY_TOKEN' })).toBe('');
  });
});

describe('a port', () => {
  it('that is in use leads to a message and exit code 4', async () => {
    const assay = await startGateway({ servers: { plain: fixture('plain') } });
    const run = await runAssay([
      'serve',
      '--config',
      writeConfig({ plain: fixture('plain') }),
      '--port',
      String(assay.port),
      '--home',
      tempDir(),
    ]);
    expect(run.code).toBe(4);
    expect(run.stderr).toContain(String(assay.port));
  });
});
