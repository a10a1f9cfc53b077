import { statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { indexAndEmbed } from '../src/indexing/index-and-embed.ts';
import type { FileProcessor } from '../src/indexing/index-run.ts';
import { STAMP_MARGIN_MS } from '../src/store/file-stamp.ts';
import { readPragma } from '@assay-mcp/kit/platform/sqlite';
import { IN_THREAD, makeRepository, runOptions, type IndexedRepository } from './indexed-repository.ts';

const GREET = 'export function greet(name) {\n  return `hello ${name}`;\n}\n';
const PART = 'import os\n\ndef part_with(money):\n    return os.getcwd()\n';

/** Runs the indexer, and returns its file counts and status as text. */
async function counts(
  repository: IndexedRepository,
  options?: Parameters<IndexedRepository['run']>[0],
): Promise<string> {
  const report = await repository.run(options);
  const { files_indexed: indexed, files_total: total, files_deleted: gone, status } = report;
  return `${indexed} indexed, ${total - indexed} unchanged, ${gone} removed: ${status}`;
}

/** Processes files, and records their paths. */
function watched(paths: string[], before: (path: string) => void = () => undefined): FileProcessor {
  return {
    async *processAll(files, options) {
      for await (const processed of IN_THREAD.processAll(files, options)) {
        before(processed.file.path);
        paths.push(processed.file.path);
        yield processed;
      }
    },
  };
}

it('added, changed, deleted and restored files are found in their current state', async () => {
  const repository = makeRepository({ 'src/greet.js': GREET, 'part.py': PART });
  expect(await counts(repository)).toBe('2 indexed, 0 unchanged, 0 removed: success');
  expect(repository.find('hello')).toEqual(['src/greet.js']);

  repository.write({
    'src/greet.js': GREET.replace('hello', 'welcome'),
    'new.py': 'def fresh():\n    pass\n',
  });
  expect(await counts(repository)).toBe('2 indexed, 1 unchanged, 0 removed: success');
  expect([repository.find('hello'), repository.find('welcome'), repository.find('fresh')]).toEqual([
    [],
    ['src/greet.js'],
    ['new.py'],
  ]);

  repository.remove('src');
  expect(await counts(repository)).toBe('0 indexed, 2 unchanged, 1 removed: success');
  expect(repository.find('welcome')).toEqual([]);

  repository.write({ 'src/greet.js': GREET });
  expect(await counts(repository)).toBe('1 indexed, 2 unchanged, 0 removed: success');
  const changed = repository.dump();
  expect(repository.find('hello')).toEqual(['src/greet.js']);

  // A forced run produces the same chunks with the same ids.
  repository.remove('new.py');
  expect(await counts(repository, { force: true })).toBe('2 indexed, 0 unchanged, 1 removed: success');
  expect(repository.dump()).toEqual(changed.filter((row) => !row.includes('new.py')));
});

it('a file that was only touched is read once more, but not indexed again', async () => {
  const repository = makeRepository({ 'greet.js': GREET, 'part.py': PART });
  await repository.run();
  utimesSync(join(repository.root, 'part.py'), 1_000, 1_000);
  const read: string[] = [];
  const touched = { processor: watched(read) };
  expect(await counts(repository, touched)).toBe('0 indexed, 2 unchanged, 0 removed: success');
  expect(await counts(repository, touched)).toBe('0 indexed, 2 unchanged, 0 removed: success');
  expect(read).toEqual(['part.py']);
});

it('a change that preserves size and modification time is detected', async () => {
  const repository = makeRepository({ 'part.py': PART });
  const path = join(repository.root, 'part.py');
  utimesSync(path, 1_000, 1_000);
  await repository.run();
  const before = statSync(path);
  repository.write({ 'part.py': PART.replace('money', 'honey') });
  utimesSync(path, 1_000, 1_000);
  expect(statSync(path)).toMatchObject({ size: before.size, mtimeMs: before.mtimeMs });
  expect(await counts(repository)).toBe('1 indexed, 0 unchanged, 0 removed: success');
  expect(repository.find('honey')).toEqual(['part.py']);
});

it('a file is read by every run as long as its last change is recent', async () => {
  const repository = makeRepository({ 'part.py': PART });
  const read: string[] = [];
  const options = { stampMarginMs: STAMP_MARGIN_MS, processor: watched(read) };
  for (const each of ['1 indexed, 0', '0 indexed, 1', '0 indexed, 1'])
    expect(await counts(repository, options)).toBe(`${each} unchanged, 0 removed: success`);
  expect(read).toEqual(['part.py', 'part.py', 'part.py']);
  // Once it has settled, its stamp is enough.
  await repository.run({ processor: watched(read) });
  await repository.run({ processor: watched(read) });
  expect(read).toHaveLength(4);
});

it('an interrupted run leaves the index unchanged, and the next run reuses what it has read', async () => {
  const names = Array.from({ length: 9 }, (_, index) => `file${index}.js`);
  const texts = (word: string): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, `export const ${word} = '${name}';\n`]));
  const repository = makeRepository(texts('former'));
  await repository.run();
  const former = repository.dump();

  repository.write(texts('latter'));
  const stop = new AbortController();
  const processor = watched([], (path) => {
    if (path === 'file5.js') stop.abort();
  });
  await expect(repository.run({ processor, signal: stop.signal })).rejects.toThrow('aborted');
  expect(repository.dump()).toEqual(former);

  // A file changed after the interrupted run read it is read again, and deleted content does not come back.
  repository.write({ 'file0.js': 'export const latest = 0;\n' });
  repository.remove('file1.js');
  const read: string[] = [];
  const resumed = { processor: watched(read) };
  expect(await counts(repository, resumed)).toBe('8 indexed, 0 unchanged, 1 removed: success');
  expect(read).toEqual(['file0.js', 'file5.js', 'file6.js', 'file7.js', 'file8.js']);
  expect(repository.find('former')).toEqual([]);

  const resumedRows = repository.dump();
  await repository.run({ force: true });
  expect(resumedRows).toEqual(repository.dump());
});

