import type { Result } from '../../core/result.ts';
import type { FileFilter } from '../file-filter.ts';
import type { EmbeddingFault } from './embedding-provider.ts';

export interface VectorMatch {
  /** `chunks.id` of a chunk of a live file. */
  readonly chunkRowId: number;
  /** Cosine distance: 0 is the same direction, 1 unrelated, 2 opposite. */
  readonly distance: number;
}

export interface VectorQuery {
  readonly text: string;
  /** Maximum number of matches. */
  readonly limit: number;
  readonly filter: FileFilter;
  readonly signal?: AbortSignal | undefined;
}

/** Searches by meaning in one project. A failure leaves the search by words, which says so. */
export interface VectorSearch {
  /** The nearest chunks first. Never rejects for a failure of the service or of the vectors. */
  search(query: VectorQuery): Promise<Result<readonly VectorMatch[], VectorFailure>>;
}

export type VectorFailure =
  | { readonly code: 'EMBEDDING_FAILED'; readonly fault: EmbeddingFault }
  /** Nothing was embedded yet: embeddings were configured after the last run, or every request failed. */
  | { readonly code: 'NO_VECTORS' }
  /** The vectors belong to another model; the next run replaces them. */
  | { readonly code: 'MODEL_CHANGED'; readonly indexed: string; readonly configured: string }
  /** The model answers with another dimension than before; a forced run replaces its vectors. */
  | {
      readonly code: 'DIMENSION_CHANGED';
      readonly model: string;
      readonly indexed: number;
      readonly answered: number;
    }
  /** `problem`: a phrase, such as why sqlite-vec cannot be loaded. */
  | { readonly code: 'STORE_FAILED'; readonly problem: string };
