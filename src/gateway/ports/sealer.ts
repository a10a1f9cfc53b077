import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';

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
