import type { AuditTarget } from '../../core/audit-event.ts';
import type { StoredSession, StorePart } from '../../gateway/ports/store.ts';
import type { ApprovalScope } from '../../core/approval.ts';
import type { StoredApprovalState } from '../../gateway/ports/approvals.ts';

/**
 * Number of the baseline of this schema. A store of an earlier edition is set aside (SQLite) or refused (PostgreSQL), a
 * later one is refused. Migrations that only add leave it as it is.
 */
export const SCHEMA_EDITION = 3;

/**
 * The rows as both databases return them. Times are in ms. Text chosen by a peer is stored as JSON (`…_json`), because
 * PostgreSQL rejects U+0000 and lone surrogates, and one such name must not make the rest of its server's tools fail.
 */
export interface Tables {
  /** A single row: the baseline. */
  readonly assay_migrations: {
    readonly version: number;
    readonly edition: number;
    readonly applied_ms: number;
  };
  /** One row for each applied migration after the first. Absent until there is one. */
  readonly assay_added_migrations: { readonly version: number; readonly applied_ms: number };
  /** SQLite only: a counter of writes to each part, from which other processes detect them. */
  readonly assay_parts: { readonly part: StorePart; readonly revision: number };
  /** PostgreSQL only: one row for each transaction that may have to be confirmed. */
  readonly assay_markers: { readonly id: string; readonly written_ms: number };
  readonly assay_tokens: TokenRow;
  readonly assay_sessions: SessionRow;
  readonly assay_keys: KeyRow;
  readonly assay_credentials: CredentialRow;
  readonly assay_labels: LabelRow;
  readonly assay_session_toolsets: SessionToolsetRow;
  readonly assay_stored_results: StoredResultRow;
  readonly assay_legacy_sessions: LegacySessionRow;
  /** A single row for all legacy sessions. */
  readonly assay_legacy_session_state: { readonly id: number; readonly last_revision: number };
  readonly assay_session_answers: SessionAnswerRow;
  readonly assay_records: RecordRow;
  /** A single row for all records. */
  readonly assay_record_state: RecordStateRow;
  readonly assay_accepted: AcceptedRow;
  readonly assay_charges: ChargeRow;
  readonly assay_approvals: ApprovalRow;
  readonly assay_audit: AuditRow;
  /** A single row for all audit events. */
  readonly assay_audit_state: AuditStateRow;
  readonly assay_calls: CallRow;
  readonly assay_call_contexts: CallContextRow;
  readonly assay_call_batches: CallBatchRow;
  readonly assay_call_uses: CallUseRow;
  readonly assay_call_minutes: CallMinuteRow;
  readonly assay_other_calls: OtherCallRow;
  /** A single row for all calls. */
  readonly assay_call_state: CallStateRow;
}

export interface TokenRow {
  readonly id: string;
  readonly name: string;
  readonly scopes_json: string;
  readonly hash: string;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  readonly revoked_ms: number | null;
}

export interface SessionRow {
  readonly id: string;
  readonly kind: StoredSession['kind'];
  readonly hash: string;
  readonly subject_json: string;
  readonly scopes_json: string;
  readonly credential: string;
  readonly created_ms: number;
  readonly used_ms: number;
  readonly expires_ms: number;
}

export interface LegacySessionRow {
  readonly id: string;
  readonly subject_json: string;
  /** 0 until it is changed. */
  readonly revision: number;
  readonly is_ended: number;
  readonly used_ms: number;
  readonly expires_ms: number;
  readonly state_json: string;
  readonly size_bytes: number;
}

export interface SessionAnswerRow {
  readonly id: string;
  readonly replica: string;
  readonly subject_json: string;
  readonly sealed: Buffer;
  readonly expires_ms: number;
}

export interface KeyRow {
  readonly id: string;
  readonly purpose: string;
  readonly bytes: Buffer;
  readonly created_ms: number;
}

export interface CredentialRow {
  readonly server: string;
  readonly identity: string;
  readonly issuer: string;
  readonly subject: string;
  readonly key_id: string;
  readonly sealed: Buffer;
  readonly expires_ms: number | null;
  readonly saved_ms: number;
  readonly revision: number;
  /** The only process that may use the refresh token, and until when. */
  readonly lease_holder: string | null;
  readonly lease_until_ms: number | null;
}

/** One of up to two rows of a subject. */
export interface LabelRow {
  readonly subject_json: string;
  /** A `SessionLabel`, or a label written by a newer Assay. */
  readonly label: string;
  readonly source_json: string;
  readonly since_ms: number;
  readonly seen_ms: number;
}

