import type { AuditEvent } from '../../core/audit-event.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { Toolset } from '../../core/toolset.ts';
import type { StoredToolset } from './toolsets.ts';
import type { AcceptedDefinition, StoredWord, Word, WordKind } from './words.ts';

/** One record as it is to be from now on. */
export type Change =
  /** `accepted`: the definition of the tool that counts as reviewed from now on. */
  | { readonly kind: 'word'; readonly word: Word; readonly accepted?: AcceptedDefinition | undefined }
  /** `replaces`: the name of the toolset whose place it takes; undefined: it is a new one. */
  | { readonly kind: 'toolset'; readonly toolset: Toolset; readonly replaces: string | undefined }
  /** A removed toolset is not equipped any more. */
  | { readonly kind: 'toolset removal'; readonly name: string }
  | { readonly kind: 'equipped'; readonly name: string | undefined }
  /** An undefined value removes the setting. */
  | { readonly kind: 'setting'; readonly key: string; readonly value: unknown };

/** A record as its reader last saw it. `revision` undefined: there was none. */
export type ExpectedRevision =
  | {
      readonly kind: 'word';
      readonly word: { readonly kind: WordKind; readonly id: string };
      readonly revision: number | undefined;
    }
  | { readonly kind: 'toolset'; readonly name: string; readonly revision: number | undefined }
  | { readonly kind: 'equipped'; readonly equippings: number }
  /** Settings are short, so the value serves as its own revision. */
  | { readonly kind: 'setting'; readonly key: string; readonly value: unknown };

export interface Commit {
  readonly changes: readonly Change[];
  /** Records that must still be as they were read; they need not be among the changed ones. */
  readonly expectedRevisions: readonly ExpectedRevision[];
  /** The audit entries of the changes. */
  readonly audit: readonly AuditEvent[];
}

/** The changed records, as stored. */
export interface Committed {
  readonly words: readonly StoredWord[];
  readonly toolsets: readonly StoredToolset[];
}

export interface CommitStore {
  /**
   * Makes all changes and writes their audit entries in one transaction, or does nothing. Returns undefined on a write
   * conflict: a record is no longer in its expected revision, a new toolset's name is taken, or the toolset that is to be
   * replaced, removed or equipped does not exist.
   */
  commit(commit: Commit): Promise<Result<Committed | undefined, Refusal>>;
}
