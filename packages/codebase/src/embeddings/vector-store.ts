import type { FileFilter } from '../file-filter.ts';
import type { VectorMatch } from './vector-search.ts';
import type { ChunkText } from './vector-tables.ts';

/** Stores the vectors of one project and one model. Rejects with errors of its database. */
export interface VectorStore {
  /** Reuses stored vectors for chunks with the same text. Returns the ids of those chunks. */
  link(chunks: readonly ChunkText[]): Promise<ReadonlySet<number>>;
  /** Stores a vector per text, for all chunks that have it. */
  add(embedded: readonly EmbeddedText[]): Promise<void>;
  /** Deletes vectors that no chunk needs. Called after a run. */
  clean(): Promise<void>;
}

export interface EmbeddedText {
  readonly chunks: readonly [ChunkText, ...ChunkText[]];
  readonly vector: Float32Array;
}

/** The search side of a store, over a read-only connection to the index. */
export interface VectorIndex {
  /** The chunks of live files that pass the filter, nearest first. */
  nearest(vector: Float32Array, limit: number, filter: FileFilter): Promise<readonly VectorMatch[]>;
}
