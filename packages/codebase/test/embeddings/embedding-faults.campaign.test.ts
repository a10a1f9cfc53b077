import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { embedRepository } from '../../src/embeddings/embed-repository.ts';
import { quantizeToBytes } from '../../src/embeddings/sqlite-vectors.ts';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { readColumn } from '../../../../test/support/sqlite.ts';
import { rounds } from '../../../../test/support/campaign.ts';
import { seeded, type Seeded } from '../../../../test/support/seeded.ts';
import { EmbeddingService, handClock, hashEmbedding, type Fault } from './embedding-service.ts';
import { createIndex, deleteFile, putFile } from './small-index.ts';

const ROUNDS = rounds({ short: 15, long: 500 });
const FILES = 20;
const DIMENSION = 64;

const FAULTS: readonly Fault[] = [
  ...[400, 401, 404, 413, 429, 500, 502, 503, 504].map((status) => ({ kind: 'status', status }) as const),
  ...(['reset', 'cut', 'reordered', 'misnumbered', 'ragged', 'short', 'null', 'huge_number'] as const).map(
    (kind) => ({ kind }),
  ),
  ...(['zeros', 'base64', 'not_json', 'well', 'well', 'well', 'well'] as const).map((kind) => ({ kind })),
  { kind: 'dimension', dimension: 32 },
];

function edit(db: Database, chance: Seeded): void {
  for (let count = chance.below(8); count > 0; count -= 1) {
    const path = `file${chance.below(FILES)}.ts`;
    deleteFile(db, path);
    const chunks = Array.from({ length: chance.below(12) }, () => `word${chance.below(200)}`);
    if (chance.below(4) > 0) putFile(db, { path, chunks });
  }
}

const count = (db: Database, sql: string): number => Number(readColumn(db, `SELECT count(*) ${sql}`)[0]);

function expectOwnVectors(db: Database): void {
  const rows = db
    .prepare(
      `SELECT c.content, e.vector FROM chunk_vectors v JOIN embeddings e ON e.id = v.embedding_id
       LEFT JOIN chunks c ON c.id = v.chunk_id`,
    )
    .all() as readonly { content: string; vector: Uint8Array }[];
  const strange = rows.filter(({ content, vector }) => {
    const own = quantizeToBytes(Float32Array.from(hashEmbedding(content, DIMENSION)));
    // Scaling to length 1 may round the last bit of a float, and with it a byte.
    return own.some((_, at) => Math.abs(own.readInt8(at) - Buffer.from(vector).readInt8(at)) > 1);
  });
  expect(strange).toEqual([]);
}

it(`each chunk has its own vector or none after any fault, and a good run embeds the rest (${ROUNDS} rounds)`, async () => {
  const chance = seeded('faults of an embedding service');
  const directory = mkdtempSync(join(tmpdir(), 'assay-faults-'));
  const db = createIndex(directory);
  const service = await EmbeddingService.start();
  service.dimension = DIMENSION;
  const settings = service.settings({ kind: 'openai' });
  const run = { db, repositoryId: 'repo' };
  try {
    // Determines the dimension before any scripted fault could set a wrong one.
    putFile(db, { path: 'first.ts', chunks: ['first'] });
    await embedRepository(settings, run);
    for (let round = 0; round < ROUNDS; round += 1) {
      edit(db, chance);
      const before = count(db, 'FROM chunks WHERE id NOT IN (SELECT chunk_id FROM chunk_vectors)');
      service.script.length = 0;
      for (let faults = chance.below(12); faults > 0; faults -= 1)
        service.script.push(FAULTS[chance.below(FAULTS.length)]!);
      const report = await embedRepository(settings, run, { clock: handClock() });
      const left = count(db, 'FROM chunks WHERE id NOT IN (SELECT chunk_id FROM chunk_vectors)');
      expect(report.failed).toBe(left);
      expect(report.embedded + report.cached + report.failed).toBe(before);
      expect(report.status).toBe(left === 0 ? 'complete' : 'partial');
      expectOwnVectors(db);
    }
    service.script.length = 0;
    expect(await embedRepository(settings, run)).toMatchObject({ status: 'complete', failed: 0 });
    expect(count(db, 'FROM chunk_vectors')).toBe(count(db, 'FROM chunks'));
    expectOwnVectors(db);
  } finally {
    await service.close();
    db.close();
    rmSync(directory, { recursive: true });
  }
});