it('superseded rows left by a killed run are deleted by the next run', async () => {
  const repository = makeRepository({ 'greet.js': GREET, 'part.py': PART });
  await repository.run();
  const countRows = (): Promise<unknown> =>
    repository.opened((database) =>
      database
        .prepare(
          `SELECT (SELECT count(*) FROM files) AS files, (SELECT count(*) FROM chunks) AS chunks,
           (SELECT count(*) FROM chunk_terms) AS terms`,
        )
        .get(),
    );
  const before = await countRows();
  await repository.opened((database) =>
    database.exec("UPDATE files SET state = 'superseded' WHERE path = 'part.py'"),
  );
  expect(await counts(repository)).toBe('1 indexed, 1 unchanged, 0 removed: success');
  expect(await countRows()).toEqual(before);
});

it('a new chunker version reads all files again, once', async () => {
  const repository = makeRepository({ 'greet.js': GREET });
  await repository.run();
  expect(await counts(repository, { chunkerVersion: 2 })).toBe('1 indexed, 0 unchanged, 0 removed: success');
  expect(await counts(repository, { chunkerVersion: 2 })).toBe('0 indexed, 1 unchanged, 0 removed: success');
});

it('a run that finds no files fails, says why, and empties the index', async () => {
  const repository = makeRepository({ 'greet.js': GREET, 'logo.png': 'PNG' });
  await repository.run();
  repository.write({ '.mcpignore': '*.js\n.*\n' });
  const report = await repository.run();
  expect(report).toMatchObject({ status: 'failed', files_deleted: 1, skipped: { ignored: 2, binary: 1 } });
  expect(report.errors).toEqual([
    `No files to index in ${JSON.stringify(repository.root)}: all of its entries were skipped (2 matched by .gitignore, .mcpignore or .git/info/exclude, 1 binary; a skipped directory counts once).`,
  ]);
  expect(repository.find('hello')).toEqual([]);
});

it('an unreadable file makes the run partial and keeps its former content; a deleted file does not', async () => {
  const repository = makeRepository({ 'greet.js': GREET, 'part.py': PART, 'gone.js': GREET });
  await repository.run();
  const failing: FileProcessor = {
    async *processAll(files) {
      for (const file of files) {
        if (file.path === 'gone.js') repository.remove('gone.js');
        yield { file, outcome: { outcome: 'skipped', reason: 'unreadable' } };
      }
    },
  };
  repository.write({ 'part.py': `${PART}\n`, 'gone.js': '' });
  const report = await repository.run({ processor: failing });
  expect(report).toMatchObject({ status: 'partial', files_indexed: 0, files_total: 2, files_deleted: 1 });
  expect(report.errors).toEqual(['part.py: it could not be read; its former content stays in the index']);
  expect(repository.find('money')).toEqual(['part.py']);
  expect(await counts(repository)).toBe('1 indexed, 1 unchanged, 0 removed: success');
});

it('only the first 50 errors are listed, and the others counted', async () => {
  const repository = makeRepository(
    Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`${index}.js`, GREET])),
  );
  const failing: FileProcessor = {
    async *processAll(files) {
      for (const file of files) yield { file, outcome: { outcome: 'skipped', reason: 'changing' } };
    },
  };
  const { errors } = await repository.run({ processor: failing });
  expect(errors).toHaveLength(51);
  expect(errors.at(-1)).toBe('and 10 more');
});

it('an index that cannot grow is reported, and is left unchanged', async () => {
  const repository = makeRepository({ 'part.py': PART });
  await repository.run();
  const former = repository.dump();
  repository.write({
    'part.py': GREET,
    ...Object.fromEntries('abcdefghij'.split('').map((name) => [`${name}.txt`, `${name}\n`.repeat(20_000)])),
  });
  const refused = await repository.opened((database) => {
    database.exec(`PRAGMA max_page_count = ${Number(readPragma(database, 'page_count')) + 20}`);
    return indexAndEmbed({
      ...runOptions(database, repository.root),
      ...{ path: 'index.db', maxIndexBytes: 1, embeddings: undefined },
    });
  });
  expect(refused).toEqual({ ok: false, error: { code: 'INDEX_FULL', maxBytes: 1 } });
  expect(repository.dump()).toEqual(former);
  expect(await counts(repository)).toBe('11 indexed, 0 unchanged, 0 removed: success');
});
