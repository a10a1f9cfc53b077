import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { watchFile } from '../../src/platform/watch-file.ts';
import { endLater, sleep, until } from '../../../../test/support/endings.ts';
import { tempDir } from '../../../../test/support/paths.ts';

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
