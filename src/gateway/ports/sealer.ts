import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';

export interface Sealing {
  /** What it speaks of. Only with the very same text it can be opened again. */
  readonly about: string;
  /** From this moment on it cannot be opened any more. */
  readonly expiresMs: number;
}

/** Seals what a client keeps for us from one of its requests to the next, so that no process need remember it. */
export interface Sealer {
  seal(text: string, sealing: Sealing): Promise<string>;
  /** STATE_INVALID where it was not sealed by a process on the same store, speaks of something else, or has expired. */
  open(
    sealed: string,
    opening: { readonly about: string; readonly nowMs: number },
  ): Promise<Result<string, Refusal>>;
}
