import { createHash, randomUUID } from 'node:crypto';
import { truncateText } from '@assay-mcp/kit/shorten';
import { inTransaction, type Database } from '@assay-mcp/kit/platform/sqlite';

/**
 * Vectors in the index. They are created when the first chunk is embedded.
 *
 * `embeddings` holds each text's vector once, by the hash of the text, so that a text that moves or comes back needs no
 * request. `chunk_vectors` says which chunk has which; deleting a chunk deletes its row too, because row ids are reused.
 * Its `bits` are scanned by searches, so the row is small. These are plain tables instead of sqlite-vec's virtual one:
 * connections without the extension can write them, conditions on files apply before the nearest are chosen, and the
 * scan is faster.
 *
 * Where pgvector holds the vectors, `embedding_id` and `bits` are null, `embedding_models.key` names the table there, and
 * `vanished_chunks` lists the rows to delete there.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS embedding_models (
  id INTEGER PRIMARY KEY,
  identity TEXT NOT NULL,
  name TEXT NOT NULL,
  dimension INTEGER NOT NULL,
  key TEXT NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS embeddings (
  id INTEGER PRIMARY KEY,
  model_id INTEGER NOT NULL REFERENCES embedding_models (id),
  text_hash BLOB NOT NULL,
  vector BLOB NOT NULL,
  UNIQUE (model_id, text_hash)
) STRICT;
CREATE TABLE IF NOT EXISTS chunk_vectors (
  chunk_id INTEGER PRIMARY KEY,
  file_id INTEGER NOT NULL,
  model_id INTEGER NOT NULL,
  embedding_id INTEGER,
  bits BLOB
) STRICT;
CREATE INDEX IF NOT EXISTS chunk_vectors_by_embedding ON chunk_vectors (embedding_id);
CREATE TABLE IF NOT EXISTS vanished_chunks (
  model_id INTEGER NOT NULL,
  chunk_id INTEGER NOT NULL,
  PRIMARY KEY (model_id, chunk_id)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER IF NOT EXISTS chunk_vectors_deleted AFTER DELETE ON chunks
BEGIN
  INSERT OR IGNORE INTO vanished_chunks SELECT model_id, chunk_id FROM chunk_vectors
    WHERE chunk_id = OLD.id AND bits IS NULL;
  DELETE FROM chunk_vectors WHERE chunk_id = OLD.id;
END;
`;

export interface ModelRow {
  readonly id: number;
  /** For people, such as `nomic-embed-text (ollama)`. */
  readonly name: string;
  readonly dimension: number;
  /** Random; changes whenever the vectors are recomputed. */
  readonly key: string;
}

export interface ChunkText {
  readonly chunkId: number;
  readonly fileId: number;
  readonly repositoryId: string;
  readonly path: string;
  readonly text: string;
  /** SHA-256 of the text. */
  readonly hash: Buffer;
}

export function createVectorTables(db: Database): void {
  db.exec(TABLES);
}

/** Whether anything was ever embedded. */
export function hasVectorTables(db: Database): boolean {
  return (
    db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'chunk_vectors' AND type = 'table'").get() !==
    undefined
  );
}

/** The model with this identity, and its last known dimension. */
export function findModel(db: Database, identity: string): ModelRow | undefined {
  return db
    .prepare(
      'SELECT id, name, dimension, key FROM embedding_models WHERE identity = ? ORDER BY id DESC LIMIT 1',
    )
    .get(identity) as ModelRow | undefined;
}

/** Whether any chunk has a vector of the model. */
export function isUsed(db: Database, { id }: ModelRow): boolean {
  return db.prepare('SELECT 1 FROM chunk_vectors WHERE model_id = ? LIMIT 1').get(id) !== undefined;
}

/** For people. Omits the prefix, which is part of the identity but rarely what changed. */
export function formatModelName(
  { kind, model }: { readonly kind: string; readonly model: string },
  database: object | undefined,
): string {
  return `${model} (${kind}${database === undefined ? '' : ', in PostgreSQL'})`;
}

export interface EmbeddedChunks {
  readonly model: string;
  readonly dimension: number;
  readonly chunks: number;
}

