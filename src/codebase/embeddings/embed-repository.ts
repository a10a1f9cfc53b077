import type { EmbeddingReport, EmbeddingRun } from './embedding-report.ts';
import type { EmbeddingSettings } from './embedding-settings.ts';
import { embedMissing } from './embed-missing.ts';
import { openHttpProvider } from './http-provider.ts';
import { sqliteVecPath } from './load-sqlite-vec.ts';
import { sqliteVectorStore } from './sqlite-vectors.ts';
import { SYSTEM_CLOCK, type Clock } from './with-retries.ts';

/** Ollama embeds one request after the other; a second one only saves the pause between them. */
const CONCURRENCY = { ollama: 2, openai: 4 } as const;

/**
 * Embeds what a repository lacks, for the indexer, once its text index is live. Never rejects for a failure of the
 * service or of a database: the report says what is missing.
 */
export async function embedRepository(
  settings: EmbeddingSettings,
  run: EmbeddingRun,
  clock: Clock = SYSTEM_CLOCK,
): Promise<EmbeddingReport> {
  const { db, repositoryId, force = false, signal, onProgress = () => undefined } = run;
  const extension = sqliteVecPath();
  // Vectors that no search can use are not worth their requests.
  if (!extension.ok) return offReport(`Searches by meaning are off: ${extension.error}.`);
  const provider = openHttpProvider(settings);
  try {
    return await embedMissing({
      db,
      repositoryId,
      force,
      provider,
      identity: provider.identity,
      storeFor: ({ id }) => Promise.resolve(sqliteVectorStore(db, id)),
      batch: settings.batch,
      concurrency: CONCURRENCY[settings.kind],
      limitMs: settings.timeoutMs,
      clock,
      signal,
      onProgress,
    });
  } finally {
    await provider.close();
  }
}

function offReport(error: string): EmbeddingReport {
  return { status: 'partial', embedded: 0, cached: 0, failed: 0, errors: [error] };
}
