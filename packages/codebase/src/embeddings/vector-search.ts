import type { Result } from '@assay-mcp/kit/result';
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

/** Searches by meaning in one project. After a failure, only the search by words is used, and its result says so. */
export interface VectorSearch {
  /** Nearest chunks first. A failure of the service or the store does not reject. */
  search(query: VectorQuery): Promise<Result<readonly VectorMatch[], VectorFailure>>;
}

export type VectorFailure =
  | { readonly code: 'EMBEDDING_FAILED'; readonly fault: EmbeddingFault }
  /** Nothing was embedded yet: embeddings were configured after the last run, or every request failed. */
  | { readonly code: 'NO_VECTORS' }
  /** The vectors belong to another model; the next run replaces them. */
  | { readonly code: 'MODEL_CHANGED'; readonly indexed: string; readonly configured: string }
  /** The model now returns a different dimension; a forced run replaces its vectors. */
  | {
      readonly code: 'DIMENSION_CHANGED';
      readonly model: string;
      readonly indexed: number;
      readonly answered: number;
    }
  /** `problem`: a phrase, such as why sqlite-vec cannot be loaded. */
  | { readonly code: 'STORE_FAILED'; readonly problem: string };