/** How many live chunks of a repository can be found by meaning, per model, most first. */
export function countEmbeddedChunks(db: Database, repositoryId: string): readonly EmbeddedChunks[] {
  if (!hasVectorTables(db)) return [];
  return db
    .prepare(
      `SELECT m.name AS model, m.dimension, count(*) AS chunks FROM files f
       JOIN chunk_vectors v ON v.file_id = f.id JOIN embedding_models m ON m.id = v.model_id
       WHERE f.repository_id = ? AND f.state = 'live' GROUP BY m.id ORDER BY chunks DESC`,
    )
    .all(repositoryId) as readonly EmbeddedChunks[];
}

/** The model to whose vectors most chunks belong. */
export function findMostUsedModel(db: Database): ModelRow | undefined {
  return db
    .prepare(
      `SELECT m.id, m.name, m.dimension, m.key FROM embedding_models m
       JOIN (SELECT model_id, count(*) AS count FROM chunk_vectors GROUP BY model_id) v ON v.model_id = m.id
       ORDER BY v.count DESC LIMIT 1`,
    )
    .get() as ModelRow | undefined;
}

/** The former vectors of this identity are deleted: its model cannot answer with their dimension. */
export function registerModel(
  db: Database,
  { identity, name, dimension }: { identity: string; name: string; dimension: number },
): ModelRow {
  return inTransaction(db, () => {
    for (const table of ['chunk_vectors', 'embeddings'])
      db.prepare(
        `DELETE FROM ${table} WHERE model_id IN (SELECT id FROM embedding_models WHERE identity = ?)`,
      ).run(identity);
    const key = randomUUID();
    const insert = 'INSERT INTO embedding_models (identity, name, dimension, key) VALUES (?, ?, ?, ?)';
    const { lastInsertRowid } = db.prepare(insert).run(identity, name, dimension, key);
    return { id: Number(lastInsertRowid), name, dimension, key };
  });
}

const LIVE =
  "FROM files f JOIN chunks c ON c.file_id = f.id WHERE f.state = 'live' AND f.repository_id = @repositoryId";
const LACKING =
  'NOT EXISTS (SELECT 1 FROM chunk_vectors v WHERE v.chunk_id = c.id AND v.model_id = @modelId)';

export interface Lacking {
  readonly repositoryId: string;
  /** Undefined before the first answer: every chunk then lacks a vector. */
  readonly modelId: number | undefined;
}

/** How many live chunks of a repository have no vector of the model. */
export function countLacking(db: Database, { repositoryId, modelId }: Lacking): number {
  const select = db.prepare(`SELECT count(*) AS count ${LIVE} AND ${LACKING}`);
  const { count } = select.get({ repositoryId, modelId: modelId ?? 0 }) as { readonly count: number };
  return count;
}

/** Up to `limit` of them with an id above `after`, in the order of their ids. */
export function listLackingChunks(
  db: Database,
  { repositoryId, modelId }: Lacking,
  { after, limit }: { readonly after: number; readonly limit: number },
): readonly ChunkText[] {
  const rows = db
    .prepare(
      `SELECT c.id AS chunkId, c.file_id AS fileId, f.path, c.symbol, c.parent, c.content FROM chunks c
       JOIN files f ON f.id = c.file_id
       WHERE c.id > @after AND f.state = 'live' AND f.repository_id = @repositoryId AND ${LACKING}
       ORDER BY c.id LIMIT @limit`,
    )
    .all({ repositoryId, modelId: modelId ?? 0, after, limit }) as readonly ChunkRow[];
  return rows.map(({ chunkId, fileId, path, ...row }) => {
    const text = textOf(row);
    return { chunkId, fileId, repositoryId, path, text, hash: createHash('sha256').update(text).digest() };
  });
}

interface ChunkRow {
  readonly chunkId: number;
  readonly fileId: number;
  readonly path: string;
  readonly symbol: string | null;
  readonly parent: string | null;
  readonly content: string;
}

/** Enough for a model's 8,192 tokens; of a longer chunk only the beginning is embedded. */
const MAX_TEXT = 16_000;

/** Adds the class that a method belongs to, which its text does not contain. Omits the path, because files move. */
function textOf({ symbol, parent, content }: Pick<ChunkRow, 'symbol' | 'parent' | 'content'>): string {
  const heading = parent === null ? '' : `${parent}${symbol === null ? '' : `.${symbol}`}\n`;
  return truncateText(heading + content, MAX_TEXT);
}
