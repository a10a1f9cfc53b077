import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { restoreSqlite } from '../../../src/adapters/store/sqlite-backup.ts';
import { ROOT } from '../../../../../test/support/paths.ts';
import { valueOf } from '../../../../../test/support/store-values.ts';
import {
  createTokenBackup,
  createTokenStore,
  listTokenIds,
  readTokenIds,
} from '../../../../../test/support/token-store.ts';

it('a restore that was killed at any step leaves the old store or the new one, and nothing after the next', async () => {
  const backup = await createTokenBackup('new');
  const script = join(ROOT, 'test', 'fixtures', 'dying-restore.ts');
  const seen = new Set<string>();
  for (let step = 1; ; step += 1) {
    const place = await createTokenStore('old');
    const args = [...process.execArgv, script, place.home, backup, String(step)];
    const { signal, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    if (signal === null) {
      expect([step - 1, stderr]).toEqual([Number(stdout), '']);
      break;
    }
    const [found = ''] = readTokenIds(join(place.home, 'assay.db')) as readonly string[];
    expect(await listTokenIds(place)).toEqual([found]);
    const kept = readdirSync(place.home).filter((name) => /^assay\.db\.\d{4}/.test(name));
    if (found === 'new') expect(kept.map((name) => readTokenIds(join(place.home, name)))).toEqual([['old']]);
    seen.add(found);
    valueOf(await restoreSqlite(place.home, backup));
    expect(await listTokenIds(place)).toEqual(['new']);
    const names = readdirSync(place.home).filter((name) => !/^assay\.db\.\d{4}/.test(name));
    expect([step, ...names.sort()]).toEqual([step, 'assay.db', 'assay.db.lock']);
  }
  expect(seen).toEqual(new Set(['old', 'new']));
});
