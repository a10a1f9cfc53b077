import type { AuthorizationServerMetadata, OAuthTokens } from '@modelcontextprotocol/client';
import type { AuthSpec } from '../../core/server-spec.ts';
import type { CredentialKey, StoredCredential } from '../../gateway/ports/store.ts';
import type { EncryptionKey } from './encryption-key.ts';
import { findKey } from './encryption-keys.ts';
import { NO_ISSUER, type RememberedChallenge } from './remembered-challenge.ts';
import { seal, unseal } from './seal.ts';

/** The stored state of one sign-in; encrypted at rest. */
export interface CredentialContent {
  /** Undefined if the issuer revoked them; the rest is reused for the next sign-in. */
  readonly tokens: HeldTokens | undefined;
  /** Assay's client registration at the issuer. */
  readonly client: HeldClient;
  /** Scopes that the server required beyond those of the tokens. */
  readonly wantedScope: string | undefined;
  /** RFC 8707: the resource for which the tokens are valid. */
  readonly resource: string | undefined;
  /** The scopes that the sign-in asked for; absent if it was stored by an earlier version. */
  readonly scope?: string | undefined;
  readonly server: HeldMetadata;
  /** What the entry said of it; absent if it was stored by an earlier version. */
  readonly place?: AuthPlace;
}

/** What an entry says about where to sign in. */
export type AuthPlace = Pick<
  AuthSpec,
  'issuer' | 'authorizationServer' | 'metadataUrl' | 'authorizationEndpoint' | 'tokenEndpoint'
>;

export interface HeldTokens {
  readonly access: string;
  readonly refresh: string | undefined;
  readonly scope: string | undefined;
  readonly obtainedMs: number;
  readonly expiresMs: number | undefined;
}

export interface HeldClient {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method?: string;
  /** Scopes it may request, if it was registered with such a list. */
  readonly scope?: string;
  /** Set for a dynamic registration, which is valid for this redirect URL only. */
  readonly redirectUrl: string | undefined;
}

/** The authorization server's endpoints, stored to avoid repeating the discovery. */
export interface HeldMetadata {
  readonly url: string;
  /** Undefined if it publishes none; its endpoints are then those of revision 2025-03-26. */
  readonly metadata: AuthorizationServerMetadata | undefined;
}

/** Metadata members needed later. */
const KEPT: readonly string[] = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'response_types_supported',
  'token_endpoint_auth_methods_supported',
  'revocation_endpoint',
  'revocation_endpoint_auth_methods_supported',
];

export function pickMetadata(metadata: AuthorizationServerMetadata | undefined): HeldMetadata['metadata'] {
  if (metadata === undefined) return undefined;
  const entries = Object.entries(metadata).filter(([name]) => KEPT.includes(name));
  return Object.fromEntries(entries) as AuthorizationServerMetadata; // KEPT includes all required members
}

export function toHeldTokens(tokens: OAuthTokens, nowMs: number): HeldTokens {
  const { access_token: access, refresh_token: refresh, scope, expires_in: seconds } = tokens;
  const expiresMs = seconds === undefined ? undefined : nowMs + seconds * 1_000;
  return { access, refresh, scope, obtainedMs: nowMs, expiresMs };
}

/** A longer token does not fit into the headers that most servers accept. */
const MAX_TOKEN_LENGTH = 16_384;

/** RFC 6750, section 2.1, and the characters allowed in a header. */
export function isSendable(token: string): boolean {
  return token.length <= MAX_TOKEN_LENGTH && /^[\x21-\x7e]+$/.test(token);
}

const VERSION = 1;

type SealedCredential = Omit<StoredCredential, 'revision' | 'savedMs'>;

export function sealContent(
  key: CredentialKey,
  content: CredentialContent,
  by: EncryptionKey,
): SealedCredential {
  return { ...sealed(key, content, by), expiresMs: content.tokens?.expiresMs };
}

/** Stored like a sign-in, under a key without an issuer. */
export function sealChallenge(
  key: CredentialKey,
  challenge: RememberedChallenge,
  by: EncryptionKey,
): SealedCredential {
  return { ...sealed(key, challenge, by), expiresMs: undefined };
}

function sealed(
  key: CredentialKey,
  content: CredentialContent | RememberedChallenge,
  by: EncryptionKey,
): Omit<SealedCredential, 'expiresMs'> {
  const { server, identity, issuer, subject } = key;
  return {
    ...{ server, identity, issuer, subject },
    keyId: by.id,
    sealed: seal(JSON.stringify({ version: VERSION, content }), aboutOf(key), by),
  };
}

/** Undefined if none of these keys decrypts it. */
export function openContent(
  stored: StoredCredential,
  keys: readonly EncryptionKey[],
): CredentialContent | undefined {
  if (stored.issuer === NO_ISSUER) return undefined;
  return open(stored, keys) as CredentialContent | undefined; // `sealContent` wrote it
}

export function openChallenge(
  stored: StoredCredential,
  keys: readonly EncryptionKey[],
): RememberedChallenge | undefined {
  if (stored.issuer !== NO_ISSUER) return undefined;
  return open(stored, keys) as RememberedChallenge | undefined; // `sealChallenge` wrote it
}

/** The same content, encrypted with another key. Undefined if none of these keys decrypts it. */
export function resealCredential(
  stored: StoredCredential,
  keys: readonly EncryptionKey[],
  by: EncryptionKey,
): Pick<StoredCredential, 'keyId' | 'sealed'> | undefined {
  const key = findKey(keys, stored.keyId);
  const text = key && unseal(stored.sealed, aboutOf(stored), key);
  return text === undefined ? undefined : { keyId: by.id, sealed: seal(text, aboutOf(stored), by) };
}

function open(stored: StoredCredential, keys: readonly EncryptionKey[]): unknown {
  const key = findKey(keys, stored.keyId);
  const text = key && unseal(stored.sealed, aboutOf(stored), key);
  if (text === undefined) return undefined;
  const opened = JSON.parse(text) as { version: number; content: unknown }; // `sealed` wrote it
  return opened.version === VERSION ? opened.content : undefined;
}

/** The parts of a sign-in that must never be disclosed. */
export function listCredentialSecrets({ tokens, client }: CredentialContent): readonly string[] {
  return [tokens?.access, tokens?.refresh, client.client_secret].filter((text) => text !== undefined);
}

function aboutOf({ server, identity, issuer, subject }: CredentialKey): string {
  return JSON.stringify([server, identity, issuer, subject]);
}
