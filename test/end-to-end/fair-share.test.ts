import { beforeAll, describe, expect, it } from 'vitest';
import { mintToken } from '../../packages/gateway/src/adapters/auth/mint-token.ts';
import { createToken, revokeToken } from '../../packages/gateway/src/gateway/services/tokens.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater, sleep, until } from '../support/endings.ts';
import { openMany } from '../support/flood.ts';
import { openStream, send, type Stream } from '../support/http.ts';
import { at } from '../support/json.ts';
import { openSession, type LegacySession } from '../support/legacy.ts';
import { modernSend, modernStream } from '../support/modern.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { tryStore, valueOf } from '../support/store-values.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const MAX = 6;
const RESERVE = 2;

interface Tokens {
  readonly greedy: string;
  readonly modest: string;
  readonly admin: string;
}

describe('a token holder that exceeds its fair share', () => {
  let assay: Gateway;
  let tokens: Tokens;

  beforeAll(async () => {
    const home = tempDir();
    tokens = {
      greedy: await keepToken(home, 'greedy'),
      modest: await keepToken(home, 'modest'),
      admin: await keepToken(home, 'admin', { scopes: ['admin'] }),
    };
    assay = await startGateway({
      servers: { plain: fixture('plain'), own: fixture('plain', [], { isolation: 'session' }) },
      settings: {
        settings: {
          'mcp.access': 'token',
          'limits.connections': MAX,
          'limits.sessions': 4,
        },
      },
      limits: { adminConnections: RESERVE },
      home,
    });
  });

  const listen = (token: string): Promise<Stream> =>
    modernStream(assay.url, 'subscriptions/listen', {
      id: 'sub',
      params: { notifications: { toolsListChanged: true } },
      headers: bearer(token),
    });
  const isOpen = async ({ ended }: Stream): Promise<boolean> =>
    Promise.race([ended.then(() => false), sleep(50).then(() => true)]);
  const countOpen = async (streams: readonly Stream[]): Promise<number> =>
    (await Promise.all(streams.map(isOpen))).filter(Boolean).length;
  const tokenList = async (): Promise<number> =>
    (await send(`http://127.0.0.1:${assay.port}/tokens`, { method: 'GET', headers: bearer(tokens.admin) }))
      .status;

  it('loses its oldest connections to others, and takes none of theirs', async () => {
    const greedy: Stream[] = [];
    for (let count = 0; count < MAX; count += 1) greedy.push(await listen(tokens.greedy));
    expect(await countOpen(greedy)).toBe(MAX);

    const refused = await modernSend(assay.url, 'tools/list', { headers: bearer(tokens.greedy) });
    expect([refused.status, at(refused.json(), 'error', 'data', 'code')]).toEqual([503, 'CONNECTION_LIMIT']);

    const modest = [await listen(tokens.modest), await listen(tokens.modest)];
    expect(modest.map(({ status }) => status)).toEqual([200, 200]);
    await until('the two oldest are closed', async () =>
      (await countOpen(greedy)) === MAX - 2 ? true : undefined,
    );
    expect(await countOpen(greedy.slice(0, 2))).toBe(0);

    for (let count = 0; count < MAX; count += 1) {
      const answer = await modernSend(assay.url, 'tools/list', { headers: bearer(tokens.greedy) });
      expect(answer.status).toBe(503);
    }
    expect(await countOpen(modest)).toBe(2);

    // All connections are in use, some of them silent; the operator still gets in.
    await openMany(assay.port, 3 * RESERVE);
    expect(await tokenList()).toBe(200);
    const health = await send(`http://127.0.0.1:${assay.port}/health`, {
      method: 'GET',
      headers: bearer(tokens.admin),
    });
    expect(health.status).toBe(200);
    for (const stream of [...greedy, ...modest]) stream.cut();
    await until('there is room again', async () =>
      (await modernSend(assay.url, 'tools/list', { headers: bearer(tokens.greedy) })).status === 200
        ? true
        : undefined,
    );
  });

  it('loses its own sessions to others, and takes none of theirs', async () => {
    const params = { name: 'own_echo', arguments: { text: 'x' } };
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    // A session that made room continues, but has lost its process.
    const call = async (session: LegacySession): Promise<boolean> =>
      !(await session.post(body)).text.includes('SERVER_STATE_LOST');
    const begin = async (token: string): Promise<LegacySession> => {
      const session = await openSession(assay.url, { headers: bearer(token) });
      expect(await call(session)).toBe(true);
      return session;
    };
    const modest = await begin(tokens.modest);
    const greedy = [];
    for (let count = 0; count < 8; count += 1) greedy.push(await begin(tokens.greedy));
    expect(await call(modest)).toBe(true);
    const second = await begin(tokens.modest);
    const haveProcess = [];
    for (const session of [...greedy, modest, second]) haveProcess.push(await call(session));
    expect(haveProcess).toEqual([...Array<boolean>(8).fill(false), true, true]);
  });
});

