import type { AuditEvent } from '../../core/audit-event.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Scope } from '../../core/subject.ts';
import type { CallCountStore, CallStore } from './call-log.ts';
import type { LabelStore } from './labels.ts';
import type { LegacySessionStore } from './legacy-sessions.ts';
import type { ApprovalStore } from './approvals.ts';
import type { RecordStore } from './records.ts';
import type { StoredResultStore } from './stored-results.ts';
import type { SessionToolsetStore } from './session-toolsets.ts';

/** A stored token. Never contains the token itself. */
export interface StoredToken {
  /** The public part of the token, used for look-ups. */
  readonly id: string;
  /** Its name for people, and the subject of everything done with it. Unique among tokens that are not revoked. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** SHA-256 of the secret part, in hexadecimal. */
  readonly hash: string;
  readonly createdMs: number;
  readonly expiresMs: number | undefined;
  readonly revokedMs: number | undefined;
  /** Another program changed it so that it cannot be read. It is not valid. */
  readonly isUnreadable?: true;
}

/** A one-time sign-in link, or the session of a browser that has signed in. Never contains the secret itself. */
export interface StoredSession {
  /** The public part, used for look-ups. */
  readonly id: string;
  readonly kind: 'link' | 'session';
  /** SHA-256 of the secret part, in hexadecimal. */
  readonly hash: string;
  readonly subject: string;
  readonly scopes: readonly Scope[];
  /** The credential that created it: `link`, `token <id>`, or `operator <mark>` for ASSAY_TOKEN. */
  readonly credential: string;
  readonly createdMs: number;
  readonly usedMs: number;
  readonly expiresMs: number;
}

export interface AddSession {
  readonly session: StoredSession;
  /** Id of the link to use up. */
  readonly link?: string | undefined;
  readonly nowMs: number;
  /** Sessions last used before this are removed, as are expired ones. */
  readonly idleSinceMs: number;
  /** Number of sessions of this kind and credential to keep, newest first. */
  readonly keep: number;
}

/** One session, or all of a credential. */
export type SessionSelection = { readonly id: string } | { readonly credential: string };

/** A key shared by all processes on the store. */
export interface StoredKey {
  readonly id: string;
  readonly purpose: string;
  readonly bytes: Buffer;
  readonly createdMs: number;
}

/** Identifies credentials by server, issuer and subject. */
export interface CredentialKey {
  readonly server: string;
  /** Identity of the server with this name: a different server inherits nothing. */
  readonly identity: string;
  /** The authorization server that issued them. */
  readonly issuer: string;
  /** The subject that signed in. */
  readonly subject: string;
}

/** Stored credentials for a remote server, encrypted with a key that is not in the store. */
export interface StoredCredential extends CredentialKey {
  /** Id of the key that encrypted them. */
  readonly keyId: string;
  readonly sealed: Buffer;
  /** When the access token expires. Undefined if the issuer did not say. */
  readonly expiresMs: number | undefined;
  readonly savedMs: number;
  /** Increases with each change. */
  readonly revision: number;
}

/** Credentials with another encryption. */
export type ResealedCredential = CredentialKey & Pick<StoredCredential, 'revision' | 'keyId' | 'sealed'>;

/** A request for exclusive use of a refresh token for a while. */
export interface LeaseRequest {
  /** Unique for each holder. */
  readonly holder: string;
  /** The expected revision of the credentials. A different one means that others have been saved since. */
  readonly revision: number;
  /** Duration in ms by the clock of the store, because the clocks of processes may differ. 0 returns the lease. */
  readonly forMs: number;
}

export type Leased =
  | { readonly kind: 'leased' }
  /** Another holder has the lease. */
  | { readonly kind: 'held' }
  /** The credentials were removed or replaced. */
  | { readonly kind: 'changed' };

/** The parts of a store for which changes are announced. */
export type StorePart =
  | 'tokens'
  | 'sessions'
  | 'keys'
  | 'credentials'
  | 'labels'
  | 'session_toolsets'
  | 'stored_results'
  | 'legacy_sessions'
  | 'session_answers'
  /** Includes accepted definitions. */
  | 'records'
  | 'approvals'
  /** Announced with each audit event, in addition to the part that it is about. */
  | 'audit'
  | 'calls';

