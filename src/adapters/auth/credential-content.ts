import type { AuthorizationServerMetadata, OAuthTokens } from '@modelcontextprotocol/client';
import type { CredentialKey, StoredCredential } from '../../gateway/ports/store.ts';
import type { EncryptionKey } from './encryption-key.ts';
import { seal, unseal } from './seal.ts';

/** What is kept of one sign-in, encrypted. */
export interface CredentialContent {
  /** Undefined: the issuer took them back; what is left helps to sign in again. */
  readonly tokens: HeldTokens | undefined;
  /** What Assay is to the issuer. */
  readonly client: HeldClient;
  /** Scopes that the server wanted beyond those of the tokens. */
  readonly wantedScope: string | undefined;
  /** RFC 8707: for whom the tokens are. */
  readonly resource: string | undefined;
  readonly server: HeldMetadata;
}

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
  /** All that it may ask for, where it was registered with such a list. */
  readonly scope?: string;
  /** Where it was registered dynamically: with this address, and no other. */
  readonly redirectUrl: string | undefined;
}

/** What it takes to speak to the authorization server again, without looking for it once more. */
export interface HeldMetadata {
  readonly url: string;
  /** Undefined: it publishes none, and has its endpoints where revision 2025-03-26 puts them. */
  readonly metadata: AuthorizationServerMetadata | undefined;
}

/** Members of the metadata that are of use later. */
const KEPT: readonly string[] = [
  'issuer',
  'authorization_endpoint',
  'token_endpoint',
  'response_types_supported',
  'token_endpoint_auth_methods_supported',
  'revocation_endpoint',
  'revocation_endpoint_auth_methods_supported',
];

export function keptOf(metadata: AuthorizationServerMetadata | undefined): HeldMetadata['metadata'] {
  if (metadata === undefined) return undefined;
  const entries = Object.entries(metadata).filter(([name]) => KEPT.includes(name));
  return Object.fromEntries(entries) as AuthorizationServerMetadata; // all that it must have is kept
}

export function heldTokens(tokens: OAuthTokens, nowMs: number): HeldTokens {
  const { access_token: access, refresh_token: refresh, scope, expires_in: seconds } = tokens;
  const expiresMs = seconds === undefined ? undefined : nowMs + seconds * 1_000;
  return { access, refresh, scope, obtainedMs: nowMs, expiresMs };
}

/** RFC 6750, section 2.1, and what a header can hold. */
export function isSendable(token: string): boolean {
  return /^[\x21-\x7e]+$/.test(token);
}

const VERSION = 1;

export function sealContent(
  key: CredentialKey,
  content: CredentialContent,
  by: EncryptionKey,
): Omit<StoredCredential, 'revision' | 'savedMs'> {
  const { server, identity, issuer, subject } = key;
  return {
    ...{ server, identity, issuer, subject },
    keyId: by.id,
    sealed: seal(JSON.stringify({ version: VERSION, content }), aboutOf(key), by),
    expiresMs: content.tokens?.expiresMs,
  };
}

/** Undefined where this key does not open it. */
export function openContent(
  stored: StoredCredential,
  key: EncryptionKey | undefined,
): CredentialContent | undefined {
  if (key?.id !== stored.keyId) return undefined;
  const text = unseal(stored.sealed, aboutOf(stored), key);
  if (text === undefined) return undefined;
  const opened = JSON.parse(text) as { version: number; content: CredentialContent }; // `sealContent` wrote it
  return opened.version === VERSION ? opened.content : undefined;
}

/** What of it must not be told to anybody. */
export function secretsOf({ tokens, client }: CredentialContent): readonly string[] {
  return [tokens?.access, tokens?.refresh, client.client_secret].filter((text) => text !== undefined);
}

function aboutOf({ server, identity, issuer, subject }: CredentialKey): string {
  return JSON.stringify([server, identity, issuer, subject]);
}
