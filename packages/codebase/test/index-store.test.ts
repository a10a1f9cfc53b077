import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { Indexer } from '../src/indexing/indexer.ts';
import { readIndexStatus } from '../src/indexing/index-status.ts';
import { enterWal, getIndexPath, leaveWal } from '../src/store/index-file.ts';
import { IndexLock, isIndexLocked } from '../src/store/index-lock.ts';
import { IndexReader } from '../src/store/index-reader.ts';
import { formatIndexRefusal } from '../src/store/index-refusal.ts';
import { SCHEMA_VERSION } from '../src/store/schema.ts';
import { openDatabase } from '@assay-mcp/kit/platform/sqlite';
import { readColumn } from '../../../test/support/sqlite.ts';
import { ROOT, tempDir } from '../../../test/support/paths.ts';
import { dumpIndex, makeRepository, type IndexedRepository } from './indexed-repository.ts';

const FILES = { 'greet.js': "export const greeting = 'hello';\n" };

function readPaths(reader: IndexReader, repositoryId?: string): unknown {
  const read = reader.readIndexed(repositoryId, (database) =>
    readColumn(database, "SELECT path FROM files WHERE state = 'live' ORDER BY path"),
  );
  return read.ok ? read.value : read.error;
}

/** The content of each file in a folder. */
function contents(folder: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString('base64')]),
  );
}

async function indexed(): Promise<IndexedRepository> {
  const repository = makeRepository(FILES);
  await repository.run();
  return repository;
}

it('an index that is absent, empty or lacks the repository is refused, and reading creates nothing', async () => {
  const repository = makeRepository(FILES);
  const reader = new IndexReader(repository.folder);
  expect(readPaths(reader)).toEqual({ code: 'NOT_INDEXED' });
  mkdirSync(repository.folder);
  expect(readPaths(reader)).toEqual({ code: 'NOT_INDEXED' });
  expect(readdirSync(repository.folder)).toEqual([]);
  writeFileSync(getIndexPath(repository.folder), '');
  expect(readPaths(reader)).toEqual({ code: 'NOT_INDEXED' });
  // An interrupted run.
  const stop = AbortSignal.abort();
  await expect(repository.run({ signal: stop })).rejects.toThrow();
  expect(readPaths(reader)).toEqual({ code: 'NOT_INDEXED', repository: undefined });
  const { repository_id: id } = await repository.run();
  expect(readPaths(reader, id)).toEqual(['greet.js']);
  expect(readPaths(reader, 'other')).toEqual({ code: 'NOT_INDEXED', repository: 'other' });
  reader.close();
});

it('a reader never changes the index, and sees what later runs write', async () => {
  const repository = await indexed();
  const before = contents(repository.folder);
  expect(Object.keys(before)).toEqual(['index.db']);
  const reader = new IndexReader(repository.folder);
  expect(readPaths(reader)).toEqual(['greet.js']);
  expect(contents(repository.folder)).toEqual(before);
  repository.write({ 'part.js': 'export const word = 1;\n' });
  await repository.run();
  expect(Object.keys(contents(repository.folder))).toEqual(['index.db']);
  expect(readPaths(reader)).toEqual(['greet.js', 'part.js']);
  // Replaces the file, as a restore from a backup does.
  copyFileSync(getIndexPath(repository.folder), `${getIndexPath(repository.folder)}.copy`);
  const other = await indexed();
  spawnSync('mv', [getIndexPath(other.folder), getIndexPath(repository.folder)]);
  expect(readPaths(reader)).toEqual(['greet.js']);
  reader.close();
});

it('searches continue while a run writes, and do not keep the index in WAL mode', async () => {
  const repository = await indexed();
  const reader = new IndexReader(repository.folder);
  expect(readPaths(reader)).toEqual(['greet.js']);
  await repository.opened((database) => {
    enterWal(database);
    database.exec("BEGIN IMMEDIATE; UPDATE files SET path = 'other.js'");
    expect(readPaths(reader)).toEqual(['greet.js']);
    database.exec('COMMIT');
    expect(readPaths(reader)).toEqual(['other.js']);
    expect(leaveWal(database, getIndexPath(repository.folder))).toBe(true);
  });
  expect(readdirSync(repository.folder)).toEqual(['index.db']);
  reader.close();
});

