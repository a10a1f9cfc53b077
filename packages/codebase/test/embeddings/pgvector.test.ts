import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { vector } from '@electric-sql/pglite/vector';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { embedRepository } from '../../src/embeddings/embed-repository.ts';
import type { EmbeddingReport } from '../../src/embeddings/embedding-report.ts';
import type { EmbeddingSettings } from '../../src/embeddings/embedding-settings.ts';
import { formatVectorFailure } from '../../src/embeddings/failure-text.ts';
import { openVectors } from '../../src/embeddings/open-vectors.ts';
import type { PostgresConnection } from '../../src/embeddings/postgres-connection.ts';
import type { FileFilter } from '../../src/file-filter.ts';
import { openDatabase, type Database } from '@assay-mcp/kit/platform/sqlite';
import { readColumn } from '../../../../test/support/sqlite.ts';
import { newDatabase } from '../../../../test/support/postgres.ts';
import { EmbeddingService, handClock } from './embedding-service.ts';
import { createIndex, deleteFile, putFile } from './small-index.ts';

let service: EmbeddingService;
let pglite: PGlite;
let directories: string[];

beforeAll(async () => {
  [service, pglite] = await Promise.all([
    EmbeddingService.start(),
    PGlite.create({ extensions: { vector } }),
  ]);
});
afterAll(() => Promise.all([service.close(), pglite.close()]));
beforeEach(() => {
  directories = [];
  service.requests.length = 0;
  service.dimension = 64;
});
afterEach(() => {
  for (const directory of directories) rmSync(directory, { recursive: true });
});

const connection: PostgresConnection = {
  query: (sql, params) => pglite.query(sql, params),
  transaction: (work) => pglite.transaction((tx) => work({ query: (sql, params) => tx.query(sql, params) })),
  close: async () => undefined,
};
const IN_PGLITE = { vectorsUrl: 'postgres://pglite/vectors' };

function newIndex(): Database {
  const directory = mkdtempSync(join(tmpdir(), 'assay-pgvector-'));
  directories.push(directory);
  return createIndex(directory);
}

interface Given extends Partial<EmbeddingSettings> {
  readonly repositoryId?: string;
  readonly force?: boolean;
}

function embed(
  db: Database,
  { repositoryId = 'repo', force, ...settings }: Given = {},
): Promise<EmbeddingReport> {
  return embedRepository(
    service.settings({ ...IN_PGLITE, ...settings }),
    { db, repositoryId, force },
    { clock: handClock(), connect: () => connection },
  );
}

async function search(
  db: Database,
  text: string,
  {
    filter = {},
    limit = 10,
    ...settings
  }: Partial<EmbeddingSettings> & { filter?: FileFilter; limit?: number } = {},
): Promise<unknown> {
  const reader = openDatabase(db.location() ?? '', { mode: 'read', allowExtension: true });
  const vectors = openVectors(service.settings({ ...IN_PGLITE, ...settings }), () => connection);
  try {
    const found = await vectors.searchIn(reader).search({ text, limit, filter });
    if (!found.ok) return formatVectorFailure(found.error);
    const select = 'SELECT content FROM chunks WHERE id = ?';
    return found.value.map(({ chunkRowId }) => readColumn(reader, select, chunkRowId)[0]);
  } finally {
    await vectors.close();
    reader.close();
  }
}

async function rowsOf(sql: string): Promise<readonly unknown[]> {
  return (await pglite.query(sql)).rows;
}

async function tables(): Promise<readonly string[]> {
  const rows = await rowsOf('SELECT name FROM assay_codebase.indexes ORDER BY created_at, name');
  return (rows as readonly { name: string }[]).map(({ name }) => name);
}

test('vectors are stored in PostgreSQL with an HNSW index, and found with and without a filter', async () => {
  const db = newIndex();
  putFile(db, { path: 'src/a.ts', chunks: ['parse header fast', 'write body'] });
  putFile(db, { path: 'src/b.py', chunks: ['parse header slowly'] });
  putFile(db, { path: "it's/%.ts", chunks: ['parse'] });
  putFile(db, { path: 'src/d.ts', repositoryId: 'other', chunks: ['parse header'] });
  expect(await embed(db)).toEqual({ status: 'complete', embedded: 4, cached: 0, failed: 0, errors: [] });
  expect(await embed(db, { repositoryId: 'other' })).toMatchObject({ embedded: 1 });
  expect(readColumn(db, 'SELECT count(*) FROM embeddings')).toEqual([0]);

  expect(await search(db, 'parse header', { limit: 2 })).toEqual([
    'parse header',
    expect.stringMatching('^parse header '),
  ]);
  const only = (filter: FileFilter): Promise<unknown> => search(db, 'parse header', { filter, limit: 1 });
  expect(await only({ repositoryId: 'repo', fileType: 'PY' })).toEqual(['parse header slowly']);
  expect(await only({ directory: "it's" })).toEqual(['parse']);
  expect(await only({ directory: '%' })).toEqual([]);

  const [table] = (await tables()).slice(-1);
  const plan = await pglite.transaction(async (tx) => {
    await tx.query('SET LOCAL enable_seqscan = off');
    return tx.query(
      `EXPLAIN SELECT chunk_id FROM ${table} ORDER BY embedding <=> '[${'1,'.repeat(63)}1]' LIMIT 5`,
    );
  });
  expect(JSON.stringify(plan.rows)).toContain('_hnsw');
  db.close();
});

