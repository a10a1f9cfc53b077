import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { adminClient, verdictOf } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { newKey } from '../support/encryption-keys.ts';
import { startGateway } from '../support/gateway.ts';
import { at, type Json, listAt, parseJson, textAt } from '../support/json.ts';
import { tempDir, writeConfig } from '../support/paths.ts';
import { fillSealed } from '../support/sealed-rows.ts';
import { openAt } from '../support/stores.ts';
import { keepToken } from '../support/tokens.ts';

const PASSWORD = 'not-to-be-shown';

it('assay store backs up beside a running gateway, restores once that has ended, and checks', async () => {
  const home = tempDir();
  const config = writeConfig({});
  const file = join(tempDir(), 'backup.db');
  const run = (...args: readonly string[]): ReturnType<typeof runAssay> =>
    runAssay(['store', ...args, '--home', home, '--config', config], {});
  const token = await keepToken(home, 'boss', { scopes: ['admin', 'execute'] });
  const assay = await startGateway({ home, config });
  const admin = adminClient(assay, token);
  expect(verdictOf(await admin.ask('PUT', '/secrets/tok', { body: { value: 's3cr3t-0123456789' } }))).toBe(
    '200',
  );

  const backedUp = await run('backup', file);
  expect([backedUp.code, backedUp.stdout]).toEqual([0, expect.stringContaining('Wrote ')]);
  expect(backedUp.stderr).toContain('encryption.key');
  expect((await run('backup', file)).code).toBe(3);
  const refused = await run('restore', file);
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('already serves this home')]);

  await adminClient(assay, token).post('/tokens', { name: 'later', scopes: ['read'] });
  await assay.stop();
  const restored = await run('restore', file, '--json');
  expect([restored.code, restored.stderr]).toEqual([0, expect.stringContaining('valid again')]);
  expect(at(parseJson(restored.stdout), 'keptAs')).toMatch(/assay\.db\.\d{4}-/);
  expect(readdirSync(home)).toContain('assay.db');

  const sound = await run('check', '--json');
  expect([sound.code, parseJson(sound.stdout)]).toEqual([
    0,
    expect.objectContaining({ state: 'whole', keys: { sealed: 1, unopened: 0, unopenedRows: [] } }),
  ]);
  renameSync(join(home, 'encryption.key'), join(home, 'other.key'));
  const keyless = await run('check');
  expect([keyless.code, keyless.stdout]).toEqual([
    1,
    expect.stringContaining('cannot be decrypted: secret "tok"'),
  ]);
});

it('assay store check and rekey name the same rows, of every kind, that no key of the home decrypts', async () => {
  const home = tempDir();
  const store = await openAt({ home, databaseUrl: undefined });
  await fillSealed(store, newKey(), 1);
  await store.close();
  const run = async (what: string): Promise<Json> => {
    const args = ['store', what, '--json', '--home', home, '--config', writeConfig({})];
    return JSON.parse((await runAssay(args, { env: { ASSAY_ENCRYPTION_KEY: newKey() } })).stdout) as Json;
  };
  const namesOf = (rows: readonly Json[]): readonly string[] =>
    rows.map((row) => `${textAt(row, 'kind')} ${textAt(row, 'id')}`).toSorted();
  const checked = namesOf(listAt(await run('check'), 'keys', 'unopenedRows'));
  expect(checked).toEqual([
    'challenge n0 as local',
    'function_module n0',
    'gateway n0',
    'rest_tool n0',
    'secret n0',
    'sign_in n0 as local',
  ]);
  expect(namesOf(listAt(await run('rekey'), 'unreadable'))).toEqual(checked);
});

it('assay store names the tools of PostgreSQL, without the password', async () => {
  const env = { ASSAY_DATABASE_URL: `postgres://me:${PASSWORD}@db.example:5432/assay?sslmode=require` };
  const run = async (what: string): Promise<string> => {
    const args = ['store', what, 'my file.dump', '--home', tempDir(), '--config', writeConfig({})];
    const { code, stdout, stderr } = await runAssay(args, { env });
    expect([code, stdout, stderr.includes(PASSWORD)]).toEqual([2, '', false]);
    return stderr;
  };
  const url = 'postgres://me@db.example:5432/assay';
  expect(await run('backup')).toContain(`pg_dump '--dbname=${url}?sslmode=require' '--format=custom'`);
  const restore = await run('restore');
  expect(restore).toContain(`createdb '--maintenance-db=${url}?sslmode=require' assay_restored`);
  expect(restore).toMatch(/pg_restore .*assay_restored\?sslmode=require.* '[^']*my file\.dump'/);
});
