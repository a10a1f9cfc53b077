import { computeIdentity } from '../../core/server-identity.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import type { AuthSpec, ServerSpec } from '../../core/server-spec.ts';
import type { Store, StoredCredential } from '../../gateway/ports/store.ts';
import {
  openChallenge,
  openContent,
  sealChallenge,
  sealContent,
  listCredentialSecrets,
  type CredentialContent,
} from './credential-content.ts';
import { isObtainedWhere } from './credential-place.ts';
import type { EncryptionKeys } from './encryption-keys.ts';
import { NO_ISSUER, type RememberedChallenge } from './remembered-challenge.ts';

/** A stored sign-in and its decrypted content. */
export interface OpenedCredential {
  readonly stored: StoredCredential;
  /** Undefined if it was encrypted with another key. */
  readonly content: CredentialContent | undefined;
}

export interface EncryptedCredentialsOptions {
  readonly store: Store;
  readonly keys: EncryptionKeys;
  /** Receives secrets that must be masked from now on. Those of an owner replace its earlier ones. */
  readonly learn: (secrets: readonly string[], owner?: string) => void;
}

/** The stored sign-ins, encrypted and decrypted with the encryption keys. */
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
    const { store, keys, learn } = this.#options;
    const found = await store.credentials();
    if (!found.ok || found.value.length === 0) return found.ok ? ok([]) : found;
    const read = await keys.readFor(found.value.map(({ keyId }) => keyId));
    const opened = found.value
      .filter(({ issuer }) => issuer !== NO_ISSUER)
      .map((stored) => ({ stored, content: openContent(stored, read.ok ? read.value : []) }));
    for (const { stored, content } of opened)
      if (content !== undefined) learn(listCredentialSecrets(content), toOwner(stored));
    return ok(opened);
  }

  /** The last challenge with which a server refused the subject. Undefined if none is stored or readable. */
  async challenge(spec: ServerSpec, subject: string): Promise<RememberedChallenge | undefined> {
    const { store, keys } = this.#options;
    const found = await store.credentials();
    const identity = computeIdentity(spec);
    const stored = (found.ok ? found.value : []).find(
      (one) =>
        one.issuer === NO_ISSUER &&
        one.server === spec.name &&
        one.identity === identity &&
        one.subject === subject,
    );
    if (stored === undefined) return undefined;
    const read = await keys.readFor([stored.keyId]);
    return openChallenge(stored, read.ok ? read.value : []);
  }

  async saveChallenge(
    spec: ServerSpec,
    subject: string,
    challenge: RememberedChallenge,
  ): Promise<Result<boolean, Refusal>> {
    const { store, keys } = this.#options;
    const by = await keys.ensure();
    if (!by.ok) return by;
    const key = { server: spec.name, identity: computeIdentity(spec), issuer: NO_ISSUER, subject };
    return store.saveCredential({ ...sealChallenge(key, challenge, by.value), savedMs: Date.now() });
  }

  /** If a revision is given, saves only if that one is still current. Returns whether it was saved. */
  async save(
    key: CredentialKey,
    content: CredentialContent,
    revision?: number,
  ): Promise<Result<boolean, Refusal>> {
    const { store, keys, learn } = this.#options;
    learn(listCredentialSecrets(content), toOwner(key));
    const by = await keys.ensure();
    if (!by.ok) return by;
    return store.saveCredential({ ...sealContent(key, content, by.value), savedMs: Date.now() }, revision);
  }
}

type CredentialKey = Pick<StoredCredential, 'server' | 'identity' | 'issuer' | 'subject'>;

function toOwner({ server, identity, issuer, subject }: CredentialKey): string {
  return JSON.stringify([server, identity, issuer, subject]);
}

/** `elsewhere`: there are only sign-ins at other authorization servers than the entry names now. */
export type FoundCredential =
  { readonly kind: 'usable'; readonly opened: OpenedCredential } | { readonly kind: 'elsewhere' };

/** A subject's latest sign-in at a server. Undefined if there is none at its URL. */
export function findCredential(
  all: readonly OpenedCredential[],
  spec: ServerSpec,
  subject: string,
): FoundCredential | undefined {
  const identity = computeIdentity(spec);
  const { transport } = spec;
  const auth = getSourceKind(transport).signIn(transport)?.auth;
  const found = all
    .filter(
      ({ stored }) =>
        stored.server === spec.name && stored.identity === identity && stored.subject === subject,
    )
    .map((opened) => judgeCredential(opened, auth));
  return found.find(({ kind }) => kind === 'usable') ?? found[0];
}

export function judgeCredential(opened: OpenedCredential, auth: AuthSpec = {}): FoundCredential {
  const { stored, content } = opened;
  return isObtainedWhere({ issuer: stored.issuer, content }, auth)
    ? { kind: 'usable', opened }
    : { kind: 'elsewhere' };
}
