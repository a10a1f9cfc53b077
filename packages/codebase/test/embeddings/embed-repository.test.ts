import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { embedRepository } from '../../src/embeddings/embed-repository.ts';
import type { EmbeddingReport } from '../../src/embeddings/embedding-report.ts';
import type { EmbeddingSettings } from '../../src/embeddings/embedding-settings.ts';
import { formatVectorFailure } from '../../src/embeddings/failure-text.ts';
import { openVectors } from '../../src/embeddings/open-vectors.ts';
import type { FileFilter } from '../../src/file-filter.ts';
import { openDatabase, readPragma, type Database } from '@assay-mcp/kit/platform/sqlite';
import { readColumn } from '../../../../test/support/sqlite.ts';
import { EmbeddingService, handClock } from './embedding-service.ts';
import { createIndex, deleteFile, putFile } from './small-index.ts';

let service: EmbeddingService;
let directory: string;
let db: Database;
let waits: number[];
let progress: [number, number][];

beforeAll(async () => {
  service = await EmbeddingService.start();
});
afterAll(() => service.close());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'assay-vectors-'));
  db = createIndex(directory);
  service.requests.length = 0;
  service.script.length = 0;
  service.refused = undefined;
  service.dimension = 64;
});
afterEach(() => {
  db.close();
  rmSync(directory, { recursive: true });
});

interface Run extends Partial<EmbeddingSettings> {
  readonly repositoryId?: string;
  readonly force?: boolean;
  readonly signal?: AbortSignal;
}

async function embed({
  repositoryId = 'repo',
  force,
  signal,
  ...settings
}: Run = {}): Promise<EmbeddingReport> {
  const clock = handClock();
  waits = clock.waits;
  progress = [];
  const onProgress = (done: number, total: number): void => void progress.push([done, total]);
  return embedRepository(
    service.settings(settings),
    { db, repositoryId, force, signal, onProgress },
    { clock },
  );
}