test('a second run makes no request, even for text in new rows, and deletes the rows of removed chunks', async () => {
  const db = newIndex();
  putFile(db, { path: 'a.ts', chunks: ['one', 'two', 'three'] });
  await embed(db);
  const requests = service.requests.length;
  expect(await embed(db)).toEqual({ status: 'complete', embedded: 0, cached: 0, failed: 0, errors: [] });
  putFile(db, { path: 'keep.ts', chunks: ['one'] });
  deleteFile(db, 'a.ts');
  putFile(db, { path: 'moved.ts', chunks: ['two'] });
  expect(await search(db, 'one')).toBe('Nothing is embedded yet. Run index_repository.');
  expect(await embed(db)).toMatchObject({ status: 'complete', embedded: 0, cached: 2 });
  expect(service.requests.filter(({ input }) => input.includes('two'))).toHaveLength(1);
  expect(service.requests).toHaveLength(requests);
  const [table] = (await tables()).slice(-1);
  expect(await rowsOf(`SELECT path FROM ${table} ORDER BY path`)).toEqual([
    { path: 'keep.ts' },
    { path: 'moved.ts' },
  ]);
  expect(await search(db, 'three', { limit: 5 })).toHaveLength(2);
  db.close();
});

test('rows of chunks that are no longer live do not displace live ones', async () => {
  const db = newIndex();
  putFile(db, { path: 'old.ts', chunks: Array.from({ length: 120 }, (_, index) => `parse header ${index}`) });
  putFile(db, { path: 'new.ts', chunks: ['parse something else'] });
  await embed(db);
  db.exec("UPDATE files SET state = 'superseded' WHERE path = 'old.ts'");
  expect(await search(db, 'parse header', { limit: 1 })).toEqual(['parse something else']);
  db.close();
});

test('projects have separate tables, and a table is dropped when its model or dimension is replaced', async () => {
  const [one, two] = [newIndex(), newIndex()];
  const before = (await tables()).length;
  putFile(one, { path: 'a.ts', chunks: ['secret of one'] });
  putFile(two, { path: 'b.ts', chunks: ['plan of two'] });
  await embed(one);
  await embed(two);
  expect(await search(two, 'secret of one')).toEqual(['plan of two']);
  expect(await search(one, 'text', { vectorsUrl: undefined })).toBe(
    'The index was embedded with hash-embedding (ollama, in PostgreSQL), but hash-embedding (ollama) is configured. Run index_repository.',
  );
  service.dimension = 2_500;
  expect(await embed(two, { force: true })).toMatchObject({ status: 'complete', embedded: 1 });
  expect(await search(two, 'plan')).toEqual(['plan of two']);
  expect(await embed(two, { model: 'next' })).toMatchObject({ status: 'complete', embedded: 1 });
  putFile(two, { path: 'c.ts', chunks: ['more'] });
  expect(await embed(two, { model: 'next' })).toMatchObject({ status: 'complete', embedded: 1 });
  expect(await tables()).toHaveLength(before + 2);
  expect(await search(one, 'secret')).toContain('Run index_repository with force_reindex');
  service.dimension = 64;
  expect(await search(one, 'secret')).toEqual(['secret of one']);
  one.close();
  two.close();
});

test('a search reports a missing table, and a forced run recreates it with new rows', async () => {
  const db = newIndex();
  putFile(db, { path: 'a.ts', chunks: ['text'] });
  await embed(db);
  const [table] = (await tables()).slice(-1);
  await pglite.query(`DROP TABLE ${table}`);
  expect(await search(db, 'text')).toBe(
    'Vectors are not available: PostgreSQL no longer has them; run index_repository with force_reindex.',
  );
  deleteFile(db, 'a.ts');
  putFile(db, { path: 'a.ts', chunks: ['text'] });
  expect(await embed(db, { force: true })).toMatchObject({ status: 'complete', embedded: 1 });
  expect(await search(db, 'text')).toEqual(['text']);
  db.close();
});

test('a server that lacks pgvector or cannot be reached is reported without the password', async () => {
  const db = newIndex();
  putFile(db, { path: 'a.ts', chunks: ['text'] });
  const embedIn = (vectorsUrl: string): Promise<EmbeddingReport> =>
    embedRepository(service.settings({ vectorsUrl }), { db, repositoryId: 'repo' }, { clock: handClock() });
  expect(await embedIn(await newDatabase())).toEqual({
    status: 'partial',
    embedded: 0,
    cached: 0,
    failed: 1,
    errors: [
      'Vectors could not be stored: the PostgreSQL server of ASSAY_CODEBASE_VECTORS_URL has no pgvector extension; install it there, or unset the setting to keep vectors in the index (PGVECTOR_MISSING).',
      expect.stringContaining('1 chunk '),
    ],
  });
  const unreachable = await embedIn('postgres://user:secret@127.0.0.1:1/none');
  expect(unreachable).toMatchObject({
    status: 'partial',
    errors: [expect.stringContaining('ECONNREFUSED'), expect.any(String)],
  });
  expect(JSON.stringify(unreachable)).not.toContain('secret');
  db.close();
});
