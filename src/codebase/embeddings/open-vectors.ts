import type { Database } from 'better-sqlite3';
import { err, ok, type Result } from '../../core/result.ts';
import type { EmbeddingProvider } from './embedding-provider.ts';
import type { EmbeddingSettings } from './embedding-settings.ts';
import { openHttpProvider } from './http-provider.ts';
import { loadSqliteVec } from './load-sqlite-vec.ts';
import { sqliteVectorIndex } from './sqlite-vectors.ts';
import type { VectorFailure, VectorQuery, VectorSearch } from './vector-search.ts';
import type { VectorIndex } from './vector-store.ts';
import {
  hasVectorTables,
  isUsed,
  modelName,
  modelOf,
  mostUsedModel,
  type ModelRow,
} from './vector-tables.ts';

/** Searches by meaning in the indexes of all projects, with one connection pool to the embedding service. */
export interface Vectors {
  /** For a connection to an index, which may be read-only. Keep it as long as the connection. */
  searchIn(db: Database): VectorSearch;
  close(): Promise<void>;
}

export function openVectors(settings: EmbeddingSettings): Vectors {
  const provider = openHttpProvider(settings);
  return {
    searchIn: (db) => vectorSearch(db, provider, settings),
    close: () => provider.close(),
  };
}

function vectorSearch(
  db: Database,
  provider: EmbeddingProvider,
  { queryTimeoutMs }: EmbeddingSettings,
): VectorSearch {
  const indexes = new Map<number, VectorIndex>();
  let loaded: Result<undefined, string> | undefined;
  const indexOf = ({ id }: ModelRow): Result<VectorIndex, VectorFailure> => {
    loaded ??= loadSqliteVec(db);
    if (!loaded.ok) return err({ code: 'STORE_FAILED', problem: loaded.error });
    const index = indexes.get(id) ?? sqliteVectorIndex(db, id);
    indexes.set(id, index);
    return ok(index);
  };
  return {
    async search({ text, limit, filter, signal }: VectorQuery) {
      const model = usableModel(db, provider);
      if (!model.ok) return model;
      const index = indexOf(model.value);
      if (!index.ok) return index;
      const vectors = await provider.embed([text], { purpose: 'query', limitMs: queryTimeoutMs, signal });
      if (!vectors.ok) return err({ code: 'EMBEDDING_FAILED', fault: vectors.error });
      const vector = vectors.value[0] ?? new Float32Array();
      if (vector.length !== model.value.dimension)
        return err({
          code: 'DIMENSION_CHANGED',
          model: model.value.name,
          indexed: model.value.dimension,
          answered: vector.length,
        });
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
    // Errors of databases carry a code; everything else is a bug.
    if (!(error instanceof Error && 'code' in error && typeof error.code === 'string')) throw error;
    return err({ code: 'STORE_FAILED', problem: `${error.message} (${error.code})` });
  }
}

/** The configured model as the index knows it. No request is made if it has no vectors of it. */
function usableModel(
  db: Database,
  { identity, kind, model }: EmbeddingProvider,
): Result<ModelRow, VectorFailure> {
  if (!hasVectorTables(db)) return err({ code: 'NO_VECTORS' });
  const known = modelOf(db, identity);
  if (known !== undefined && isUsed(db, known)) return ok(known);
  const indexed = mostUsedModel(db)?.name;
  return err(
    indexed === undefined
      ? { code: 'NO_VECTORS' }
      : { code: 'MODEL_CHANGED', indexed, configured: modelName({ kind, model }) },
  );
}
