import { toDirectoryPrefix, type FileFilter } from '../file-filter.ts';
import type { PostgresConnection, PostgresQueries } from './postgres-connection.ts';
import type { VectorMatch } from './vector-search.ts';
import type { EmbeddedText } from './vector-store.ts';
import type { ChunkText, ModelRow } from './vector-tables.ts';

/** pgvector is not installed, or the extension may not be created. The message says what to do. */
export class PgvectorMissing extends Error {
  readonly code = 'PGVECTOR_MISSING';
}

/** The index and the model whose vectors a table contains. */
export interface TableOwner {
  /** The machine and the path of the index, for people who clean up the database. */
  readonly place: string;
  readonly model: ModelRow;
}

/** The table of one index and one model. Projects do not share tables, so they cannot see each other's rows. */
export function getTableName({ key }: Pick<ModelRow, 'key'>): string {
  return `assay_codebase.v_${key.replaceAll('-', '')}`;
}

/** Creates what is missing, and drops the tables of former models of the index, by their keys. */
export async function prepareTable(
  connection: PostgresConnection,
  { place, model }: TableOwner,
  formerKeys: readonly string[],
): Promise<void> {
  await requirePgvector(connection);
  const table = getTableName(model);
  await connection.transaction(async (queries) => {
    // CREATE … IF NOT EXISTS fails if two sessions create the same thing.
    await queries.query("SELECT pg_advisory_xact_lock(hashtext('assay_codebase'))");
    await queries.query('CREATE SCHEMA IF NOT EXISTS assay_codebase');
    await queries.query(
      `CREATE TABLE IF NOT EXISTS assay_codebase.indexes (
         name text PRIMARY KEY, place text NOT NULL, model text NOT NULL, created_at timestamptz NOT NULL DEFAULT now())`,
    );
    for (const name of formerKeys.map((key) => getTableName({ key }))) {
      await queries.query(`DROP TABLE IF EXISTS ${name}`);
      await queries.query('DELETE FROM assay_codebase.indexes WHERE name = $1', [name]);
    }
    await queries.query(
      'INSERT INTO assay_codebase.indexes (name, place, model) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [table, place, model.name],
    );
    await createTable(queries, table, model.dimension);
  });
}

async function requirePgvector(queries: PostgresQueries): Promise<void> {
  const { rows } = await queries.query(
    "SELECT installed_version AS installed FROM pg_available_extensions WHERE name = 'vector'",
  );
  const [found] = rows as readonly { installed: string | null }[];
  if (found === undefined)
    throw new PgvectorMissing(
      'the PostgreSQL server of ASSAY_CODEBASE_VECTORS_URL has no pgvector extension; install it there, or unset the setting to keep vectors in the index',
    );
  if (found.installed !== null) return;
  try {
    await queries.query('CREATE EXTENSION IF NOT EXISTS vector');
  } catch (error) {
    throw new PgvectorMissing(
      'the user of ASSAY_CODEBASE_VECTORS_URL may not create the pgvector extension; let an administrator run CREATE EXTENSION vector in that database',
      { cause: error },
    );
  }
}

/** HNSW takes up to 2,000 dimensions, and 4,000 at half precision. Beyond that, searches compare all vectors. */
async function createTable(queries: PostgresQueries, table: string, dimension: number): Promise<void> {
  const type = dimension > 2_000 && dimension <= 4_000 ? 'halfvec' : 'vector';
  await queries.query(
    `CREATE TABLE IF NOT EXISTS ${table} (
       chunk_id bigint PRIMARY KEY, repository_id text NOT NULL, path text NOT NULL, text_hash text NOT NULL,
       embedding ${type}(${dimension}) NOT NULL)`,
  );
  await queries.query(`CREATE INDEX IF NOT EXISTS ${indexName(table)}_text ON ${table} (text_hash)`);
  if (dimension <= 4_000)
    await queries.query(
      `CREATE INDEX IF NOT EXISTS ${indexName(table)}_hnsw ON ${table} USING hnsw (embedding ${type}_cosine_ops)`,
    );
}

/** An index is created in the schema of its table, and named without it. */
function indexName(table: string): string {
  return table.replace(/^.*[.]/, '');
}

const UPSERT = `
  ON CONFLICT (chunk_id) DO UPDATE SET repository_id = excluded.repository_id, path = excluded.path,
    text_hash = excluded.text_hash, embedding = excluded.embedding`;

