import type { ConnectionFault } from '@assay-mcp/kit/platform/http-client';
import type { Result } from '@assay-mcp/kit/result';

/** Models may expect a different prefix for each. */
export type EmbeddingPurpose = 'document' | 'query';

export interface EmbeddingOptions {
  readonly purpose: EmbeddingPurpose;
  /** Time limit for the request and its response, in ms. */
  readonly limitMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** A service that turns texts into vectors. */
export interface EmbeddingProvider {
  readonly kind: 'ollama' | 'openai';
  readonly model: string;
  /** What vectors depend on besides the text: kind, model and prefix. Vectors of different identities do not mix. */
  readonly identity: string;
  /** One request: one vector per text, in the same order, all of the same length. No retries. */
  embed(
    texts: readonly string[],
    options: EmbeddingOptions,
  ): Promise<Result<readonly Float32Array[], EmbeddingFault>>;
  close(): Promise<void>;
}

/**
 * The reason vectors are missing. Error texts of the service are cut and made printable; the key is never part of a fault.
 */
export type EmbeddingFault =
  | { readonly code: 'UNREACHABLE'; readonly fault: ConnectionFault }
  | { readonly code: 'TIMED_OUT'; readonly limitMs: number }
  /** `retryAfterMs`: how long the service asks to wait, if it does. */
  | {
      readonly code: 'STATUS';
      readonly status: number;
      readonly text: string;
      readonly retryAfterMs: number | undefined;
    }
  | { readonly code: 'ANSWER_TOO_LARGE'; readonly maxBytes: number }
  /** `problem`: a phrase that follows "the embedding service". */
  | { readonly code: 'ANSWER_INVALID'; readonly problem: string }
  | { readonly code: 'CANCELLED' };
