import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { runAssay } from '../support/commands.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { startGateway } from '../support/gateway.ts';
import { OFFICIAL } from '../support/clients.ts';
import { sleep, until } from '../support/endings.ts';
import { openStream, send, type Answer, type Headers, type Stream } from '../support/http.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernSend, modernStream } from '../support/modern.ts';
import { fixture, tempDir, writeConfig } from '../support/paths.ts';
import { bearer, createToken, forged, keepToken, revokeToken } from '../support/tokens.ts';

endAfterEach();

const UNKNOWN_TOKEN = `assay_0123456789ab_${'x'.repeat(43)}`;
const servers = { plain: fixture('plain') };

function ask(assay: Gateway, headers: Headers = {}): Promise<Answer> {
  return modernSend(assay.url, 'tools/list', { headers });
}

/** The status, and the code of an error. */
async function verdict(assay: Gateway, headers: Headers = {}): Promise<string> {
  const answer = await ask(assay, headers);
  return `${answer.status} ${String(at(answer.json(), 'error', 'data', 'code') ?? '')}`.trim();
}

/** The content of `/health`: everything, or its status only. */
async function seen(assay: Gateway, headers: Headers = {}): Promise<string> {
  const answer = await send(`http://127.0.0.1:${assay.port}/health`, { method: 'GET', headers });
  const members = Object.keys(answer.json() as object);
  return `${answer.status} ${members.includes('servers') ? 'all' : members.join(' ')}`;
}

describe('an endpoint that requires no token', () => {
  let assay: Gateway;
  beforeAll(async () => {
    // Polling until a new token works counts as many failures.
    assay = await startGateway({ servers, limits: { tokenFailures: 100_000 } });
    await assay.settled();
  });

  it.each(OFFICIAL)('serves the client $label with a token until the token is revoked', async (official) => {
    const name = `laptop ${official.label}`;
    const token = await createToken(assay.home, name);
    await until('the new token holds', async () =>
      (await verdict(assay, bearer(token))) === '200' ? true : undefined,
    );
    const client = await official.connect({ url: assay.url, headers: bearer(token) });
    expect(await client.call('plain_label')).toBe('plain');
    await revokeToken(assay.home, name);
    await until('the revoked token is refused', async () =>
      (await verdict(assay, bearer(token))) === '401 TOKEN_REQUIRED' ? true : undefined,
    );
    await expect(client.call('plain_label')).rejects.toThrow();
  });

  it('treats a client without a token, or with a foreign one, as a local client', async () => {
    for (const headers of [
      {},
      { authorization: 'Basic dXNlcjpwYXNzd29yZA==' },
      { authorization: 'Bearer eyJhbGciOiJub25lIn0.e30.' },
    ]) {
      expect(await verdict(assay, headers)).toBe('200');
      expect(await seen(assay, headers)).toBe('200 all');
    }
  });

  it('never treats a client with an invalid token as one without a token', async () => {
    const expired = await keepToken(assay.home, 'guest', { lifetimeMs: 0 });
    for (const token of [UNKNOWN_TOKEN, expired, 'assay_', 'assay_cut']) {
      expect(await verdict(assay, bearer(token))).toBe('401 TOKEN_REQUIRED');
      expect(await seen(assay, bearer(token))).toBe('200 status');
    }
  });
});

