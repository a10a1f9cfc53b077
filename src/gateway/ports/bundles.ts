import type { EntryKind, Entry, SealedText } from '../../core/bundle/bundle.ts';
import type { Deed } from '../../core/deed.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Toolset } from '../../core/toolset.ts';
import type { ToolsetNews } from './toolsets.ts';
import type { WordChange, WordNews } from './words.ts';

/** All that operators made, as of one moment. */
export interface Snapshot {
  readonly words: WordNews;
  readonly toolsets: ToolsetNews;
  readonly settings: ReadonlyMap<string, unknown>;
}

/** Changes that are made together, each in the place of what it knows. */
export interface ChangesTogether {
  readonly words: readonly Pick<WordChange, 'word' | 'former'>[];
  readonly toolsets: readonly {
    readonly toolset: Toolset;
    /** The revision that it replaces; undefined: there was none of its name. */
    readonly former: number | undefined;
  }[];
  /** `equippings`: how many there were. */
  readonly equip: { readonly name: string; readonly equippings: number } | undefined;
  /** `former`: the value that is there; undefined: there is none. */
  readonly settings: readonly {
    readonly key: string;
    readonly value: unknown;
    readonly former: unknown;
  }[];
  readonly deeds: readonly Deed[];
}

/** The part of a store that gives and takes everything at once. As of all of it: each method is one transaction. */
export interface BundleStore {
  snapshot(): Promise<Result<Snapshot, Refusal>>;
  /** All or nothing; false: nothing was done, as one of them was changed by somebody else. */
  saveTogether(changes: ChangesTogether): Promise<Result<boolean, Refusal>>;
}

/** Seals a text so that it opens with the passphrase alone. */
export interface PassphraseSeal {
  seal(text: string, passphrase: string): Promise<SealedText>;
  /** Undefined where the passphrase is another one, or something was changed. */
  open(sealed: SealedText, passphrase: string): Promise<string | undefined>;
}

/** The members of an entry that are secret, or may hide a secret. `spec`: what the entry makes. */
export type SecretMembers = (kind: EntryKind, entry: Entry, spec: ServerSpec) => readonly string[];
