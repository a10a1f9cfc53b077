import type { AuditEvent } from '../../core/audit-event.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';
import type { Scope } from '../../core/subject.ts';
import type { CallCountStore, CallStore } from './call-log.ts';
import type { LabelStore } from './labels.ts';
import type { ApprovalStore } from './approvals.ts';
import type { RecordStore } from './records.ts';

/** A token as it is kept: never the token itself. */
export interface StoredToken {
  /** The public part of the token, by which it is found. */
  readonly id: string;
  /** What people call it; the subject of what is done with it. Unique among those not revoked. */
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** SHA-256 of the secret part, in hexadecimal. */
  readonly hash: string;
  readonly createdMs: number;
  readonly expiresMs: number | undefined;
  readonly revokedMs: number | undefined;
}

/** A one-time sign-in link, or the session of a browser that has signed in. Never the secret itself. */
export interface StoredSession {
  /** The public part, by which it is found. */
  readonly id: string;
  readonly kind: 'link' | 'session';
  /** SHA-256 of the secret part, in hexadecimal. */
  readonly hash: string;
  readonly subject: string;
  readonly scopes: readonly Scope[];
  /** What it rests on: `link`, `token <id>`, or `operator <mark>` for ASSAY_TOKEN. */
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
  /** How many of this kind and credential are kept; the newest are. */
  readonly keep: number;
}

/** One session, or all of a credential. */
export type SessionSelection = { readonly id: string } | { readonly credential: string };

/** A key that all processes on one store share. */
export interface StoredKey {
  readonly id: string;
  readonly purpose: string;
  readonly bytes: Buffer;
  readonly createdMs: number;
}

/** Whose credentials for which server, and from whom. */
export interface CredentialKey {
  readonly server: string;
  /** Which server had this name: another one inherits nothing. */
  readonly identity: string;
  /** The authorization server that issued them. */
  readonly issuer: string;
  /** Who signed in. */
  readonly subject: string;
}

/** Credentials for a remote server, as they are kept: encrypted by a key that is not in the store. */
export interface StoredCredential extends CredentialKey {
  /** Which key encrypted them. */
  readonly keyId: string;
  readonly sealed: Buffer;
  /** When the access token ends; undefined where the issuer did not say. */
  readonly expiresMs: number | undefined;
  readonly savedMs: number;
  /** Counts up with each change. */
  readonly revision: number;
}

/** A request for exclusive use of a refresh token for a while. */
export interface LeaseRequest {
  /** Unlike all others. */
  readonly holder: string;
  /** What the credentials are to be like; others have been saved since where it is not this. */
  readonly revision: number;
  readonly nowMs: number;
  /** `nowMs` or less gives the lease back. */
  readonly untilMs: number;
}

export type Leased =
  | { readonly kind: 'leased' }
  /** By somebody else. */
  | { readonly kind: 'held'; readonly untilMs: number }
  /** They are gone, or others by now. */
  | { readonly kind: 'changed' };

/** The parts of a store, as changes of them are announced. */
export type StorePart =
  | 'tokens'
  | 'sessions'
  | 'keys'
  | 'credentials'
  | 'labels'
  /** With the definitions that were accepted. */
  | 'records'
  | 'approvals'
  /** Told whenever an event is written, beside the part that it is about. */
  | 'audit'
  | 'calls';

/**
 * What outlasts the process, in one database that several processes share. Each method is one transaction, durable
 * before it resolves, and refuses with STORE_UNAVAILABLE when the database cannot be reached. Writes are done in the
 * order in which they are asked for, and a read sees those that were asked for before it. An audit event is written with
 * the change that it is about, and not where that was refused.
 */
export interface Store extends RecordStore, CallStore, CallCountStore, LabelStore, ApprovalStore {
  /** TOKEN_EXISTS where one of this name is not revoked. */
  addToken(token: StoredToken, event?: AuditEvent): Promise<Result<undefined, Refusal>>;
  /** Oldest first, those that are revoked among them. */
  tokens(): Promise<Result<readonly StoredToken[], Refusal>>;
  /**
   * By id or, where none has it, by name. TOKEN_UNKNOWN where there is none that is not revoked yet. The target of the
   * audit event is the token that was found.
   */
  revokeToken(
    idOrName: string,
    revokedMs: number,
    event?: Omit<AuditEvent, 'target'>,
  ): Promise<Result<StoredToken, Refusal>>;
  /** Those that have ended may be among them. */
  sessions(): Promise<Result<readonly StoredSession[], Refusal>>;
  /** Tells whether it was added: not where its link is gone, used or expired. */
  addSession(added: AddSession, event: AuditEvent): Promise<Result<boolean, Refusal>>;
  /** Nothing happens where it is gone. */
  useSession(id: string, usedMs: number): Promise<Result<undefined, Refusal>>;
  removeSessions(which: SessionSelection, event: AuditEvent): Promise<Result<undefined, Refusal>>;
  /** Newest first. */
  keys(purpose: string): Promise<Result<readonly StoredKey[], Refusal>>;
  /** Adds the key where its purpose has none; gives the one that is then newest, the same to all who ask at a time. */
  ensureKey(key: StoredKey): Promise<Result<StoredKey, Refusal>>;
  addKey(key: StoredKey): Promise<Result<undefined, Refusal>>;
  /** Those saved last first. */
  credentials(): Promise<Result<readonly StoredCredential[], Refusal>>;
  /** Where `revision` is given: only in the place of that one. Tells whether it was done, and ends all leases of it. */
  saveCredential(
    credential: Omit<StoredCredential, 'revision'>,
    revision?: number,
  ): Promise<Result<boolean, Refusal>>;
  leaseCredential(key: CredentialKey, request: LeaseRequest): Promise<Result<Leased, Refusal>>;
  /** Whether there were any. */
  removeCredential(key: CredentialKey): Promise<Result<boolean, Refusal>>;
  /** Stored settings by their keys, as nobody has checked them. */
  settings(): Promise<Result<ReadonlyMap<string, unknown>, Refusal>>;
  /** Why what is written now would be lost, as far as that was found out; undefined: nothing is known against it. */
  readonly fault?: Refusal | undefined;
  /**
   * Told within a second what any process changed, this one included; also of parts that may have changed while nobody
   * could see it. The returned function ends it.
   */
  onChange(listener: (parts: readonly StorePart[]) => void): () => void;
  /** What was asked for before is done. */
  close(): Promise<void>;
}
