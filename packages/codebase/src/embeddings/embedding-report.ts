import type { Database } from '@assay-mcp/kit/platform/sqlite';

/** The result of embedding the chunks of a repository that lacked a vector. */
export interface EmbeddingReport {
  /** `partial`: chunks without a vector remain; the next run embeds them. They are found by words meanwhile. */
  readonly status: 'complete' | 'partial';
  /** Chunks that the service embedded. */
  readonly embedded: number;
  /** Chunks that needed no request, because the same text was embedded before. */
  readonly cached: number;
  /** Chunks that still have no vector. */
  readonly failed: number;
  /** Sentences for people: at most ten causes, each once, and how many chunks have no vector. */
  readonly errors: readonly string[];
}

/** `total`: chunks that lacked a vector when the run began; `done`: those that have one or failed. */
export type EmbeddingProgress = (done: number, total: number) => void;

/** Posted by the indexer once the text index is live, with its read-write connection. */
export interface EmbeddingRun {
  readonly db: Database;
  readonly repositoryId: string;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: EmbeddingProgress | undefined;
  /** Requests the model's dimension even if no chunk lacks a vector, for `force_reindex`. */
  readonly force?: boolean | undefined;
}
