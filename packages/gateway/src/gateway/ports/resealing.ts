import type { EntryRecordKind, SealedEntry } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Store, StoredCredential } from './store.ts';

/** An encryption key, without what is secret of it. */
export interface KeyInfo {
  readonly id: string;
  /** Where it was read. */
  readonly place: string;
}

/** Encrypts what the store keeps with the newest key. Nothing is returned in clear. */
export interface Resealing {
  /** Newest first; a changed key file is read again. KEY_UNUSABLE if there is none. */
  keys(): Promise<Result<readonly [KeyInfo, ...KeyInfo[]], Refusal>>;
  /** Undefined if no key decrypts it. */
  entry(kind: EntryRecordKind, name: string, sealed: SealedEntry): SealedEntry | undefined;
  /** Undefined if no key decrypts it. */
  secret(name: string, sealed: SealedEntry): SealedEntry | undefined;
  /** Undefined if no key decrypts them. */
  credential(stored: StoredCredential): Pick<StoredCredential, 'keyId' | 'sealed'> | undefined;
  /** Whether they are a sign-in, or what a server answered when it refused one. */
  kindOf(stored: StoredCredential): 'sign_in' | 'challenge';
  /** Makes the newest key the one that every process on the store must have. */
  adopt(store: Store): Promise<Result<undefined, Refusal>>;
}
