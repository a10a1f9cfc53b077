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
import { ensureEncryptionKey, readEncryptionKey, type KeyLocation } from './encryption-key.ts';
import { NO_ISSUER, type RememberedChallenge } from './remembered-challenge.ts';

/** A stored sign-in and its decrypted content. */
export interface OpenedCredential {
  readonly stored: StoredCredential;
  /** Undefined if it was encrypted with another key. */
  readonly content: CredentialContent | undefined;
}

export interface EncryptedCredentialsOptions {
  readonly store: Store;
  readonly place: KeyLocation;
  /** Receives secrets that must be masked from now on. Those of an owner replace its earlier ones. */
  readonly learn: (secrets: readonly string[], owner?: string) => void;
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
    const opened = found.value
      .filter(({ issuer }) => issuer !== NO_ISSUER)
      .map((stored) => ({ stored, content: openContent(stored, key.ok ? key.value : undefined) }));
    for (const { stored, content } of opened)
      if (content !== undefined) learn(listCredentialSecrets(content), toOwner(stored));
    return ok(opened);
  }

  /** The last challenge with which a server refused the subject. Undefined if none is stored or readable. */
  async challenge(spec: ServerSpec, subject: string): Promise<RememberedChallenge | undefined> {
    const { store, place } = this.#options;
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
    const key = await readEncryptionKey(place);
    return openChallenge(stored, key.ok ? key.value : undefined);
  }

  async saveChallenge(
    spec: ServerSpec,
    subject: string,
    challenge: RememberedChallenge,
  ): Promise<Result<boolean, Refusal>> {
    const { store, place } = this.#options;
    const by = await ensureEncryptionKey(place);
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
    const { store, place, learn } = this.#options;
    learn(listCredentialSecrets(content), toOwner(key));
    const by = await ensureEncryptionKey(place);
    if (!by.ok) return by;
    return store.saveCredential({ ...sealContent(key, content, by.value), savedMs: Date.now() }, revision);
  }
}

type CredentialKey = Pick<StoredCredential, 'server' | 'identity' | 'issuer' | 'subject'>;

function toOwner({ server, identity, issuer, subject }: CredentialKey): string {
  return JSON.stringify([server, identity, issuer, subject]);
}

/**
 * A subject's latest sign-in at a server. If the URL of the server changed, or its entry names another authorization
 * server, its earlier sign-ins do not apply.
 */
export function findCredential(
  all: readonly OpenedCredential[],
  spec: ServerSpec,
  subject: string,
): OpenedCredential | undefined {
  const identity = computeIdentity(spec);
  const { transport } = spec;
  const auth = getSourceKind(transport).signIn(transport)?.auth ?? {};
  return all.find(
    (one) =>
      one.stored.server === spec.name &&
      one.stored.identity === identity &&
      one.stored.subject === subject &&
      isWhereConfigured(one, auth),
  );
}

/** A sign-in at another authorization server than the entry names must not be used or renewed. */
function isWhereConfigured({ stored, content }: OpenedCredential, auth: AuthSpec): boolean {
  const { issuer, authorizationServer, tokenEndpoint } = auth;
  const { url, metadata } = content?.server ?? {};
  return (
    (issuer === undefined || isSameIssuer(stored.issuer, issuer)) &&
    (authorizationServer === undefined || url === undefined || isSameIssuer(url, authorizationServer)) &&
    (tokenEndpoint === undefined || metadata === undefined || metadata.token_endpoint === tokenEndpoint)
  );
}

/** Issuers and their metadata often differ in one slash at the end, and in nothing else. */
export function isSameIssuer(one: string, other: string): boolean {
  return one.replace(/\/$/, '') === other.replace(/\/$/, '');
}
