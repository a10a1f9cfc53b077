import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verdictOf } from '../support/admin.ts';
import { runAssay } from '../support/commands.ts';
import { newKey, writeKeyFile } from '../support/encryption-keys.ts';
import { until } from '../support/endings.ts';
import { at, listAt, textAt, type Json } from '../support/json.ts';
import { startGateway } from '../support/gateway.ts';
import { tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { callText, listedTool, openRestWorld, serveApi } from '../support/rest-tools.ts';
import { rawRows } from '../support/stores.ts';

const TOKEN = 'bearer-Qw92Er73';

describe('encryption keys in a file', () => {
  it('are replaced while the gateway runs: the next one first, `store rekey`, then the former one is removed', async () => {
    const api = await serveApi();
    const home = tempDir();
    const file = join(home, 'keys');
    const [former, next] = [newKey(), newKey()];
    writeKeyFile(file, former);
    const env = { ASSAY_KEY_FILE: file };
    const { assay, admin } = await openRestWorld({ home, env });
    const create = async (name: string): Promise<void> => {
      const auth = { type: 'bearer', token: TOKEN };
      const tool = { name, url: `${api.url}/${name}`, method: 'GET', auth };
      expect(verdictOf(await admin.post('/tools', tool))).toBe('201');
    };
    const readKeyIds = async (): Promise<readonly unknown[]> => {
      const select = "select body_json from assay_records where kind = 'rest_tool' order by id_json";
      const rows = (await rawRows({ home, databaseUrl: undefined }, select)) as readonly Json[];
      return rows.map((row) => at(JSON.parse(textAt(row, 'body_json')) as Json, 'keyId'));
    };
    await create('one');
    const [formerId] = await readKeyIds();
    writeKeyFile(file, next, former);
    const rekeyed = await runAssay(['store', 'rekey', '--json', '--home', home], { env });
    expect(rekeyed.code).toBe(0);
    const report = JSON.parse(rekeyed.stdout) as Json;
    const nextId = at(report, 'key', 'id');
    expect(listAt(report, 'counts').find((one) => at(one, 'kind') === 'rest_tool')).toEqual({
      ...{ kind: 'rest_tool', current: 0, changed: 1, unreadable: 0, remaining: 0 },
    });
    expect(at(report, 'unusedKeys', 0, 'id')).toBe(formerId);
    expect(rekeyed.stderr).toContain('is no longer used in the store');
    expect(rekeyed.stderr).toContain(textAt(report, 'clientValuesExpireAt'));
    writeKeyFile(file, next);
    await create('two');
    expect(await readKeyIds()).toEqual([nextId, nextId]);
    const checked = await runAssay(['store', 'check', '--json', '--home', home], { env });
    expect(at(JSON.parse(checked.stdout) as Json, 'keys')).toEqual({
      ...{ sealed: 2, unopened: 0, unopenedRows: [] },
    });
    for (const name of ['one', 'two']) {
      expect(await callText(assay, name)).toBe('{"ok":true}');
      expect(api.seen.at(-1)).toMatchObject({ headers: { authorization: `Bearer ${TOKEN}` } });
    }
    expect(at(await assay.health(), 'keyFault')).toBeUndefined();
    expect(`${assay.stderr()}${rekeyed.stdout}${rekeyed.stderr}`).not.toMatch(
      new RegExp([former, next].map((key) => key.slice(0, 20).replaceAll(/[+/]/g, '\\$&')).join('|')),
    );
  });

  it('are refused at the start if the file is faulty, or both variables are set', async () => {
    const home = tempDir();
    const file = join(home, 'keys');
    const key = newKey();
    writeKeyFile(file, key, 'not a key', key);
    const start = (env: Record<string, string>): Promise<unknown> => startGateway({ home, env });
    await expect(start({ ASSAY_KEY_FILE: file })).rejects.toThrow(
      /line 2: it must be 32 random bytes .*; line 3: it is the same key as in line 1/,
    );
    writeKeyFile(file, key);
    await expect(start({ ASSAY_KEY_FILE: file, ASSAY_ENCRYPTION_KEY: key })).rejects.toThrow(
      /ASSAY_ENCRYPTION_KEY is set, too/,
    );
    const rekeyed = await runAssay(['store', 'rekey', '--home', home], {
      env: { ASSAY_KEY_FILE: join(home, 'none') },
    });
    expect(rekeyed).toMatchObject({ code: 3, stdout: '' });
    expect(rekeyed.stderr).toContain('there is no such file');
  });
});

describe('a replica with another key', () => {
  it('says so at its start, in /health and in `doctor`, and works again once its file has the right key', async () => {
    const api = await serveApi();
    const databaseUrl = await newDatabase();
    const homes = [tempDir(), tempDir()] as const;
    const files = homes.map((home) => join(home, 'keys')) as [string, string];
    const [right, wrong] = [newKey(), newKey()];
    writeKeyFile(files[0], right);
    writeKeyFile(files[1], wrong);
    const envOf = (index: 0 | 1): Record<string, string> => ({
      ASSAY_DATABASE_URL: databaseUrl,
      ASSAY_KEY_FILE: files[index],
    });
    const one = await openRestWorld({ home: homes[0], env: envOf(0) });
    const auth = { type: 'bearer', token: TOKEN };
    const tool = { name: 'shared', url: `${api.url}/shared`, method: 'GET', auth };
    expect(verdictOf(await one.admin.post('/tools', tool))).toBe('201');
    const two = await openRestWorld({ home: homes[1], env: envOf(1) });
    expect(at(await one.assay.health(), 'keyFault')).toBeUndefined();
    const health = await two.assay.health();
    expect(at(health, 'status')).toBe('degraded');
    expect(textAt(health, 'keyFault')).toContain('The store was encrypted with the key');
    expect(two.assay.stderr()).toContain('"code":"KEY_DIFFERS"');
    expect(await listedTool(two.assay.url, 'shared')).toBeUndefined();
    const doctor = await runAssay(['doctor', '--offline', '--json', '--home', homes[1]], { env: envOf(1) });
    const findings = listAt(JSON.parse(doctor.stdout) as Json, 'findings');
    expect(findings.find((found) => at(found, 'code') === 'KEY_DIFFERS')).toMatchObject({ level: 'problem' });
    const rekeyed = await runAssay(['store', 'rekey', '--home', homes[1]], { env: envOf(1) });
    expect(rekeyed.code).toBe(1);
    expect(rekeyed.stderr).toContain('rest_tool "shared": none of the keys decrypts it');
    expect(at(await one.assay.health(), 'keyFault')).toBeUndefined();

    writeKeyFile(files[1], wrong, right);
    await until('the fault is gone', async () =>
      at(await two.assay.health(), 'keyFault') === undefined ? true : undefined,
    );
    await until('the tool is listed', () => listedTool(two.assay.url, 'shared'));
    expect(await callText(two.assay, 'shared')).toBe('{"ok":true}');
  });
});