export interface SessionToolsetRow {
  readonly client: string;
  readonly subject_json: string;
  /** Null if the session has unequipped. */
  readonly toolset: string | null;
  readonly equippings: number;
  readonly expires_ms: number;
}

export interface StoredResultRow {
  readonly hash: string;
  readonly subject_json: string;
  readonly token_id: string;
  readonly endpoint_json: string;
  readonly server_json: string;
  readonly tool_json: string;
  readonly public_name: string;
  readonly is_approved: number;
  readonly expires_ms: number;
  /** The length of `bytes`, so that sums need not read them. */
  readonly size_bytes: number;
  readonly bytes: Buffer;
}

export interface RecordRow {
  /** One of `RecordKind`, or a kind written by a newer Assay. */
  readonly kind: string;
  readonly id_json: string;
  /** The format version of the body (`RECORD_VERSIONS`). */
  readonly version: number;
  readonly revision: number;
  /** Null if the record was removed. The row stays for a while, so that other processes notice. */
  readonly body_json: string | null;
}

export interface RecordStateRow {
  readonly id: number;
  /** The last revision assigned to any record. */
  readonly last_revision: number;
  /** Rows of removed records with revisions up to this one have been deleted. */
  readonly pruned_revision: number;
}

export interface AcceptedRow {
  /** Id of the tool. */
  readonly id_json: string;
  readonly digest: string;
  /** The definition, itself JSON text, as a JSON string. */
  readonly text_json: string;
}

/** Kinds of rows that count against the bounds of the peer that caused them. */
export type Charged = 'accepted' | 'drift' | 'audit' | 'toolset';

/** One row that a peer caused in another table, and that counts against its bounds. */
export interface ChargeRow {
  /** The kind of the row. */
  readonly charged: Charged;
  /** Its id in its table, as text. */
  readonly row: string;
  readonly peer_json: string;
  readonly at_ms: number;
  readonly bytes: number;
}

export interface ApprovalRow {
  readonly id: string;
  readonly subject_json: string;
  /** `computeSessionlessId` for clients without sessions. */
  readonly session: string;
  readonly tool_key: string;
  readonly digest: string;
  readonly server_key: string;
  readonly arguments_hash: string;
  readonly state: StoredApprovalState;
  readonly created_ms: number;
  readonly expires_ms: number | null;
  /** Null while it is pending, and if it was denied. */
  readonly scope: ApprovalScope | null;
  readonly answered_ms: number | null;
  readonly answered_by_json: string | null;
  readonly reason_json: string | null;
  readonly request_json: string;
}

export interface AuditRow {
  readonly id: number;
  readonly at_ms: number;
  readonly subject_json: string;
  readonly action: string;
  readonly target_kind: AuditTarget['kind'];
  readonly target_id_json: string;
  readonly target_name_json: string;
  /** Null if there was no value, as opposed to JSON null. */
  readonly before_json: string | null;
  readonly after_json: string | null;
}

export interface AuditStateRow {
  readonly id: number;
  /** The last id assigned to any event. */
  readonly last_event: number;
}

export interface CallRow {
  readonly id: number;
  /** Id of its context. */
  readonly context: number;
  readonly at_ms: number;
  /** Duration in tenths of a ms. */
  readonly tenths: number;
  readonly session: string | null;
  readonly details_json: string | null;
}

/** What many calls have in common, and all that they are filtered by. */
export interface CallContextRow extends CallFactsRow {
  readonly id: number;
  readonly hash: string;
  readonly context_json: string;
}

interface CallFactsRow {
  readonly subject_json: string | null;
  readonly server_json: string | null;
  readonly tool_json: string | null;
  readonly decision: string | null;
  readonly outcome: string | null;
}

/** A link of a hash chain: the calls from `first_call` on. */
export interface CallBatchRow {
  readonly id: number;
  readonly chain: string;
  readonly number: number;
  readonly first_call: number;
  readonly count: number;
  /** When the first and the last of them ended. */
  readonly min_ms: number;
  readonly max_ms: number;
  readonly previous: string;
  readonly hash: string;
}

/** A batch has calls with this context. */
export interface CallUseRow {
  readonly context: number;
  readonly batch: number;
}

/** How many calls ended in a minute; `decision` is empty if there was none. */
export interface CallMinuteRow {
  readonly minute: number;
  readonly decision: string;
  readonly outcome: string;
  readonly count: number;
}

/** By what a call is found whose context is not kept as a row. */
export interface OtherCallRow extends CallFactsRow {
  readonly id: number;
  readonly at_ms: number;
}

export interface CallStateRow {
  readonly id: number;
  readonly last_call: number;
  readonly pruned_call: number;
  readonly last_batch: number;
}
