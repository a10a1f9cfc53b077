import { existsSync, readFileSync, rmSync } from 'node:fs';
import { afterAll, expect, it } from 'vitest';
import { until } from '../../../test/support/endings.ts';
import { walkRepository } from '../src/files/walk-repository.ts';
import { executeRun } from '../src/indexing/execute-run.ts';
import { Indexer, type UpdateOutcome } from '../src/indexing/indexer.ts';
import { removeRepository } from '../src/indexing/remove-repository.ts';
import { computeRepositoryId } from '../src/store/identifiers.ts';
import { getIndexPath } from '../src/store/index-file.ts';
import { IndexLock } from '../src/store/index-lock.ts';
import { IN_THREAD, type IndexedRepository, makeRepository } from './indexed-repository.ts';

const indexer = new Indexer({ threads: 1 });
afterAll(() => indexer.close());

const define = (name: string): string => `export function ${name}(): void {}\n`;

async function indexed(files: Readonly<Record<string, string>>): Promise<IndexedRepository> {
  const repository = makeRepository(files);
  const report = await indexer.indexRepository({ folder: repository.folder, path: repository.root });
  expect(report).toMatchObject({ ok: true });
  return repository;
}

function update(
  { folder, root: path }: IndexedRepository,
  changedPaths: readonly string[] = [],
): Promise<UpdateOutcome> {
  return indexer.updateRepository({ folder, path, protectedPaths: [], changedPaths });
}

it('an update writes nothing if nothing has changed, also of files that had just changed or are never indexed', async () => {
  const repository = await indexed({
    'a.ts': define('one'),
    'data.txt': `\0${'x'.repeat(100)}`,
    'one.js': 'x'.repeat(9_000),
  });
  const former = readFileSync(getIndexPath(repository.folder));
  repository.write({ 'a.ts': define('one') });
  expect((await update(repository)).result).toEqual({ ok: true, value: 'unchanged' });
  expect(readFileSync(getIndexPath(repository.folder))).toEqual(former);
  repository.write({ 'a.ts': define('two') });
  expect((await update(repository)).result).toMatchObject({ ok: true, value: { files_indexed: 1 } });
  expect(repository.find('two')).toEqual(['a.ts']);
  repository.remove('a.ts');
  repository.write({ 'b.ts': define('three') });
  expect((await update(repository)).result).toMatchObject({ value: { files_indexed: 1, files_deleted: 1 } });
});

it('an update says which folders matter, and which changed paths do not', async () => {
  const repository = await indexed({
    '.gitignore': '*.log\n/dist/\n',
    'src/a.ts': define('one'),
    'dist/a.js': define('one'),
    'node_modules/x/index.js': define('one'),
    'src/x.log': 'x',
  });
  const { directories, excluded } = await update(repository, [
    'src/a.ts',
    'src/x.log',
    'dist',
    'node_modules',
    'src/gone.ts',
  ]);
  expect(directories).toEqual(['', 'src/']);
  expect(excluded).toEqual(['dist', 'node_modules', 'src/x.log']);
});

it('an update neither creates an index, nor brings back a repository that was removed, nor empties one', async () => {
  const repository = makeRepository({ 'a.ts': define('one') });
  expect((await update(repository)).result).toMatchObject({ error: { code: 'NOT_INDEXED' } });
  const known = await indexed({ 'a.ts': define('one') });
  known.remove('a.ts');
  expect((await update(known)).result).toEqual({ ok: true, value: 'unchanged' });
  expect(known.find('one')).toEqual(['a.ts']);
  await known.opened((database) => {
    database.prepare('UPDATE repositories SET indexed_at = NULL').run();
  });
  expect((await update(known)).result).toEqual({ ok: true, value: 'removed' });
  rmSync(known.root, { recursive: true });
  expect((await update(known)).result).toMatchObject({ error: { code: 'PATH_INVALID' } });
});

it('an index of a newer version stays as it is', async () => {
  const repository = await indexed({ 'a.ts': define('one') });
  repository.write({ 'a.ts': define('two') });
  await repository.opened((database) => {
    database.prepare('UPDATE repositories SET chunker_version = chunker_version + 1').run();
  });
  expect((await update(repository)).result).toEqual({ ok: true, value: 'unchanged' });
  await repository.opened((database) => {
    database.prepare('UPDATE repositories SET chunker_version = chunker_version - 2').run();
  });
  expect((await update(repository)).result).toMatchObject({ value: { files_indexed: 1 } });
});

it('an update does not wait for the run of another process', async () => {
  const repository = await indexed({ 'a.ts': define('one') });
  repository.write({ 'a.ts': define('two') });
  const lock = IndexLock.tryAcquire(repository.folder);
  if (!lock.ok) throw new Error(lock.error.code);
  // It does not even look at the files.
  const locked = { directories: [], excluded: [], result: { ok: true, value: 'locked' } };
  expect(await update(repository)).toEqual(locked);
  lock.value?.release();
  expect((await update(repository)).result).toMatchObject({ ok: true });
});

it('a requested run cancels an update and takes over what it has staged; another update waits for the run', async () => {
  const files = Object.fromEntries(
    Array.from({ length: 1_500 }, (_, index) => [`src/${index}.ts`, define(`name${index}`)]),
  );
  const repository = await indexed({ 'a.ts': define('one') });
  repository.write(files);
  const updating = update(repository);
  await until('the update reads', () =>
    indexer.activeIn(repository.folder).some(({ progress }) => progress.phase === 'reading')
      ? true
      : undefined,
  );
  const phases = new Set<string>();
  const { folder, root: path } = repository;
  const run = indexer.indexRepository({ folder, path, onProgress: ({ phase }) => phases.add(phase) });
  await until('the run is known', () => (phases.has('waiting') ? true : undefined));
  expect((await update(repository)).result).toEqual({ ok: true, value: 'busy' });
  expect((await updating).result).toEqual({ ok: false, error: { code: 'CANCELLED' } });
  expect(await run).toMatchObject({ value: { status: 'success', files_total: 1_501 } });
});

it.each(['alone', 'beside another one'])(
  'an update does not bring back a repository that was removed since it looked: %s',
  async (place) => {
    const repository = await indexed({ 'a.ts': define('one') });
    const { folder, root } = repository;
    const other = makeRepository({ 'b.ts': define('two') });
    if (place !== 'alone') await indexer.indexRepository({ folder, path: other.root });
    const walked = await walkRepository(root, { maxFileBytes: 1_000 });
    const request = { id: 1, folder, root, force: false, protectedPaths: [] };
    const given = { maxFileBytes: 1_000, maxIndexBytes: 2 ** 30, threads: 1, embeddings: undefined };
    const side = { send: () => undefined, inTurn: (work: () => Promise<void>) => work() };
    const update = () =>
      executeRun(
        { ...request, cancelled: new Int32Array(new SharedArrayBuffer(4)) },
        { openPool: () => IN_THREAD, given, side },
        walked,
      );
    expect(await update()).toMatchObject({ kind: 'ended', result: { ok: true } });
    const { signal } = new AbortController();
    const repositoryId = computeRepositoryId(root);
    await removeRepository({ folder, repositoryId, signal, onWait: () => undefined });

    expect(await update()).toEqual({ kind: 'removed' });
    if (place === 'alone') expect(existsSync(getIndexPath(folder))).toBe(false);
    else expect([...repository.find('one'), ...repository.find('two')]).toEqual(['b.ts']);
  },
);
