import { inTransaction, type Database, type Statement } from '@assay-mcp/kit/platform/sqlite';
import { buildFilterConditions } from '../file-filter.ts';
import type { VectorMatch } from './vector-search.ts';
import type { VectorIndex, VectorStore } from './vector-store.ts';
import type { ChunkText } from './vector-tables.ts';

/**
 * Number of vectors without a chunk to keep, newest first, for texts that come back, for example when the branch
 * changes.
 */
const KEPT_WITHOUT_CHUNK = 20_000;

/** Vectors in the index itself. Writing needs no extension. */
export function createSqliteVectorStore(db: Database, modelId: number): VectorStore {
  const find = db.prepare('SELECT id, vector FROM embeddings WHERE model_id = ? AND text_hash = ?');
  const insert = db.prepare(
    `INSERT INTO embeddings (model_id, text_hash, vector) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET vector = excluded.vector RETURNING id`,
  );
  const link = db.prepare(
    'INSERT OR REPLACE INTO chunk_vectors (chunk_id, file_id, model_id, embedding_id, bits) VALUES (?, ?, ?, ?, ?)',
  );
  const linkAll = (chunks: readonly ChunkText[]): ReadonlySet<number> => {
    const linked = new Set<number>();
    for (const { chunkId, fileId, hash } of chunks) {
      const found = find.get(modelId, hash) as { id: number; vector: Uint8Array } | undefined;
      if (found === undefined) continue;
      link.run(chunkId, fileId, modelId, found.id, bitsOfBytes(found.vector));
      linked.add(chunkId);
    }
    return linked;
  };
  return {
    link: (chunks) => Promise.resolve(inTransaction(db, () => linkAll(chunks))),
    add(embedded) {
      inTransaction(db, () => {
        for (const { chunks, vector } of embedded) {
          const { id } = insert.get(modelId, chunks[0].hash, quantizeToBytes(vector)) as { id: number };
          const bits = quantizeToBits(vector);
          for (const { chunkId, fileId } of chunks) link.run(chunkId, fileId, modelId, id, bits);
        }
      });
      return Promise.resolve();
    },
    clean() {
      db.prepare(
        `DELETE FROM embeddings WHERE id IN (
           SELECT id FROM embeddings e WHERE NOT EXISTS (SELECT 1 FROM chunk_vectors v WHERE v.embedding_id = e.id)
           ORDER BY id DESC LIMIT -1 OFFSET ${KEPT_WITHOUT_CHUNK})`,
      ).run();
      return Promise.resolve();
    },
  };
}

/** Rounding to a byte may lose the sign of a number near zero, which is a bit of noise either way. */
function bitsOfBytes(vector: Uint8Array): Buffer {
  return quantizeToBits(Float32Array.from(new Int8Array(vector.buffer, vector.byteOffset, vector.length)));
}

/** Minimum number of candidates that are chosen by their bits and ranked by their bytes. */
const MIN_CANDIDATES = 500;
const CANDIDATES_PER_MATCH = 10;

/**
 * Searches the index over a connection that has loaded sqlite-vec. All chunks that pass the filter are compared by their
 * bits; the nearest 500, or ten times the limit, are ranked by their vectors. So up to 500 chunks are ranked exactly.
 */
export function createSqliteVectorIndex(db: Database, modelId: number): VectorIndex {
  const statements = new Map<string, Statement>();
  return {
    nearest(vector, limit, filter) {
      const { where, params } = buildFilterConditions(filter);
      let statement = statements.get(where);
      if (statement === undefined) statements.set(where, (statement = db.prepare(nearestSql(where))));
      const found = statement.all({
        ...params,
        modelId,
        bits: quantizeToBits(vector),
        vector: quantizeToBytes(vector),
        candidates: Math.max(MIN_CANDIDATES, CANDIDATES_PER_MATCH * limit),
        limit,
      });
      return Promise.resolve(found as readonly VectorMatch[]);
    },
  };
}

/** CROSS JOIN keeps the order: the vectors are scanned, and the file of each is looked up. */
function nearestSql(where: string): string {
  return `
    WITH candidates AS MATERIALIZED (
      SELECT v.chunk_id, v.embedding_id, vec_distance_hamming(vec_bit(v.bits), vec_bit(@bits)) AS distance
      FROM chunk_vectors v CROSS JOIN files f ON f.id = v.file_id
      WHERE v.model_id = @modelId AND f.state = 'live' AND ${where}
      ORDER BY distance, v.chunk_id LIMIT @candidates
    )
    SELECT c.chunk_id AS chunkRowId, vec_distance_cosine(vec_int8(e.vector), vec_int8(@vector)) AS distance
    FROM candidates c CROSS JOIN embeddings e ON e.id = c.embedding_id
    ORDER BY 2, 1 LIMIT @limit`;
}

/** The sign of each number, one bit each, padded with zero bits. Near vectors share most signs. */
function quantizeToBits(vector: Float32Array): Buffer {
  const bits = Buffer.alloc(Math.ceil(vector.length / 8));
  for (let at = 0; at < bits.length; at += 1) {
    let byte = 0;
    for (let bit = 0; bit < 8; bit += 1) if ((vector[at * 8 + bit] ?? 0) > 0) byte |= 1 << bit;
    bits[at] = byte;
  }
  return bits;
}

/**
 * Each number as a signed byte, relative to the largest. The scale is dropped, since it does not change a cosine; the
 * rounding changes it by about 0.001, and the vector takes a quarter of the space.
 */
export function quantizeToBytes(vector: Float32Array): Buffer {
  let largest = 0;
  for (const number of vector) largest = Math.max(largest, Math.abs(number));
  const bytes = new Int8Array(vector.length);
  vector.forEach((number, index) => {
    bytes[index] = Math.round((number / largest) * 127);
  });
  return Buffer.from(bytes.buffer);
}
