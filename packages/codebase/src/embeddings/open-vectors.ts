import { toPrintable } from '@assay-mcp/kit/printable';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { getErrorCode, type Database } from '@assay-mcp/kit/platform/sqlite';
import type { EmbeddingProvider } from './embedding-provider.ts';
import type { EmbeddingSettings } from './embedding-settings.ts';
import { openHttpProvider } from './http-provider.ts';
import { loadSqliteVec } from './load-sqlite-vec.ts';
import { toPgvectorIdentity, createPgvectorIndex } from './pgvector-vectors.ts';
import { openPostgres, type PostgresConnection, type VectorDatabase } from './postgres-connection.ts';
import { createSqliteVectorIndex } from './sqlite-vectors.ts';
import type { VectorFailure, VectorQuery, VectorSearch } from './vector-search.ts';
import type { VectorIndex } from './vector-store.ts';
import {
  hasVectorTables,
  isUsed,
  formatModelName,
  findModel,
  findMostUsedModel,
  type ModelRow,
} from './vector-tables.ts';
import { truncateText } from '@assay-mcp/kit/shorten';

/** Searches by meaning in the indexes of all projects, with one connection pool to the embedding service. */
export interface Vectors {
  /** For a connection to an index, which may be read-only. Keep it as long as the connection. */
  searchIn(db: Database): VectorSearch;
  close(): Promise<void>;
}

const STATEMENT_MS = 5_000;

export function openVectors(
  settings: EmbeddingSettings,
  connect = (url: string): PostgresConnection => openPostgres(url, STATEMENT_MS, settings.proxy),
): Vectors {
  const provider = openHttpProvider(settings);
  const { vectorsUrl: url } = settings;
  const database = url === undefined ? undefined : { url, connection: connect(url) };
  return {
    searchIn: (db) => vectorSearch(db, { provider, settings, database }),
    async close() {
      await Promise.all([provider.close(), database?.connection.close()]);
    },
  };
}

interface Parts {
  readonly provider: EmbeddingProvider;
  readonly settings: EmbeddingSettings;
  readonly database: VectorDatabase | undefined;
}

function vectorSearch(db: Database, { provider, settings, database }: Parts): VectorSearch {
  const { queryTimeoutMs } = settings;
  const identity =
    database === undefined ? provider.identity : toPgvectorIdentity(provider.identity, database.url);
  const indexes = new Map<number, VectorIndex>();
  let loaded: Result<undefined, string> | undefined;
  const indexOf = (model: ModelRow): Result<VectorIndex, VectorFailure> => {
    if (database === undefined) loaded ??= loadSqliteVec(db);
    if (loaded?.ok === false) return err({ code: 'STORE_FAILED', problem: loaded.error });
    const known = indexes.get(model.id);
    if (known !== undefined) return ok(known);
    const index =
      database === undefined
        ? createSqliteVectorIndex(db, model.id)
        : createPgvectorIndex(database.connection, db, model);
    indexes.set(model.id, index);
    return ok(index);
  };
  return {
    async search({ text, limit, filter, signal }: VectorQuery) {
      const model = usableModel(db, identity, formatModelName(provider, database));
      if (!model.ok) return model;
      const index = indexOf(model.value);
      if (!index.ok) return index;
      const vectors = await provider.embed([text], { purpose: 'query', limitMs: queryTimeoutMs, signal });
      if (!vectors.ok) return err({ code: 'EMBEDDING_FAILED', fault: vectors.error });
      const vector = vectors.value[0] ?? new Float32Array();
      const { name, dimension } = model.value;
      if (vector.length !== dimension)
        return err({ code: 'DIMENSION_CHANGED', model: name, indexed: dimension, answered: vector.length });
      return nearest(index.value, vector, { limit, filter });
    },
  };
}

async function nearest(
  index: VectorIndex,
  vector: Float32Array,
  { limit, filter }: Pick<VectorQuery, 'limit' | 'filter'>,
): ReturnType<VectorSearch['search']> {
  try {
    return ok(await index.nearest(vector, limit, filter));
  } catch (error) {
    // Database errors have a code; everything else is a bug.
    if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) throw error;
    const problem =
      error.code === UNDEFINED_TABLE
        ? 'PostgreSQL no longer has them; run index_repository with force_reindex'
        : `${toPrintable(truncateText(error.message, 200))} (${getErrorCode(error)})`;
    return err({ code: 'STORE_FAILED', problem });
  }
}

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const UNDEFINED_TABLE = '42P01';

/** The configured model as stored in the index. If the index has no vectors of it, no request is made. */
function usableModel(db: Database, identity: string, configured: string): Result<ModelRow, VectorFailure> {
  if (!hasVectorTables(db)) return err({ code: 'NO_VECTORS' });
  const known = findModel(db, identity);
  if (known !== undefined && isUsed(db, known)) return ok(known);
  const indexed = findMostUsedModel(db)?.name;
  return err(indexed === undefined ? { code: 'NO_VECTORS' } : { code: 'MODEL_CHANGED', indexed, configured });
}
