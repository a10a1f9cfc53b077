import type { EntryKind, Entry, SealedText } from '../../core/bundle/bundle.ts';
import type { ServerSpec } from '../../core/server-spec.ts';

/** Seals a text so that it opens with the passphrase alone. */
export interface PassphraseSeal {
  seal(text: string, passphrase: string): Promise<SealedText>;
  /** Undefined where the passphrase is another one, or something was changed. */
  open(sealed: SealedText, passphrase: string): Promise<string | undefined>;
}

/** The members of an entry that are secret, or may hide a secret. `spec`: what the entry makes. */
export type SecretMembers = (kind: EntryKind, entry: Entry, spec: ServerSpec) => readonly string[];