it('a run cannot write while a long search reads, and succeeds afterwards', async () => {
  const repository = await indexed();
  const former = contents(repository.folder);
  const slow = openDatabase(getIndexPath(repository.folder), { mode: 'read' });
  slow.exec('BEGIN');
  slow.prepare('SELECT count(*) FROM files').get();
  await repository.opened((database) => {
    database.exec('PRAGMA busy_timeout = 1');
    expect(() => enterWal(database)).toThrow(expect.objectContaining({ errstr: 'database is locked' }));
  });
  expect(contents(repository.folder)).toEqual(former);
  slow.close();
  repository.write({ 'part.js': 'export const word = 1;\n' });
  expect(await repository.run()).toMatchObject({ files_indexed: 1 });
});

it('an index copied without its write-ahead log can be read, and no file is created next to it', async () => {
  const repository = await indexed();
  const folder = tempDir();
  await repository.opened((database) => {
    enterWal(database);
    database.exec("UPDATE files SET path = 'other.js'");
    database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    copyFileSync(getIndexPath(repository.folder), getIndexPath(folder));
  });
  const reader = new IndexReader(folder);
  expect(readPaths(reader)).toEqual(['other.js']);
  expect(readPaths(reader)).toEqual(['other.js']);
  expect(readdirSync(folder)).toEqual(['index.db']);
  reader.close();
});

it('an index on a read-only file system can be read, even if its writer was killed', async () => {
  const repository = await indexed();
  const killed = tempDir();
  await repository.opened((database) => {
    enterWal(database);
    database.exec("UPDATE files SET path = 'other.js'; BEGIN; UPDATE files SET path = 'lost.js'");
    for (const name of readdirSync(repository.folder))
      copyFileSync(join(repository.folder, name), join(killed, name));
    database.exec('ROLLBACK');
  });
  expect(readdirSync(killed)).toEqual(['index.db', 'index.db-shm', 'index.db-wal']);
  const script = join(ROOT, 'test', 'fixtures', 'read-index.ts');
  const read = spawnSync(
    'unshare',
    [
      '--map-root-user',
      '--mount',
      'sh',
      '-c',
      'for f in "$1" "$2"; do mount --bind "$f" "$f" && mount -o remount,bind,ro "$f" || exit 3; done; shift 2; exec "$@"',
      'sh',
      repository.folder,
      killed,
      process.execPath,
      script,
      repository.folder,
      killed,
    ],
    { encoding: 'utf8' },
  );
  expect(read.stderr).toBe('');
  const reason = 'it is read-only';
  const refused = (folder: string): unknown => [
    ['other.js'],
    { code: 'INDEX_UNAVAILABLE', path: getIndexPath(folder), reason },
  ];
  expect(
    read.stdout
      .trim()
      .split('\n')
      .map((line): unknown => JSON.parse(line)),
  ).toEqual([refused(repository.folder), refused(killed)]);
});

