import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import { CLIENT_VALUE_LIFETIME_MS } from '../../src/core/client-values.ts';
import { createSignedTaskIds } from '../../src/adapters/auth/task-ids.ts';
import { openTaskIds } from '../../src/app/keys.ts';
import type { Store } from '../../src/gateway/ports/store.ts';
import type { TaskAccess } from '../../src/gateway/ports/sealing.ts';
import { keysIn, newKey, writeKeyFile } from '../../../../test/support/encryption-keys.ts';
import { tempDir } from '../../../../test/support/paths.ts';
import { openAt } from '../../../../test/support/stores.ts';
import { valueOf } from '../../../../test/support/store-values.ts';
import { SILENT } from '../gateway/listed-server.ts';

/** Task ids of a process with the keys of a file; `env` may name a database, which this store stands for. */
function openIds(store: Store, home: string, env: Record<string, string> = {}): TaskAccess['ids'] {
  const file = env['ASSAY_KEY_FILE'];
  return openTaskIds({
    keys: keysIn(home, { file }),
    configEnvironment: { env, cwd: home, home },
    log: SILENT,
    store: {
      isOpen: true,
      start: () => Promise.resolve(),
      open: () => Promise.resolve({ ok: true, value: store }),
    },
  });
}

const TASK = { server: 'a', inner: 't' };

afterEach(() => {
  vi.useRealTimers();
});

it('ids of tasks are signed with the newest key, and valid while their own key is in the file', async () => {
  const home = tempDir();
  const store = await openAt({ home, databaseUrl: undefined });
  const file = join(home, 'keys');
  const [former, next] = [newKey(), newKey()];
  const env = { ASSAY_KEY_FILE: file };
  writeKeyFile(file, former);
  const before = (await openIds(store, home, env)()).wrap('a', 'me', 't');
  writeKeyFile(file, next, former);
  const ids = await openIds(store, home, env)();
  expect(ids.unwrap(before, 'me')).toEqual(TASK);
  const after = ids.wrap('a', 'me', 't');
  expect(after).not.toBe(before);
  writeKeyFile(file, next);
  const late = await openIds(store, home, env)();
  expect(late.unwrap(after, 'me')).toEqual(TASK);
  expect(late.unwrap(before, 'me')).toBeUndefined();
});

it('ids of tasks under a key of the store are valid for a day after keys were derived first', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const home = tempDir();
  const store = await openAt({ home, databaseUrl: undefined });
  const shared = { ASSAY_DATABASE_URL: 'postgres://database.example/assay' };
  const before = (await openIds(store, home, shared)()).wrap('a', 'me', 't');
  const other = await openIds(store, tempDir(), shared)();
  expect(other.unwrap(before, 'me')).toEqual(TASK);
  const [stored] = valueOf(await store.keys('task-ids'));
  const open = openIds(store, home);
  expect((await open()).unwrap(before, 'me')).toEqual(TASK);
  expect((await open()).wrap('a', 'me', 't')).not.toBe(before);
  vi.setSystemTime(Date.now() + CLIENT_VALUE_LIFETIME_MS);
  const forged = createSignedTaskIds([stored!.bytes]).wrap('b', 'me', 't');
  for (const ids of [await open(), await openIds(store, home)()])
    for (const id of [before, forged]) expect(ids.unwrap(id, 'me')).toBeUndefined();
});
