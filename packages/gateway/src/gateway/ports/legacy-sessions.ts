import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

/** What a legacy session has beyond its id. Each member is absent until the session differs from a new one. */
export interface SessionState {
  readonly logLevel?: string;
  /** `configuration` or `normal`, as its client has switched to. */
  readonly mode?: string;
  /** URIs of the resources that its client subscribed to. */
  readonly subscriptions?: readonly string[];
  /**
   * The replica with the session's own process, by server. Empty: the client was told that the process is gone, so any
   * replica may start another one.
   */
  readonly processes?: Readonly<Record<string, string>>;
}

export interface StoredLegacySession {
  readonly id: string;
  readonly subject: string;
  /** Increases with each change of any session. */
  readonly revision: number;
  readonly isEnded: boolean;
  readonly usedMs: number;
  readonly state: SessionState;
}

/** The session that a change is about, and until when its row is kept. */
export interface ChangedSession {
  readonly id: string;
  readonly subject: string;
  readonly nowMs: number;
  readonly expiresMs: number;
}

export type SessionChange =
  | { readonly kind: 'log_level'; readonly level: string }
  /** Undefined: it follows the others again. */
  | { readonly kind: 'mode'; readonly mode: string | undefined }
  | { readonly kind: 'subscribe'; readonly uri: string }
  | { readonly kind: 'unsubscribe'; readonly uri: string }
  /**
   * The replica is about to start the session's process at a server. It may if no other replica has one; otherwise the
   * process of the other one is given up.
   */
  | { readonly kind: 'start_process'; readonly server: string; readonly replica: string }
  | { readonly kind: 'end' };

/** A client's answer to a question of another replica. */
export interface StoredAnswer {
  readonly id: string;
  /** The replica that asked. */
  readonly replica: string;
  readonly subject: string;
  /** Encrypted. */
  readonly sealed: Buffer;
}

/** Maximum number of rows, and of bytes of their states. Beyond the number, those unused for longest are removed. */
export const LEGACY_SESSION_LIMITS = {
  total: 50_000,
  perSubject: 5_000,
  stateBytes: 65_536,
  bytesPerSubject: 4_194_304,
} as const;

/** Maximum size and number of answers on their way, and for how long they are kept by the clock of the store. */
export const ANSWER_LIMITS = { bytes: 1_048_576, perSubject: 16, total: 256, keptMs: 60_000 } as const;

/** What replicas must know of each other's legacy sessions. */
export interface LegacySessionStore {
  /** Undefined if the session has no row. */
  legacySession(id: string, nowMs: number): Promise<Result<StoredLegacySession | undefined, Refusal>>;
  /** Rows changed after a revision, oldest change first, and the newest revision. Without `since`, no rows. */
  legacySessionsSince(since: number | undefined): Promise<Result<LegacySessionNews, Refusal>>;
  /** Returns the changed row. SESSION_STATE_LIMIT: the state is too large; SESSION_UNKNOWN: it has ended. */
  changeLegacySession(
    session: ChangedSession,
    change: SessionChange,
  ): Promise<Result<StoredLegacySession, Refusal>>;
  /** Notes that sessions are in use. Ended ones stay ended. */
  useLegacySessions(used: readonly ChangedSession[]): Promise<Result<undefined, Refusal>>;
  /** Returns whether there was room. May be repeated with the same id. */
  addSessionAnswer(answer: StoredAnswer): Promise<Result<boolean, Refusal>>;
  /** Removes and returns the answers for a replica. */
  takeSessionAnswers(replica: string): Promise<Result<readonly StoredAnswer[], Refusal>>;
}

export interface LegacySessionNews {
  readonly rows: readonly StoredLegacySession[];
  /** The revision up to which these are all changes. */
  readonly revision: number;
  /** Whether no later changes are known. */
  readonly isWhole: boolean;
}
