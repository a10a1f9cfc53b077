import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

export interface Sealing {
  /** Associated data. The text opens only with exactly the same value. */
  readonly about: string;
  /** It cannot be opened from this time on. */
  readonly expiresMs: number;
}

/** Seals state that a client carries from one request to the next, so no process has to remember it. */
export interface Sealer {
  seal(text: string, sealing: Sealing): Promise<string>;
  /** STATE_INVALID if it was sealed by a process on another store, has a different `about`, or has expired. */
  open(
    sealed: string,
    opening: { readonly about: string; readonly nowMs: number },
  ): Promise<Result<string, Refusal>>;
}

/** A task as its server knows it. */
interface ServersTask {
  readonly server: string;
  /** The server's own id. */
  readonly inner: string;
}

/**
 * Maps tasks to the ids that clients see. An id names its server, is stable, works only for the subject it was made
 * for, and cannot be forged.
 */
export interface TaskIds {
  wrap(server: string, subject: string, inner: string): string;
  /** Undefined if the id was not wrapped for this subject. */
  unwrap(wrapped: string, subject: string): ServersTask | undefined;
}

/** What a view needs to offer tasks. */
export interface TaskAccess {
  /** Loads the id wrapper. Its key may be in the store, so it is fetched when the first task appears. */
  readonly ids: () => Promise<TaskIds>;
  /** Whether a single client uses the server links, so their lists contain no one else's tasks. */
  readonly isAlone: boolean;
}
