// Legacy sessions and a database that is away for longer than what was read from it may be used.
import { expect, it } from 'vitest';
import { MAX_STALE_MS } from '../../packages/gateway/src/core/freshness.ts';
import { revokeToken } from '../../packages/gateway/src/gateway/services/tokens.ts';
import { endLater, until } from '../support/endings.ts';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { openPostgresLine } from '../support/postgres-line.ts';
import { tryStore, valueOf } from '../support/store-values.ts';
import { bearer, keepToken } from '../support/tokens.ts';

const PING = '{"jsonrpc":"2.0","id":"p","method":"ping"}';

it('a session whose token cannot be checked for a while goes on afterwards', async () => {
  const databaseUrl = await newDatabase();
  const line = await openPostgresLine(databaseUrl);
  const token = await keepToken(tempDir(), 'ada', { scopes: ['mcp'], databaseUrl });
  const env = { ASSAY_DATABASE_URL: line.url, ASSAY_MCP_ACCESS: 'token' };
  const gateway = await startGateway({ servers: { plain: fixture('plain') }, env });
  const session = await openSession(gateway.url, { headers: bearer(token) });
  const stream = await session.listen();
  line.cut('all');
  await until(
    'the token is refused',
    async () => ((await session.post(PING)).text.includes('STORE_STALE') ? true : undefined),
    3 * MAX_STALE_MS,
  );
  await stream.ended;
  line.restore();
  const answer = await until('the token is checked again', async () => {
    const pinged = await session.post(PING);
    return pinged.status === 503 ? undefined : pinged;
  });
  expect([answer.status, answer.json()]).toEqual([200, { jsonrpc: '2.0', id: 'p', result: {} }]);
});

it('a stream that is requested meanwhile has no messages until its token is checked', async () => {
  const databaseUrl = await newDatabase();
  const line = await openPostgresLine(databaseUrl);
  const keep = (name: string): Promise<string> =>
    keepToken(tempDir(), name, { scopes: ['mcp'], databaseUrl });
  const [token, revoked] = [await keep('ada'), await keep('eve')];
  const env = { ASSAY_DATABASE_URL: line.url, ASSAY_MCP_ACCESS: 'token' };
  const gateway = await startGateway({ servers: { plain: fixture('plain') }, env });
  const session = await openSession(gateway.url, { headers: bearer(token) });
  const leaver = await openSession(gateway.url, { headers: bearer(revoked) });
  const before = await leaver.listen();
  line.cut('all');
  await until(
    'the token is refused',
    async () => ((await session.post(PING)).text.includes('STORE_STALE') ? true : undefined),
    3 * MAX_STALE_MS,
  );
  await before.ended;
  const [held, ending] = [await session.listen(), await leaver.listen()];
  expect([held.status, ending.status]).toEqual([200, 200]);
  for (const stream of [held, ending]) await until('its comment', () => stream.events[0]?.comment);
  // A guessed token is refused as always.
  const guessed = {
    ...session.headers,
    ...bearer(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`),
  };
  expect((await send(gateway.url, { method: 'GET', headers: guessed })).status).toBe(401);
  const store = valueOf(await tryStore({ home: tempDir(), databaseUrl }));
  endLater(() => store.close());
  valueOf(await revokeToken('eve', { store, nowMs: Date.now(), by: 'local' }));
  expect([...held.messages(), ...ending.messages()]).toEqual([]);
  line.restore();
  await held.next('the lists', (one) => at(one, 'method') === 'notifications/tools/list_changed');
  await ending.ended;
  expect(ending.messages()).toEqual([]);
});
