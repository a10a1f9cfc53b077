import { ok } from '@assay-mcp/kit/result';
import type { EmbeddingProvider } from './embedding-provider.ts';
import type { EmbeddingReport, EmbeddingRun } from './embedding-report.ts';
import type { EmbeddingSettings } from './embedding-settings.ts';
import { embedMissing, type EmbedOptions } from './embed-missing.ts';
import { openHttpProvider } from './http-provider.ts';
import { loadSqliteVec } from './load-sqlite-vec.ts';
import { toPgvectorIdentity, createPgvectorStore } from './pgvector-vectors.ts';
import { openPostgres, type PostgresConnection, type VectorDatabase } from './postgres-connection.ts';
import { createSqliteVectorStore } from './sqlite-vectors.ts';
import { formatModelName } from './vector-tables.ts';
import { SYSTEM_CLOCK, type Clock } from './with-retries.ts';

/** Ollama embeds one request after the other; a second one only saves the pause between them. */
const CONCURRENCY = { ollama: 2, openai: 4 } as const;
const STATEMENT_MS = 30_000;

/** External dependencies, replaced in tests. */
export interface Outside {
  readonly clock?: Clock;
  readonly connect?: (url: string) => PostgresConnection;
  /** The path of sqlite-vec's extension. Throws if there is none. */
  readonly extension?: () => string;
}

/**
 * Embeds the chunks of a repository that lack a vector, once its text index is live. A failure of the service or a
 * database does not reject: the report says what is missing.
 */
export async function embedRepository(
  settings: EmbeddingSettings,
  run: EmbeddingRun,
  {
    clock = SYSTEM_CLOCK,
    connect = (url): PostgresConnection => openPostgres(url, STATEMENT_MS, settings.proxy),
    extension,
  }: Outside = {},
): Promise<EmbeddingReport> {
  const { vectorsUrl } = settings;
  // Vectors that no search can use are not worth their requests.
  const loaded = vectorsUrl === undefined ? loadSqliteVec(run.db, extension) : ok(undefined);
  if (!loaded.ok) return offReport(`Searches by meaning are off: ${loaded.error}.`);
  const provider = openHttpProvider(settings);
  const database =
    vectorsUrl === undefined ? undefined : { url: vectorsUrl, connection: connect(vectorsUrl) };
  try {
    return await embedMissing({
      ...run,
      ...storageOf(run, provider, database),
      force: run.force ?? false,
      signal: run.signal,
      onProgress: run.onProgress ?? ((): void => undefined),
      provider,
      batch: settings.batch,
      concurrency: CONCURRENCY[settings.kind],
      limitMs: settings.timeoutMs,
      clock,
    });
  } finally {
    await Promise.all([provider.close(), database?.connection.close()]);
  }
}

function storageOf(
  { db }: EmbeddingRun,
  provider: EmbeddingProvider,
  database: VectorDatabase | undefined,
): Pick<EmbedOptions, 'identity' | 'name' | 'storeFor'> {
  const name = formatModelName(provider, database);
  if (database === undefined)
    return {
      identity: provider.identity,
      name,
      storeFor: ({ id }) => Promise.resolve(createSqliteVectorStore(db, id)),
    };
  return {
    identity: toPgvectorIdentity(provider.identity, database.url),
    name,
    storeFor: (model) => createPgvectorStore(database.connection, db, model),
  };
}

function offReport(error: string): EmbeddingReport {
  return { status: 'partial', embedded: 0, cached: 0, failed: 0, errors: [error] };
}