/**
 * Persistent state in one database that several processes can share. Each method is one transaction, durable before it
 * resolves, and returns STORE_UNAVAILABLE if the database cannot be reached. Writes run in the order of their calls,
 * and a read sees all writes called before it. An audit event is written with its change, and only if that is not
 * refused.
 */
export interface Store
  extends
    RecordStore,
    CallStore,
    CallCountStore,
    LabelStore,
    SessionToolsetStore,
    StoredResultStore,
    LegacySessionStore,
    ApprovalStore {
  /** TOKEN_EXISTS if a token of this name is not revoked. */
  addToken(token: StoredToken, event?: AuditEvent): Promise<Result<undefined, Refusal>>;
  /** Oldest first, including revoked ones. */
  tokens(): Promise<Result<readonly StoredToken[], Refusal>>;
  /**
   * By id or, if no token has it, by name. TOKEN_UNKNOWN if there is no such token, or only revoked ones. The audit
   * event gets the token as its target.
   */
  revokeToken(
    idOrName: string,
    revokedMs: number,
    event?: Omit<AuditEvent, 'target'>,
  ): Promise<Result<StoredToken, Refusal>>;
  /** May include ended ones. */
  sessions(): Promise<Result<readonly StoredSession[], Refusal>>;
  /** Returns false if its link is gone, used or expired. CHANGES_LIMIT */
  addSession(added: AddSession, event: AuditEvent): Promise<Result<boolean, Refusal>>;
  /** Sets the time of last use. Does nothing if the session is gone. */
  useSession(id: string, usedMs: number): Promise<Result<undefined, Refusal>>;
  removeSessions(which: SessionSelection, event: AuditEvent): Promise<Result<undefined, Refusal>>;
  /** Newest first. */
  keys(purpose: string): Promise<Result<readonly StoredKey[], Refusal>>;
  /**
   * Adds the key if its purpose has none. Returns the newest key of the purpose, the same to all concurrent callers.
   */
  ensureKey(key: StoredKey): Promise<Result<StoredKey, Refusal>>;
  addKey(key: StoredKey): Promise<Result<undefined, Refusal>>;
  /** Last saved first. */
  credentials(): Promise<Result<readonly StoredCredential[], Refusal>>;
  /** With `revision`, replaces only that revision. Returns whether it was saved. Ends all leases of the credentials. */
  saveCredential(
    credential: Omit<StoredCredential, 'revision'>,
    revision?: number,
  ): Promise<Result<boolean, Refusal>>;
  /**
   * Replaces the encryption of credentials by another one of the same content, which keeps its revision. Returns false if
   * they have another revision by now, or a lease.
   */
  resealCredential(resealed: ResealedCredential): Promise<Result<boolean, Refusal>>;
  leaseCredential(key: CredentialKey, request: LeaseRequest): Promise<Result<Leased, Refusal>>;
  /** Returns whether there were any. */
  removeCredential(key: CredentialKey): Promise<Result<boolean, Refusal>>;
  /** Stored settings by key, unvalidated. */
  settings(): Promise<Result<ReadonlyMap<string, unknown>, Refusal>>;
  /**
   * Set if writes are known to be lost from now on, for example because the database file was moved, and if changes by
   * other processes are polled because they are not announced (STORE_NOT_FOLLOWED).
   */
  readonly fault?: Refusal | undefined;
  /**
   * `performance.now()` up to which all changes by other processes have been announced to listeners. Absent if
   * announcements cannot get lost.
   */
  readonly heardMs?: () => number;
  /**
   * Calls back within a second after a change by any process, this one included, and with parts whose changes may have
   * been missed. `key`, where it is known, says which replica a change of `session_answers` is for. Returns a function
   * that unsubscribes.
   */
  onChange(listener: (parts: readonly StorePart[], key?: string) => void): () => void;
  /** Completes all earlier calls first. */
  close(): Promise<void>;
}
