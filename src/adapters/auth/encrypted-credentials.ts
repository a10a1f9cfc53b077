import { computeIdentity } from '../../core/server-identity.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '../../core/result.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import type { ServerSpec } from '../../core/server-spec.ts';
import type { Store, StoredCredential } from '../../gateway/ports/store.ts';
import {
  openContent,
  sealContent,
  listCredentialSecrets,
  type CredentialContent,
} from './credential-content.ts';
import { ensureEncryptionKey, readEncryptionKey, type KeyLocation } from './encryption-key.ts';

/** A stored sign-in and its decrypted content. */
export interface OpenedCredential {
  readonly stored: StoredCredential;
  /** Undefined if it was encrypted with another key. */
  readonly content: CredentialContent | undefined;
}

export interface EncryptedCredentialsOptions {
  readonly store: Store;
  readonly place: KeyLocation;
  /** Receives secrets that must be masked from now on. */
  readonly learn: (secrets: readonly string[]) => void;
}

/** The stored sign-ins, encrypted and decrypted with the encryption key. */
export class EncryptedCredentials {
  readonly #options: EncryptedCredentialsOptions;

  constructor(options: EncryptedCredentialsOptions) {
    this.#options = options;
  }

  get store(): Store {
    return this.#options.store;
  }

  /** Most recently saved first. Without a usable key, no content is decrypted. */
  async all(): Promise<Result<readonly OpenedCredential[], Refusal>> {
    const { store, place, learn } = this.#options;
    const found = await store.credentials();
    if (!found.ok || found.value.length === 0) return found.ok ? ok([]) : found;
    const key = await readEncryptionKey(place);
    const opened = found.value.map((stored) => ({
      stored,
      content: openContent(stored, key.ok ? key.value : undefined),
    }));
    learn(opened.flatMap(({ content }) => (content === undefined ? [] : listCredentialSecrets(content))));
    return ok(opened);
  }

  /** If a revision is given, saves only if that one is still current. Returns whether it was saved. */
  async save(
    key: Pick<StoredCredential, 'server' | 'identity' | 'issuer' | 'subject'>,
    content: CredentialContent,
    revision?: number,
  ): Promise<Result<boolean, Refusal>> {
    const { store, place, learn } = this.#options;
    learn(listCredentialSecrets(content));
    const by = await ensureEncryptionKey(place);
    if (!by.ok) return by;
    return store.saveCredential({ ...sealContent(key, content, by.value), savedMs: Date.now() }, revision);
  }
}

/**
 * A subject's latest sign-in at a server. If the URL of the server changed, or its entry names another issuer, its
 * earlier sign-ins do not apply.
 */
export function findCredential(
  all: readonly OpenedCredential[],
  spec: ServerSpec,
  subject: string,
): OpenedCredential | undefined {
  const identity = computeIdentity(spec);
  const { transport } = spec;
  const issuer = getSourceKind(transport).signIn(transport)?.auth?.issuer;
  return all.find(
    ({ stored }) =>
      stored.server === spec.name &&
      stored.identity === identity &&
      stored.subject === subject &&
      (issuer === undefined || isSameIssuer(stored.issuer, issuer)),
  );
}

/** Issuers and their metadata often differ in a slash at the end. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}
