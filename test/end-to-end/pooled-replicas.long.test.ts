import { expect, it } from 'vitest';
import { adminClient } from '../support/admin.ts';
import { startGateway } from '../support/gateway.ts';
import { at, textAt } from '../support/json.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { openPgBouncer } from '../support/pgbouncer.ts';
import { newDatabase } from '../support/postgres.ts';
import { scaledMs } from '../support/slow-machine.ts';
import { keepToken } from '../support/tokens.ts';

const BOUND_MS = scaledMs(10_000);

it('a replica behind a pooler in transaction mode is degraded, and follows disabled tools and revoked tokens', async () => {
  const databaseUrl = await newDatabase();
  const pooledUrl = await openPgBouncer(databaseUrl, 'transaction');
  const [boss, leaked] = await Promise.all(
    ['boss', 'leaked'].map((name) => keepToken(tempDir(), name, { scopes: ['admin'], databaseUrl })),
  );
  const start = async (url: string): ReturnType<typeof startGateway> => {
    const env = { ASSAY_DATABASE_URL: url };
    const assay = await startGateway({ servers: { plain: fixture('plain') }, home: tempDir(), env });
    await assay.settled();
    return assay;
  };
  const [direct, pooled] = [await start(databaseUrl), await start(pooledUrl)];
  const admin = adminClient(direct, boss);
  const there = adminClient(pooled, leaked);

  const tools = (await there.get('/tools?text=plain_echo')).json();
  const id = textAt(tools, 'tools', 0, 'id');
  expect((await admin.ask('PATCH', `/tools/${id}`, { body: { enabled: false } })).status).toBe(200);
  await expect
    .poll(async () => at((await there.get(`/tools/${id}`)).json(), 'enabled'), { timeout: BOUND_MS })
    .toBe(false);

  await expect.poll(async () => at(await pooled.health(), 'status'), { timeout: BOUND_MS }).toBe('degraded');
  expect(textAt(await pooled.health(), 'storeFault')).toMatch(/pooler in transaction mode/);
  expect(at(await direct.health(), 'status')).toBe('ok');

  expect((await admin.ask('DELETE', `/tokens/${leaked!.split('_')[1]}`)).status).toBe(204);
  await expect.poll(async () => (await there.get('/tools')).status, { timeout: BOUND_MS }).toBe(401);
});
