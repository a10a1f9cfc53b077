import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { Indexer, type IndexRequest } from '../src/indexing/indexer.ts';
import { readIndexStatus } from '../src/indexing/index-status.ts';
import { IndexLock } from '../src/store/index-lock.ts';
import { IndexReader } from '../src/store/index-reader.ts';
import { readColumn } from '../../../test/support/sqlite.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { EmbeddingService } from './embeddings/embedding-service.ts';
import { dumpIndex, makeRepository, type IndexedRepository } from './indexed-repository.ts';

const FILES = Object.fromEntries(
  Array.from({ length: 40 }, (_, index) => [
    `src/module${index}.ts`,
    `export function answer${index}(): number {\n  return ${index};\n}\n`,
  ]),
);

const indexer = new Indexer({ threads: 2 });
afterAll(() => indexer.close());

function index(
  { root, folder }: IndexedRepository,
  more: Partial<IndexRequest> = {},
): ReturnType<Indexer['indexRepository']> {
  return indexer.indexRepository({ folder, path: root, ...more });
}

it('indexing in several threads gives the same index as in one, and reports progress', async () => {
  const repository = makeRepository(FILES);
  const phases = new Set<string>();
  const indexed = await index(repository, { onProgress: ({ phase }) => phases.add(phase) });
  expect(indexed).toMatchObject({
    ok: true,
    value: { files_indexed: 40, chunks_created: 40, status: 'success' },
  });
  expect([...phases]).toEqual(['scanning', 'reading', 'writing']);
  const threads = repository.dump();
  const again = await index(repository);
  expect(again).toMatchObject({ ok: true, value: { files_indexed: 0, files_total: 40 } });
  await repository.run({ force: true, chunkerVersion: 1_001 });
  expect(repository.dump()).toEqual(threads);
});

it('concurrent calls for the same and for other projects all complete, and index each file once', async () => {
  const repository = makeRepository(FILES);
  const second = makeRepository({ 'other.ts': 'export const other = 1;\n' });
  const other = makeRepository(FILES);
  const calls = [
    index(repository),
    index(repository),
    index(second, { folder: repository.folder }),
    index(other),
    index(repository),
  ];
  expect(indexer.activeIn(repository.folder)).toHaveLength(0);
  const reports = (await Promise.all(calls)).map((report) => report.ok && report.value.files_indexed);
  expect(reports.toSorted()).toEqual([0, 0, 1, 40, 40]);
  expect(dumpIndex(repository.folder)).toHaveLength(41);
  expect(dumpIndex(other.folder)).toHaveLength(40);
});

it('a call waits while another process writes the index, and can be cancelled', async () => {
  const repository = makeRepository(FILES);
  const lock = IndexLock.tryAcquire(repository.folder);
  const held = lock.ok ? lock.value! : undefined;
  const stop = new AbortController();
  const waiting = new Promise<void>((resolve) => {
    void index(repository, { onProgress: ({ phase }) => phase === 'waiting' && resolve() });
  });
  const cancelled = index(repository, {
    signal: stop.signal,
    onProgress: ({ phase }) => phase === 'waiting' && stop.abort(),
  });
  expect(await cancelled).toEqual({ ok: false, error: { code: 'CANCELLED' } });
  await waiting;
  // A call for another project does not wait.
  expect(await index(makeRepository(FILES))).toMatchObject({ ok: true });
  held!.release();
  expect(await index(repository)).toMatchObject({ ok: true });
  expect(dumpIndex(repository.folder)).toHaveLength(40);
});

it('a cancelled run ends soon and leaves the index unchanged', async () => {
  const repository = makeRepository(FILES);
  await index(repository);
  const former = repository.dump();
  repository.write({ 'src/module1.ts': 'export const changed = 1;\n', ...largeFiles() });
  const stop = new AbortController();
  const cancelled = await index(repository, {
    force: true,
    signal: stop.signal,
    onProgress: ({ phase }) => phase === 'reading' && stop.abort(),
  });
  expect(cancelled).toEqual({ ok: false, error: { code: 'CANCELLED' } });
  expect(repository.dump()).toEqual(former);
  for (const path of Object.keys(largeFiles())) repository.remove(path);
  expect(await index(repository)).toMatchObject({ ok: true, value: { files_indexed: 1, files_total: 40 } });
});

/** Files that take long enough to parse for a cancellation to arrive. */
function largeFiles(): Record<string, string> {
  const lines = Array.from(
    { length: 10_000 },
    (_, line) => `export const v${line} = [${line}, f(${line})];\n`,
  );
  return { 'large1.ts': lines.join(''), 'large2.ts': lines.join('') };
}

it('a path that is unusable for the repository or the index is refused with the reason', async () => {
  const folder = join(tempDir(), 'project');
  const file = join(tempDir(), 'file');
  writeFileSync(file, '');
  const reasonOf = async (path: string): Promise<unknown> => {
    const indexed = await indexer.indexRepository({ folder, path });
    return !indexed.ok && 'reason' in indexed.error && indexed.error.reason;
  };
  expect(await reasonOf('relative')).toBe('it is not absolute');
  expect(await reasonOf(`${file}\0`)).toBe('it contains a null character');
  expect(await reasonOf(`${file}.absent`)).toBe('there is no such directory');
  expect(await reasonOf(file)).toBe('it is not a directory');
  mkdirSync(join(folder, 'index.db'), { recursive: true });
  expect(await reasonOf(tempDir())).toBe('it is a directory');
});

it('a chunk that the embedding service refuses makes the run partial, and is embedded by the next run', async () => {
  const service = await EmbeddingService.start();
  service.refused = { text: 'answer7', status: 400 };
  const embedding = new Indexer({ threads: 1, embeddings: service.settings() });
  const repository = makeRepository(FILES);
  const phases = new Set<string>();
  const run = (): ReturnType<Indexer['indexRepository']> =>
    embedding.indexRepository({
      folder: repository.folder,
      path: repository.root,
      onProgress: ({ phase }) => phases.add(phase),
    });
  const vectors = (): Promise<unknown> =>
    repository.opened((database) => readColumn(database, 'SELECT count(*) FROM chunk_vectors')[0]);
  expect(await run()).toMatchObject({
    ok: true,
    value: { files_indexed: 40, status: 'partial', errors: [expect.any(String), expect.any(String)] },
  });
  expect([...phases].at(-1)).toBe('embedding');
  expect(repository.find('answer7')).toEqual(['src/module7.ts']);
  expect(await vectors()).toBe(39);
  const reader = new IndexReader(repository.folder);
  expect(readIndexStatus(repository.folder, reader)).toMatchObject({
    value: {
      repositories: [
        {
          embedded: [{ model: 'hash-embedding (ollama)', dimension: 64, chunks: 39 }],
          last_run: { status: 'partial', errors: [expect.any(String), expect.any(String)] },
        },
      ],
    },
  });

  service.refused = undefined;
  repository.remove('src/module1.ts');
  expect(await run()).toMatchObject({ value: { files_indexed: 0, files_deleted: 1, status: 'success' } });
  expect(await vectors()).toBe(39);
  reader.close();
  await embedding.close();
  await service.close();
});