describe('a leaked token', () => {
  it('loses its streams when revoked; a new token of the same name works at once and keeps its own', async () => {
    const home = tempDir();
    const leaked = await keepToken(home, 'ci', { scopes: ['mcp', 'read'] });
    const assay = await startGateway({ servers: { c: fixture('cancellable') }, home });
    const store = valueOf(await tryStore({ home, databaseUrl: undefined }));
    endLater(() => store.close());
    const open = async (token: string): Promise<readonly Stream[]> => {
      const session = await openSession(assay.url, { headers: bearer(token) });
      return Promise.all([
        session.listen(),
        // Its progress notifications open the stream at once.
        session.stream('tools/call', {
          name: 'c_endless',
          arguments: {},
          _meta: { progressToken: 1 },
        }),
        modernStream(assay.url, 'subscriptions/listen', {
          id: 'sub',
          params: { notifications: { toolsListChanged: true } },
          headers: bearer(token),
        }),
        openStream(`http://127.0.0.1:${assay.port}/events`, { method: 'GET', headers: bearer(token) }),
      ]);
    };
    const session = await openSession(assay.url, { headers: bearer(leaked) });
    const old = await open(leaked);
    expect(old.map(({ status }) => status)).toEqual([200, 200, 200, 200]);

    const asking = { store, nowMs: Date.now(), by: 'local' };
    valueOf(await revokeToken('ci', asking));
    const input = { name: 'ci', scopes: ['mcp', 'read'], lifetimeMs: undefined } as const;
    const renewed = valueOf(await createToken(input, { ...asking, mint: mintToken })).token;

    // No waiting: a token that another process has just created must work at once.
    const answer = await modernSend(assay.url, 'tools/list', { headers: bearer(renewed) });
    expect(answer.status).toBe(200);
    const fresh = await open(renewed);
    await Promise.all(old.map(({ ended }) => ended));
    const { authorization: _, ...nameless } = session.headers;
    const taken = await send(assay.url, {
      headers: { ...nameless, ...bearer(renewed) },
      body: '{"jsonrpc":"2.0","id":"p","method":"ping"}',
    });
    expect([taken.status, at(taken.json(), 'error', 'data', 'code')]).toEqual([404, 'SESSION_UNKNOWN']);
    // Longer than the interval at which Assay checks its streams.
    await sleep(2_500);
    for (const stream of fresh)
      expect(await Promise.race([stream.ended.then(() => 'ended'), sleep(20).then(() => 'open')])).toBe(
        'open',
      );
  });

  it('is refused, and its streams end, once the REST API has confirmed the revocation', async () => {
    const home = tempDir();
    const leaked = await keepToken(home, 'leaked');
    const admin = await keepToken(home, 'admin', { scopes: ['admin'] });
    const assay = await startGateway({ servers: { plain: fixture('plain') }, home });
    const stream = await modernStream(assay.url, 'subscriptions/listen', {
      id: 'sub',
      params: { notifications: { toolsListChanged: true } },
      headers: bearer(leaked),
    });
    const id = leaked.split('_')[1] ?? '';
    const url = `http://127.0.0.1:${assay.port}/tokens/${id}`;
    expect((await send(url, { method: 'DELETE', headers: bearer(admin) })).status).toBe(204);
    expect((await modernSend(assay.url, 'tools/list', { headers: bearer(leaked) })).status).toBe(401);
    await stream.ended;
    const own = admin.split('_')[1] ?? '';
    const itself = await send(url.replace(id, own), { method: 'DELETE', headers: bearer(admin) });
    expect(itself.status).toBe(204);
  });
});

it('a client that saturates a server with endless calls does not block other tokens', async () => {
  const home = tempDir();
  const [greedy, modest, admin] = await Promise.all([
    keepToken(home, 'greedy'),
    keepToken(home, 'modest'),
    keepToken(home, 'admin', { scopes: ['admin'] }),
  ]);
  const assay = await startGateway({
    servers: { c: fixture('cancellable', [], { timeoutMs: scaledMs(20_000) }) },
    settings: { settings: { 'mcp.access': 'token', 'limits.requestsPerServer': 8 } },
    home,
  });
  const call = (token: string, name: string): Promise<{ readonly text: string }> =>
    modernSend(assay.url, 'tools/call', { params: { name, arguments: {} }, headers: bearer(token) });
  expect((await call(modest, 'c_talk')).text).toContain('talked');
  let ended = 0;
  for (let calls = 0; calls < 10; calls += 1)
    void call(greedy, 'c_wait')
      .catch(() => undefined)
      .finally(() => (ended += 1));
  const metrics = `http://127.0.0.1:${assay.port}/metrics`;
  await until('calls wait', async () =>
    /^assay_queue_length\{[^}]*\} [23]$/m.test(
      (await send(metrics, { method: 'GET', headers: bearer(admin) })).text,
    )
      ? true
      : undefined,
  );
  for (let calls = 0; calls < 3; calls += 1) expect((await call(modest, 'c_talk')).text).toContain('talked');
  expect(ended).toBe(0);
});