/** The texts of the chunks found over a read-only connection, nearest first, or the text of the failure. */
async function search(
  text: string,
  {
    filter = {},
    limit = 10,
    ...settings
  }: Partial<EmbeddingSettings> & { filter?: FileFilter; limit?: number } = {},
): Promise<unknown> {
  const reader = openDatabase(db.location() ?? '', { mode: 'read', allowExtension: true });
  const vectors = openVectors(service.settings(settings));
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

const inputs = (): readonly (readonly string[])[] => service.requests.map(({ input }) => input);
const words = (count: number): string[] => Array.from({ length: count }, (_, index) => `word${index}`);

describe('a run', () => {
  test('embeds live chunks in batches: equal texts once, and methods with the name of their class', async () => {
    putFile(db, { path: 'a.ts', chunks: words(6) });
    putFile(db, { path: 'b.ts', chunks: ['word0', { parent: 'Parser', symbol: 'parse', content: 'body' }] });
    putFile(db, { path: 'c.ts', state: 'staged', chunks: ['staged'] });
    putFile(db, { path: 'd.ts', state: 'superseded', chunks: ['superseded'] });
    putFile(db, { path: 'e.ts', repositoryId: 'other', chunks: ['other'] });
    expect(await embed({ prefixes: { document: 'doc: ', query: '' } })).toEqual({
      status: 'complete',
      embedded: 8,
      cached: 0,
      failed: 0,
      errors: [],
    });
    expect(inputs().map(({ length }) => length)).toEqual([1, 4, 3]); // the first request determines the dimension
    expect(inputs().slice(1).flat().sort()).toEqual(
      [...words(6), 'Parser.parse\nbody'].map((text) => `doc: ${text}`).sort(),
    );
    expect(progress.at(-1)).toEqual([8, 8]);
  });

  test('makes no request and writes nothing if nothing is new', async () => {
    putFile(db, { path: 'a.ts', chunks: words(3) });
    await embed();
    const [requests, before] = [service.requests.length, readPragma(db, 'data_version')];
    const changes = (): unknown => readColumn(db, 'SELECT total_changes()')[0];
    const changesBefore = changes();
    expect(await embed()).toEqual({ status: 'complete', embedded: 0, cached: 0, failed: 0, errors: [] });
    expect(service.requests).toHaveLength(requests);
    expect([readPragma(db, 'data_version'), changes()]).toEqual([before, changesBefore]);
  });

  test('makes no request for text already embedded, even in new rows or in another repository', async () => {
    putFile(db, { path: 'a.ts', chunks: words(3) });
    await embed();
    const requests = service.requests.length;
    deleteFile(db, 'a.ts');
    putFile(db, { path: 'moved.ts', chunks: words(3) });
    putFile(db, { path: 'copy.ts', repositoryId: 'other', chunks: words(2) });
    expect(await embed()).toMatchObject({ status: 'complete', embedded: 0, cached: 3 });
    expect(await embed({ repositoryId: 'other' })).toMatchObject({
      status: 'complete',
      embedded: 0,
      cached: 2,
    });
    expect(service.requests).toHaveLength(requests);
    expect(await search('word1', { filter: { repositoryId: 'repo' }, limit: 1 })).toEqual(['word1']);
  });

  test('sends two concurrent requests', async () => {
    putFile(db, { path: 'a.ts', chunks: words(40) });
    service.script.push({ kind: 'well' }, ...words(9).map(() => ({ kind: 'silent' }) as const));
    const controller = new AbortController();
    const running = embed({ signal: controller.signal });
    await expect.poll(() => service.open, { timeout: 20_000 }).toBe(2);
    controller.abort();
    await running;
    expect(service.requests).toHaveLength(3);
  });
});

describe('a run with failures', () => {
  test('retries temporary failures, after the wait that the service asks for', async () => {
    putFile(db, { path: 'a.ts', chunks: words(4) });
    await embed();
    putFile(db, { path: 'b.ts', chunks: ['new'] });
    service.script.push(
      { kind: 'status', status: 429, retryAfter: '3' },
      { kind: 'status', status: 503 },
      { kind: 'reset' },
    );
    expect(await embed()).toMatchObject({ status: 'complete', embedded: 1, errors: [] });
    expect(waits).toEqual([3_000, 1_000, 2_000]);
  });

  test('is partial if failures persist, and the next run embeds the rest', async () => {
    putFile(db, { path: 'a.ts', chunks: words(8) });
    service.script.push({ kind: 'well' }, { kind: 'well' });
    for (let index = 0; index < 20; index += 1) service.script.push({ kind: 'status', status: 503 });
    const partial = await embed();
    expect(partial).toEqual({
      status: 'partial',
      embedded: 4,
      cached: 0,
      failed: 4,
      errors: [
        'The embedding service answered with status 503: scripted.',
        '4 chunks without a vector: found by words only, until the next index_repository embeds them.',
      ],
    });
    expect(service.requests).toHaveLength(1 + 1 + 5);
    expect(await search('word1', { limit: 1 })).toEqual(expect.any(String)); // 503 as well
    service.script.length = 0;
    expect(await search('word1', { limit: 1 })).toEqual(['word1']);
    expect(await embed()).toMatchObject({ status: 'complete', embedded: 4, failed: 0, errors: [] });
    expect(await search('word7', { limit: 1 })).toEqual(['word7']);
  });

  test.each([401, 404])(
    'ends at once on status %i, and its report does not contain the key',
    async (status) => {
      putFile(db, { path: 'a.ts', chunks: words(40) });
      service.script.push({ kind: 'status', status, body: '{"error":"no such key: sk-secret"}' });
      const report = await embed({ kind: 'openai', key: 'sk-secret' });
      expect(report).toMatchObject({ status: 'partial', embedded: 0, failed: 40 });
      expect(report.errors).toHaveLength(2);
      expect(JSON.stringify(report)).not.toContain('secret');
      expect(service.requests).toHaveLength(1);
    },
  );

  test.each([400, 500])('embeds the other texts if one is refused with %i', async (status) => {
    putFile(db, { path: 'a.ts', chunks: [...words(7), 'poison'] });
    service.refused = { text: 'poison', status };
    expect(await embed()).toEqual({
      status: 'partial',
      embedded: 7,
      cached: 0,
      failed: 1,
      errors: [
        `The embedding service answered with status ${status}: cannot embed this.`,
        '1 chunk without a vector: found by words only, until the next index_repository embeds them.',
      ],
    });
  });

  test('sends only a few requests to a service that refuses everything', async () => {
    putFile(db, { path: 'a.ts', chunks: words(200) });
    await embed({ force: true, signal: AbortSignal.abort() });
    service.refused = { text: 'word', status: 400 };
    expect(await embed({ batch: 32 })).toMatchObject({ status: 'partial', embedded: 0, failed: 200 });
    expect(service.requests.length).toBeLessThan(12);
  });

  test.each(['ragged', 'null', 'short', 'not_json'] as const)(
    'splits its batch and retries after a %s response',
    async (kind) => {
      putFile(db, { path: 'a.ts', chunks: words(4) });
      service.script.push({ kind: 'well' }, { kind });
      expect(await embed()).toMatchObject({ status: 'complete', embedded: 4, errors: [] });
      expect(inputs().map(({ length }) => length)).toEqual([1, 4, 2, 2]);
    },
  );

  test('keeps its vectors if it is cancelled, and the next run continues', async () => {
    putFile(db, { path: 'a.ts', chunks: words(8) });
    service.script.push({ kind: 'well' }, { kind: 'well' }, { kind: 'silent' });
    const controller = new AbortController();
    const running = embed({ signal: controller.signal });
    await expect.poll(() => progress.length, { timeout: 20_000 }).toBe(1);
    controller.abort();
    expect(await running).toMatchObject({ status: 'partial', embedded: 4, failed: 4 });
    expect(await embed()).toMatchObject({ status: 'complete', embedded: 4 });
  });

  test('reports a failed write to the database instead of rejecting', async () => {
    putFile(db, { path: 'a.ts', chunks: words(4) });
    await embed();
    putFile(db, { path: 'b.ts', chunks: ['new'] });
    db.exec("CREATE TRIGGER full BEFORE INSERT ON embeddings BEGIN SELECT RAISE(ABORT, 'disk is full'); END");
    expect(await embed()).toMatchObject({
      status: 'partial',
      failed: 1,
      errors: [expect.stringContaining('disk is full'), expect.stringContaining('1 chunk ')],
    });
  });
});

test('a run without sqlite-vec embeds nothing, and reports why', async () => {
  putFile(db, { path: 'a.ts', chunks: ['text'] });
  const without = (extension: () => string): Promise<EmbeddingReport> =>
    embedRepository(service.settings(), { db, repositoryId: 'repo' }, { extension });
  const missing = await without(() => {
    throw new Error('unsupported');
  });
  expect(missing).toMatchObject({
    status: 'partial',
    errors: [expect.stringMatching('^Searches by meaning are off: sqlite-vec is not installed for ')],
  });
  const broken = await without(() => join(directory, 'vec0.so'));
  expect(broken.errors).toEqual([expect.stringContaining('sqlite-vec cannot be loaded on ')]);
  expect(service.requests).toEqual([]);
});

describe('a changed model', () => {
  test('is reported by searches, without a request, until the next run has embedded everything', async () => {
    putFile(db, { path: 'a.ts', chunks: words(3) });
    await embed();
    const requests = service.requests.length;
    const model = { model: 'other' };
    expect(await search('word1', model)).toBe(
      'The index was embedded with hash-embedding (ollama), but other (ollama) is configured. Run index_repository.',
    );
    expect(service.requests).toHaveLength(requests);
    expect(await embed(model)).toMatchObject({ status: 'complete', embedded: 3, cached: 0 });
    expect(await search('word1', { ...model, limit: 1 })).toEqual(['word1']);
    expect(await search('word1')).toContain('Run index_repository.');
  });

  test('is reported if its dimension differs, until a forced run replaces the vectors', async () => {
    putFile(db, { path: 'a.ts', chunks: words(3) });
    await embed();
    service.dimension = 32;
    expect(await search('word1')).toBe(
      'The index holds vectors of 64 numbers, but hash-embedding (ollama) now answers with 32. Run index_repository with force_reindex.',
    );
    putFile(db, { path: 'b.ts', chunks: ['new'] });
    expect(await embed()).toMatchObject({
      status: 'partial',
      failed: 1,
      errors: [
        expect.stringContaining('vectors of 32 numbers instead of 64'),
        expect.stringContaining('1 chunk '),
      ],
    });
    expect(await embed({ force: true })).toMatchObject({ status: 'complete', embedded: 4 });
    expect(await search('word1', { limit: 1 })).toEqual(['word1']);
  });
});

describe('a search', () => {
  test('finds only live chunks that pass the filter, even if others are nearer', async () => {
    putFile(db, { path: 'src/a.ts', chunks: ['parse header fast'] });
    putFile(db, { path: 'src/b.py', chunks: ['parse header slowly'] });
    putFile(db, { path: 'lib/c.ts', chunks: ['parse'] });
    putFile(db, { path: 'src/d.ts', repositoryId: 'other', chunks: ['parse header'] });
    await embed();
    await embed({ repositoryId: 'other' });
    expect(await search('parse header')).toEqual(
      expect.arrayContaining(['parse header', 'parse header fast', 'parse header slowly', 'parse']),
    );
    expect(await search('parse header', { limit: 1 })).toEqual(['parse header']);
    const only = (filter: FileFilter): Promise<unknown> => search('parse header', { filter, limit: 1 });
    expect(await only({ repositoryId: 'repo', fileType: 'py' })).toEqual(['parse header slowly']);
    expect(await only({ directory: 'lib' })).toEqual(['parse']);
    db.exec("UPDATE files SET state = 'superseded' WHERE repository_id = 'other'");
    expect(await search('parse header', { limit: 1 })).toEqual(['parse header fast']);
  });

  test('does not find a deleted chunk under a reused row id', async () => {
    putFile(db, { path: 'a.ts', chunks: ['old text'] });
    await embed();
    deleteFile(db, 'a.ts');
    expect(await search('old text')).toBe('Nothing is embedded yet. Run index_repository.');
    const [id] = putFile(db, { path: 'b.ts', chunks: ['another'] });
    expect(id).toBe(1);
    expect(await search('old text')).toBe('Nothing is embedded yet. Run index_repository.');
  });

  test('reports that nothing is embedded yet, that the service is slow, or that it is not running', async () => {
    putFile(db, { path: 'a.ts', chunks: ['text'] });
    expect(await search('text')).toBe('Nothing is embedded yet. Run index_repository.');
    expect(service.requests).toEqual([]);
    await embed();
    service.script.push({ kind: 'silent' });
    expect(await search('text', { queryTimeoutMs: 30 })).toBe(
      'The embedding service did not answer within 30 ms.',
    );
    expect(await search('text', { url: 'http://127.0.0.1:1/api/embed' })).toBe(
      'The embedding service refused the connection. Start it, or check ASSAY_CODEBASE_EMBEDDINGS_URL.',
    );
  });

  test('sends the query prefix exactly once', async () => {
    const prefixes = { document: 'search_document: ', query: 'search_query: ' };
    putFile(db, { path: 'a.ts', chunks: ['text'] });
    await embed({ prefixes });
    service.requests.length = 0;
    await search('where is it', { prefixes });
    expect(inputs()).toEqual([['search_query: where is it']]);
  });
});
