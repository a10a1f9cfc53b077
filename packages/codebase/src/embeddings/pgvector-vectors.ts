import { hostname } from 'node:os';
import { inTransaction, type Database } from '@assay-mcp/kit/platform/sqlite';
import type { FileFilter } from '../file-filter.ts';
import {
  addRows,
  deleteRows,
  linkRows,
  findNearestRows,
  prepareTable,
  getTableName,
} from './pgvector-table.ts';
import type { PostgresConnection } from './postgres-connection.ts';
import type { VectorMatch } from './vector-search.ts';
import type { VectorIndex, VectorStore } from './vector-store.ts';
import type { ChunkText, ModelRow } from './vector-tables.ts';

/** Vectors in another database are not used, so the database is part of their identity. */
export function toPgvectorIdentity(identity: string, url: string): string {
  const { host, pathname } = new URL(url);
  return JSON.stringify([identity, 'pgvector', host, pathname]);
}

/**
 * Vectors in PostgreSQL. The index records a chunk's vector only after PostgreSQL has committed it, so a crash in
 * between costs a repeated request but never loses a vector.
 */
export async function createPgvectorStore(
  connection: PostgresConnection,
  db: Database,
  model: ModelRow,
): Promise<VectorStore> {
  const table = getTableName(model);
  await prepareTable(
    connection,
    { place: `${hostname()}:${db.location() ?? ''}`, model },
    formerKeys(db, model),
  );
  forgetFormer(db, model);
  const note = db.prepare(
    'INSERT OR REPLACE INTO chunk_vectors (chunk_id, file_id, model_id, embedding_id, bits) VALUES (?, ?, ?, NULL, NULL)',
  );
  const noteAll = (chunks: readonly ChunkText[]): void =>
    inTransaction(db, () => {
      for (const { chunkId, fileId } of chunks) note.run(chunkId, fileId, model.id);
    });
  return {
    async link(chunks) {
      const linked = new Set(await linkRows(connection, table, chunks));
      noteAll(chunks.filter(({ chunkId }) => linked.has(chunkId)));
      return linked;
    },
    async add(embedded) {
      await addRows(connection, table, embedded);
      noteAll(embedded.flatMap(({ chunks }) => chunks));
    },
    clean: () => deleteVanished(connection, db, model),
  };
}

const DELETED_AT_ONCE = 10_000;

/** A reused id belongs to a new chunk, whose row has replaced the former one. */
async function deleteVanished(connection: PostgresConnection, db: Database, model: ModelRow): Promise<void> {
  const select = db.prepare(
    'SELECT chunk_id AS id FROM vanished_chunks WHERE model_id = ? ORDER BY chunk_id LIMIT ?',
  );
  const isUsed = db.prepare('SELECT 1 FROM chunk_vectors WHERE chunk_id = ? AND model_id = ?');
  const forget = db.prepare('DELETE FROM vanished_chunks WHERE model_id = ? AND chunk_id <= ?');
  for (;;) {
    const rows = select.all(model.id, DELETED_AT_ONCE) as readonly { readonly id: number }[];
    const ids = rows.map(({ id }) => id);
    const last = ids.at(-1);
    if (last === undefined) return;
    await deleteRows(
      connection,
      getTableName(model),
      ids.filter((id) => isUsed.get(id, model.id) === undefined),
    );
    forget.run(model.id, last);
  }
}

/** Models whose vectors are all replaced. Chunks of other repositories may still use others. */
const FORMER = `FROM embedding_models WHERE id <> @id AND id NOT IN (SELECT model_id FROM chunk_vectors)
  AND id NOT IN (SELECT model_id FROM embeddings)`;

function formerKeys(db: Database, { id }: ModelRow): readonly string[] {
  const rows = db.prepare(`SELECT key ${FORMER}`).all({ id }) as readonly { readonly key: string }[];
  return rows.map(({ key }) => key);
}

function forgetFormer(db: Database, { id }: ModelRow): void {
  inTransaction(db, () => {
    db.prepare(`DELETE FROM vanished_chunks WHERE model_id IN (SELECT id ${FORMER})`).run({ id });
    db.prepare(`DELETE ${FORMER}`).run({ id });
  });
}

/** Number of rows requested beyond the limit, because some may belong to deleted chunks. */
const SPARE = 20;
const MAX_ROUNDS = 4;

/** Searches in PostgreSQL; the index says which of the rows are chunks of live files. */
export function createPgvectorIndex(
  connection: PostgresConnection,
  db: Database,
  model: ModelRow,
): VectorIndex {
  const table = getTableName(model);
  const live = db.prepare(
    `SELECT v.chunk_id AS id FROM chunk_vectors v JOIN files f ON f.id = v.file_id
     WHERE v.model_id = @modelId AND f.state = 'live' AND v.chunk_id IN (SELECT value FROM json_each(@ids))`,
  );
  const liveOf = (rows: readonly VectorMatch[]): readonly VectorMatch[] => {
    const ids = JSON.stringify(rows.map(({ chunkRowId }) => chunkRowId));
    const found = live.all({ modelId: model.id, ids }) as readonly { readonly id: number }[];
    const known = new Set(found.map(({ id }) => id));
    return rows.filter(({ chunkRowId }) => known.has(chunkRowId));
  };
  const count = db.prepare('SELECT count(*) AS repositories FROM repositories');
  return {
    async nearest(vector, limit, given) {
      const { repositories } = count.get() as { readonly repositories: number };
      const filter: FileFilter = repositories === 1 ? { ...given, repositoryId: undefined } : given;
      let wanted = limit + SPARE;
      for (let round = 1; ; round += 1) {
        const rows = await findNearestRows(connection, { table, filter }, { vector, limit: wanted });
        const found = liveOf(rows);
        // Too many rows belong to former chunks: request more, until there are enough or no more.
        if (found.length >= limit || rows.length < wanted || round === MAX_ROUNDS)
          return found.slice(0, limit);
        wanted *= 4;
      }
    },
  };
}