/** Copies the vectors of equal texts. Returns the ids of the chunks that have one now. */
export async function linkRows(
  queries: PostgresQueries,
  table: string,
  chunks: readonly ChunkText[],
): Promise<readonly number[]> {
  const { rows } = await queries.query(
    `INSERT INTO ${table} (chunk_id, repository_id, path, text_hash, embedding)
     SELECT DISTINCT ON (n.chunk_id) n.chunk_id, n.repository_id, n.path, n.text_hash, o.embedding
     FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[]) AS n (chunk_id, repository_id, path, text_hash)
     JOIN ${table} o ON o.text_hash = n.text_hash ${UPSERT} RETURNING chunk_id`,
    columnsOf(chunks),
  );
  return (rows as readonly { chunk_id: unknown }[]).map(({ chunk_id: id }) => Number(id));
}

export async function addRows(
  queries: PostgresQueries,
  table: string,
  embedded: readonly EmbeddedText[],
): Promise<void> {
  const chunks = embedded.flatMap(({ chunks }) => chunks);
  const vectors = embedded.flatMap(({ chunks, vector }) => chunks.map(() => literal(vector)));
  const type = vectorTypeOf(embedded[0]?.vector.length ?? 0);
  await queries.query(
    `INSERT INTO ${table} (chunk_id, repository_id, path, text_hash, embedding)
     SELECT n.chunk_id, n.repository_id, n.path, n.text_hash, n.embedding::${type}
     FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[])
       AS n (chunk_id, repository_id, path, text_hash, embedding) ${UPSERT}`,
    [...columnsOf(chunks), vectors],
  );
}

export async function deleteRows(
  queries: PostgresQueries,
  table: string,
  ids: readonly number[],
): Promise<void> {
  await queries.query(`DELETE FROM ${table} WHERE chunk_id = ANY ($1::bigint[])`, [ids]);
}

function columnsOf(chunks: readonly ChunkText[]): unknown[] {
  return [
    chunks.map(({ chunkId }) => chunkId),
    chunks.map(({ repositoryId }) => repositoryId),
    chunks.map(({ path }) => path),
    chunks.map(({ hash }) => hash.toString('hex')),
  ];
}

/** Number of rows that HNSW considers (`hnsw.ef_search`). It returns no more than these. */
const EF_SEARCH = 400;
const MAX_EF_SEARCH = 1_000;

/**
 * The nearest rows that pass the filter. Without a filter, HNSW finds them, approximately. With one, the rows that pass
 * are compared one by one: HNSW would choose the nearest first and filter afterwards, and could leave none.
 */
export async function findNearestRows(
  connection: PostgresConnection,
  { table, filter }: { readonly table: string; readonly filter: FileFilter },
  { vector, limit }: { readonly vector: Float32Array; readonly limit: number },
): Promise<readonly VectorMatch[]> {
  const { where, params } = conditionsOf(filter);
  const type = vectorTypeOf(vector.length);
  const from =
    where === '' ? table : `(SELECT chunk_id, embedding FROM ${table} WHERE ${where} OFFSET 0) AS passing`;
  return connection.transaction(async (queries) => {
    if (where === '' && limit <= MAX_EF_SEARCH)
      await queries.query(`SET LOCAL hnsw.ef_search = ${Math.max(EF_SEARCH, limit)}`);
    else await queries.query('SET LOCAL enable_indexscan = off');
    const { rows } = await queries.query(
      `SELECT chunk_id, embedding <=> $1::${type} AS distance FROM ${from}
       ORDER BY embedding <=> $1::${type} LIMIT $2`,
      [literal(vector), limit, ...params],
    );
    return (rows as readonly { chunk_id: unknown; distance: unknown }[]).map((row) => ({
      chunkRowId: Number(row.chunk_id),
      distance: Number(row.distance),
    }));
  });
}

/** `$1` and `$2` are the vector and the limit. */
function conditionsOf({ repositoryId, repositoryIds, directory, fileType }: FileFilter): {
  readonly where: string;
  readonly params: readonly string[];
} {
  const prefix = toDirectoryPrefix(directory);
  const parts: [string, string][] = [];
  if (repositoryId !== undefined) parts.push(['repository_id = $', repositoryId]);
  if (repositoryIds !== undefined)
    parts.push(["repository_id = ANY(string_to_array($, ','))", repositoryIds.join(',')]);
  if (prefix !== '') parts.push(['starts_with(path, $)', prefix]);
  if (fileType !== undefined)
    parts.push(['lower(right(path, char_length($))) = $', `.${fileType.toLowerCase()}`]);
  return {
    where: parts.map(([sql], index) => sql.replaceAll('$', `$${index + 3}`)).join(' AND '),
    params: parts.map(([, value]) => value),
  };
}

function vectorTypeOf(dimension: number): string {
  return dimension > 2_000 && dimension <= 4_000 ? 'halfvec' : 'vector';
}

function literal(vector: Float32Array): string {
  return `[${vector.join(',')}]`;
}
