import type { Entry, SealedText } from '../../core/bundle/bundle.ts';
import type { ServerSpec } from '../../core/server-spec.ts';

/** Encrypts a text so that only the passphrase decrypts it. */
export interface PassphraseSeal {
  seal(text: string, passphrase: string): Promise<SealedText>;
  /** Undefined if the passphrase is wrong, or the sealed text was changed. */
  open(sealed: SealedText, passphrase: string): Promise<string | undefined>;
}

/** The members of an entry that are secret, or may hide a secret. `spec`: the server that the entry defines. */
export type SecretMembers = (entry: Entry, spec: ServerSpec) => readonly string[];
