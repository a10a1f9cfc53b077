import type { SealedEntry } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

/** Encrypts the values of secrets with the key of the home, which is not in the store. */
export interface SecretSeal {
  /** Error: KEY_UNUSABLE. */
  seal(name: string, value: string): Promise<Result<SealedEntry, Refusal>>;
  /** The error is the end of a sentence. */
  open(name: string, sealed: SealedEntry): Promise<Result<string, string>>;
}