it('an older index is rebuilt; a newer or foreign one is refused and left unchanged', async () => {
  const repository = await indexed();
  const path = getIndexPath(repository.folder);
  const reader = new IndexReader(repository.folder);
  const set = (sql: string): void => {
    const database = openDatabase(path, { mode: 'write' });
    database.exec(sql);
    database.close();
  };
  const codeOf = (): unknown => (readPaths(reader) as { code?: string }).code;

  set(`PRAGMA user_version = ${SCHEMA_VERSION - 1}`);
  expect(codeOf()).toBe('INDEX_OUTDATED');
  await repository.run();
  expect(readPaths(reader)).toEqual(['greet.js']);

  set(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
  const newer = contents(repository.folder);
  expect(codeOf()).toBe('INDEX_TOO_NEW');
  await expect(repository.run()).rejects.toThrow('INDEX_TOO_NEW');
  expect(contents(repository.folder)).toEqual(newer);

  set('PRAGMA application_id = 1');
  const foreign = contents(repository.folder);
  expect(codeOf()).toBe('INDEX_FOREIGN');
  await expect(repository.opened(() => undefined, true)).rejects.toThrow('INDEX_FOREIGN');
  expect(contents(repository.folder)).toEqual(foreign);
  reader.close();
});

it('a damaged index is refused until a forced run replaces it, keeping it under another name', async () => {
  const repository = await indexed();
  const path = getIndexPath(repository.folder);
  const former = repository.dump();
  writeFileSync(path, 'no database at all '.repeat(1_000));
  const reader = new IndexReader(repository.folder);
  const refused = readPaths(reader) as Parameters<typeof formatIndexRefusal>[0];
  expect(refused).toEqual({ code: 'INDEX_DAMAGED', path });
  expect(formatIndexRefusal(refused).remedy).toContain('force_reindex: true');
  await expect(repository.run()).rejects.toThrow('INDEX_DAMAGED');
  await repository.opened(() => undefined, true);
  await repository.run();
  expect(dumpIndex(repository.folder)).toEqual(former);
  const kept = readdirSync(repository.folder).find((name) => name.startsWith('index.db.damaged-'))!;
  expect(readFileSync(join(dirname(path), kept), 'utf8')).toMatch(/^no database/);

  truncateSync(path, 8_192);
  expect(readPaths(reader)).toEqual({ code: 'INDEX_DAMAGED', path });
  reader.close();
});

it('damage in the middle of the file is repaired by a forced run, too', async () => {
  const folder = join(tempDir(), 'project');
  const root = tempDir();
  for (let number = 0; number < 200; number += 1)
    writeFileSync(join(root, `${number}.js`), `export const value${number} = '${'x y z '.repeat(200)}';\n`);
  const indexer = new Indexer({ threads: 1 });
  const index = async (force: boolean): Promise<unknown> => {
    const made = await indexer.indexRepository({ folder, path: realpathSync(root), force });
    return made.ok ? made.value.status : made.error.code;
  };
  expect(await index(false)).toBe('success');
  const path = getIndexPath(folder);
  const bytes = readFileSync(path);
  bytes.fill(0x5a, 16_384, bytes.length - 4_096);
  writeFileSync(path, bytes);
  const reader = new IndexReader(folder);
  expect(reader.read((database) => readColumn(database, 'SELECT content FROM chunks'))).toMatchObject({
    error: { code: 'INDEX_DAMAGED' },
  });
  expect(await index(true)).toBe('success');
  expect(readPaths(reader)).toHaveLength(200);
  expect(readdirSync(folder).filter((name) => name.startsWith('index.db.damaged-'))).toHaveLength(1);
  reader.close();
  await indexer.close();
});

it('the lock excludes others while it is held, and checking it changes nothing', () => {
  const folder = join(tempDir(), 'project');
  expect(isIndexLocked(folder)).toBe(false);
  const lock = IndexLock.tryAcquire(folder);
  const held = lock.ok ? lock.value : undefined;
  expect(isIndexLocked(folder)).toBe(true);
  expect(IndexLock.tryAcquire(folder)).toEqual({ ok: true, value: undefined });
  held!.release();
  const before = contents(folder);
  expect(isIndexLocked(folder)).toBe(false);
  expect(contents(folder)).toEqual(before);
});

it('the index status reports the content, how the last run ended, and whether one is in progress', async () => {
  const repository = makeRepository({ ...FILES, 'a.py': 'x = 1\n', 'b.py': 'y = 2\n', 'logo.png': '' });
  const reader = new IndexReader(repository.folder);
  expect(readIndexStatus(repository.folder, reader)).toEqual({ ok: false, error: { code: 'NOT_INDEXED' } });
  const { repository_id: id } = await repository.run();
  const status = readIndexStatus(repository.folder, reader);
  expect(status).toEqual({
    ok: true,
    value: {
      repositories: [
        {
          repository_id: id,
          path: repository.root,
          name: 'repository',
          indexed_at: expect.stringMatching(/^\d{4}-.*Z$/),
          files: 3,
          chunks: 3,
          languages: { python: 2, javascript: 1 },
          embedded: [],
          git: null,
          is_missing: false,
          last_run: {
            ended_at: expect.any(String),
            duration_seconds: expect.any(Number),
            status: 'success',
            errors: [],
            skipped: { binary: 1 },
            skipped_largest: [],
          },
        },
      ],
      is_running: false,
      schema_version: SCHEMA_VERSION,
      size_bytes: statSync(getIndexPath(repository.folder)).size,
    },
  });
  const lock = IndexLock.tryAcquire(repository.folder);
  expect(readIndexStatus(repository.folder, reader)).toMatchObject({ value: { is_running: true } });
  if (lock.ok) lock.value!.release();
  reader.close();
});
