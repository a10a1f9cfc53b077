import type { EntryKind, Entry, SealedText } from '../../core/bundle/bundle.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { CommitStore } from './commit.ts';
import type { ToolsetNews } from './toolsets.ts';
import type { WordNews } from './words.ts';

/** All that operators made, as of one moment. */
export interface Snapshot {
  readonly words: WordNews;
  readonly toolsets: ToolsetNews;
  readonly settings: ReadonlyMap<string, unknown>;
}

/** The part of a store that gives and takes everything at once. As of all of it: each method is one transaction. */
export interface BundleStore extends CommitStore {
  snapshot(): Promise<Result<Snapshot, Refusal>>;
}

/** Seals a text so that it opens with the passphrase alone. */
export interface PassphraseSeal {
  seal(text: string, passphrase: string): Promise<SealedText>;
  /** Undefined where the passphrase is another one, or something was changed. */
  open(sealed: SealedText, passphrase: string): Promise<string | undefined>;
}

/** The members of an entry that are secret, or may hide a secret. `spec`: what the entry makes. */
export type SecretMembers = (kind: EntryKind, entry: Entry, spec: ServerSpec) => readonly string[];