describe('an endpoint that requires a token', () => {
  let assay: Gateway;
  let clients: string;
  let readers: string;
  let admins: string;
  beforeAll(async () => {
    const home = tempDir();
    clients = await keepToken(home, 'clients');
    readers = await keepToken(home, 'readers', { scopes: ['read'] });
    admins = await keepToken(home, 'admins', { scopes: ['admin'] });
    assay = await startGateway({
      servers,
      home,
      env: { ASSAY_MCP_ACCESS: 'token', ASSAY_LOG_LEVEL: 'trace' },
    });
  });

  it('responds with 401 and the scheme to use if the token is missing or invalid', async () => {
    const none = await ask(assay);
    expect([none.status, none.headers['www-authenticate']]).toEqual([401, 'Bearer']);
    for (const headers of [bearer(UNKNOWN_TOKEN), bearer('x'), { authorization: 'Basic dXNlcjpwYXNz' }]) {
      const answer = await ask(assay, headers);
      expect([answer.status, answer.headers['www-authenticate']]).toEqual([
        401,
        'Bearer error="invalid_token"',
      ]);
    }
  });

  it('accepts tokens with the scope mcp, and names the missing scope otherwise', async () => {
    expect(await verdict(assay, bearer(clients))).toBe('200');
    expect(await verdict(assay, bearer(admins))).toBe('200');
    const lacking = await ask(assay, bearer(readers));
    expect([
      lacking.status,
      lacking.headers['www-authenticate'],
      at(lacking.json(), 'error', 'data'),
    ]).toEqual([
      403,
      'Bearer error="insufficient_scope", scope="mcp"',
      { code: 'SCOPE_MISSING', scope: 'mcp' },
    ]);
  });

  it('shows the state of servers to tokens with read access, and only its own liveness to others', async () => {
    expect(await seen(assay)).toBe('200 status');
    expect(await seen(assay, bearer(UNKNOWN_TOKEN))).toBe('200 status');
    expect(await seen(assay, bearer(clients))).toBe('200 status');
    expect(await seen(assay, bearer(readers))).toBe('200 all');
    expect(await seen(assay, bearer(admins))).toBe('200 all');
  });

  it('logs the subject of a request but never its token', async () => {
    await ask(assay, bearer(clients));
    await ask(assay, bearer(forged(clients)));
    await until('the request stands in the log', () =>
      assay.stderr().includes('"subject":"clients"') ? true : undefined,
    );
    const health = await send(`http://127.0.0.1:${assay.port}/health`, {
      method: 'GET',
      headers: bearer(readers),
    });
    const output = health.text + assay.stderr();
    for (const token of [clients, readers, admins, forged(clients)]) {
      expect(output).not.toContain(token);
      expect(output).not.toContain(token.slice(-43));
    }
  });
});

describe('a stream', () => {
  it('ends soon after its token is revoked, while those of other tokens stay open', async () => {
    const home = tempDir();
    const anna = await keepToken(home, 'anna');
    const ben = await keepToken(home, 'ben');
    const assay = await startGateway({ servers, home });
    const [annas, bens] = await Promise.all(
      [anna, ben].map((token) => openSession(assay.url, { headers: bearer(token) })),
    );
    const streams = await Promise.all([annas?.listen(), bens?.listen()]);
    const listens = await Promise.all(
      [anna, ben].map((token) =>
        modernStream(assay.url, 'subscriptions/listen', {
          id: 'sub',
          params: { notifications: { toolsListChanged: true } },
          headers: bearer(token),
        }),
      ),
    );
    const isOver = async (stream: Stream | undefined): Promise<boolean> =>
      Promise.race([stream?.ended.then(() => true) ?? false, sleep(500).then(() => false)]);
    await revokeToken(home, 'anna');
    await until('what anna opened has ended', async () =>
      (await isOver(streams[0])) && (await isOver(listens[0])) ? true : undefined,
    );
    expect([await isOver(streams[1]), await isOver(listens[1])]).toEqual([false, false]);
    expect(await bens?.call('plain_label')).toBe('plain');
  });
});

describe('a session', () => {
  it('belongs to the subject that started it, and does not exist for others', async () => {
    const home = tempDir();
    const anna = await keepToken(home, 'anna');
    const ben = await keepToken(home, 'ben');
    const assay = await startGateway({ servers, home });
    const session = await openSession(assay.url, { headers: bearer(anna) });
    const ping = '{"jsonrpc":"2.0","id":9,"method":"ping"}';
    const { authorization: _, ...nameless } = session.headers;
    for (const headers of [{ ...nameless, ...bearer(ben) }, nameless]) {
      const posted = await send(assay.url, { headers, body: ping });
      expect([posted.status, at(posted.json(), 'error', 'data', 'code')]).toEqual([404, 'SESSION_UNKNOWN']);
      const listened = await openStream(assay.url, {
        method: 'GET',
        headers: { ...headers, accept: 'text/event-stream' },
      });
      expect(listened.status).toBe(404);
      expect((await send(assay.url, { method: 'DELETE', headers })).status).toBe(404);
    }
    expect((await session.post(ping)).status).toBe(200);
    expect((await session.end()).status).toBe(204);
  });
});

