import { pbkdf2 } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { watchFile } from '../../src/platform/watch-file.ts';
import { endLater, sleep, until } from '../../../../test/support/endings.ts';
import { tempDir } from '../../../../test/support/paths.ts';

it('a change right after the call is reported, also if the file did not exist', async () => {
  const folder = tempDir();
  const paths = [join(folder, 'old'), join(folder, 'created')];
  writeFileSync(join(folder, 'old'), 'a');
  // Keeps the threads busy that ask the file system, so that they do so after the change.
  for (let thread = 0; thread < 16; thread += 1) pbkdf2('a', 'b', 100_000, 64, 'sha512', () => undefined);
  const changed = new Set<string>();
  for (const path of paths) {
    const watcher = watchFile(path, () => changed.add(path));
    endLater(async () => watcher.close());
    writeFileSync(path, 'ab');
  }
  await until('both are reported', () => (changed.size === 2 ? true : undefined));
});

it('a watched file is reported when it changes, but not when the store next to it is written', async () => {
  const folder = tempDir();
  const [config, store] = [join(folder, 'mcp.json'), join(folder, 'assay.db-wal')];
  for (const file of [config, store]) writeFileSync(file, '{}');
  let changes = 0;
  const watcher = watchFile(config, () => (changes += 1));
  endLater(async () => watcher.close());
  await sleep(200);
  for (let times = 0; times < 5; times += 1) {
    appendFileSync(store, 'x');
    await sleep(30);
  }
  writeFileSync(join(folder, 'new.db'), '');
  await sleep(300);
  expect(changes).toBe(0);
  appendFileSync(config, ' ');
  await until('the change is reported', () => (changes > 0 ? true : undefined));
});
