import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Indexer } from '../src/indexing/indexer.ts';
import { readIndexStatus } from '../src/indexing/index-status.ts';
import { IndexReader } from '../src/store/index-reader.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { writeIn } from './hint-checks.ts';

const MAX_BYTES = 1_500_000;
const indexer = new Indexer({ threads: 1, maxIndexBytes: MAX_BYTES });
afterAll(() => indexer.close());

/** A repository of so many files of 20 kB, with words of their own. */
function repository(files: number): string {
  const root = tempDir();
  for (let file = 0; file < files; file += 1) {
    const lines = Array.from({ length: 500 }, (_, line) => `word${file}x${line} is one of many words here`);
    writeIn(root, `${file}.txt`, lines.join('\n'));
  }
  return root;
}

function bytesOf(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

function filesIn(folder: string): number | undefined {
  const reader = new IndexReader(folder);
  const status = readIndexStatus(folder, reader);
  reader.close();
  return status.ok ? status.value.repositories.reduce((sum, { files }) => sum + files, 0) : undefined;
}

it('an index that would become too large is refused with what to do, and leaves nothing', async () => {
  const all = tempDir();
  const folder = join(all, 'one');
  const refused = { ok: false, error: { code: 'INDEX_FULL', maxBytes: MAX_BYTES } };
  expect(await indexer.indexRepository({ folder, path: repository(100) })).toEqual(refused);
  expect(bytesOf(all)).toBeLessThan(100_000);
});

it('what was indexed before stays searchable, and the space of the refused run is given back', async () => {
  const all = tempDir();
  const folder = join(all, 'one');
  expect(await indexer.indexRepository({ folder, path: repository(2) })).toMatchObject({ ok: true });
  const before = bytesOf(all);
  const large = repository(100);
  expect(await indexer.indexRepository({ folder, path: large })).toMatchObject({ ok: false });
  expect(filesIn(folder)).toBe(2);
  expect(bytesOf(all)).toBeLessThan(before * 1.5);
  const more = new Indexer({ threads: 1 });
  expect(await more.indexRepository({ folder, path: large })).toMatchObject({ ok: true });
  await more.close();
  expect(filesIn(folder)).toBe(102);
});

it('the bound is on the indexes of all projects together', async () => {
  const all = tempDir();
  const path = repository(8);
  let outcome: 'indexed' | 'refused' = 'indexed';
  let projects = 0;
  for (; outcome === 'indexed' && projects < 20; projects += 1)
    outcome = (await indexer.indexRepository({ folder: join(all, `p${projects}`), path })).ok
      ? 'indexed'
      : 'refused';
  expect([outcome, projects > 1]).toEqual(['refused', true]);
  expect(bytesOf(all)).toBeLessThan(MAX_BYTES * 1.2);
});