describe('too many invalid tokens', () => {
  const limits = { tokenFailures: 3 };

  it('are answered with 429 and Retry-After, while other tokens from the same address still work', async () => {
    const home = tempDir();
    const anna = await keepToken(home, 'anna');
    const ben = await keepToken(home, 'ben');
    const assay = await startGateway({ servers, home, env: { ASSAY_MCP_ACCESS: 'token' }, limits });
    for (let count = 0; count < 3; count += 1)
      expect(await verdict(assay, bearer(forged(anna)))).toBe('401 TOKEN_REQUIRED');
    const flooded = await ask(assay, bearer(forged(anna)));
    expect([flooded.status, at(flooded.json(), 'error', 'data', 'code')]).toEqual([429, 'TOO_MANY_FAILURES']);
    expect(Number(flooded.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(flooded.headers['retry-after'])).toBeLessThanOrEqual(60);
    // The correct token is not checked either; otherwise guessing could continue.
    expect(await verdict(assay, bearer(anna))).toBe('429 TOO_MANY_FAILURES');
    expect(await verdict(assay, bearer(ben))).toBe('200');
    expect(await seen(assay, bearer(anna))).toBe('200 status');
  });

  it('block further unknown tokens, but no valid token and no request without one', async () => {
    const home = tempDir();
    const anna = await keepToken(home, 'anna');
    const assay = await startGateway({ servers, home, limits });
    for (let count = 0; count < 3; count += 1)
      expect(await verdict(assay, bearer(UNKNOWN_TOKEN))).toBe('401 TOKEN_REQUIRED');
    expect(await verdict(assay, bearer(UNKNOWN_TOKEN))).toBe('429 TOO_MANY_FAILURES');
    expect(await verdict(assay, bearer(anna))).toBe('200');
    expect(await verdict(assay)).toBe('200');
  });
});

describe('an address other than loopback', () => {
  const listen = (home: string, env: Record<string, string> = {}): ReturnType<typeof runAssay> =>
    runAssay(
      ['serve', '--config', writeConfig(servers), '--host', '0.0.0.0', '--port', '0', '--home', home],
      { env },
    );

  it('is served if a valid MCP token exists, and then every request needs one', async () => {
    const home = tempDir();
    const anna = await keepToken(home, 'anna');
    const assay = await startGateway({ servers, home, host: '0.0.0.0' });
    expect(await verdict(assay)).toBe('401 TOKEN_REQUIRED');
    expect(await verdict(assay, bearer(anna))).toBe('200');
  });

  it('is refused if no valid token grants MCP access', async () => {
    const home = tempDir();
    await keepToken(home, 'reader', { scopes: ['read'] });
    await keepToken(home, 'old', { lifetimeMs: 0 });
    const { code, stdout, stderr } = await listen(home);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('assay token create');
  });

  it('is refused if ASSAY_TOKEN is too short, even if other tokens exist', async () => {
    const home = tempDir();
    await keepToken(home, 'anna');
    const { code, stderr } = await listen(home, { ASSAY_TOKEN: 'secret-of-15-ch' });
    expect(code).toBe(3);
    expect(stderr).not.toContain('secret-of-15-ch');
  });
});

describe('a store damaged while Assay runs', () => {
  it('is reported in the log, and valid tokens keep working', async () => {
    const home = tempDir();
    const token = await keepToken(home, 'laptop');
    const assay = await startGateway({ servers, home, env: { ASSAY_MCP_ACCESS: 'token' } });
    const path = join(home, 'assay.db');
    await until('the store rests', () => (existsSync(`${path}-wal`) ? undefined : true), 30_000);
    writeFileSync(path, Buffer.concat([Buffer.alloc(4096), readFileSync(path).subarray(4096)]));
    await until('the log tells it', () =>
      /"level":50.*is damaged: /.test(assay.stderr()) ? true : undefined,
    );
    await sleep(2_500);
    expect(await verdict(assay, bearer(token))).toBe('200');
    expect(await verdict(assay)).toBe('401 TOKEN_REQUIRED');
    expect(existsSync(path)).toBe(false);
  });
});
