import type { AuditTarget } from '../../core/audit-event.ts';
import type { StorePart } from '../../gateway/ports/store.ts';

/**
 * The rows as both databases give them. Times are in ms. A text that a peer chose is kept as JSON (`…_json`), because
 * PostgreSQL takes neither U+0000 nor half of a pair, and one such name must not cost its server the others.
 */
export interface Tables {
  /** One row for each migration that was applied. */
  readonly assay_migrations: { readonly version: number; readonly applied_ms: number };
  /** SQLite alone: how often each part was written, by which other processes see that it was. */
  readonly assay_parts: { readonly part: StorePart; readonly revision: number };
  readonly assay_tokens: TokenRow;
  readonly assay_keys: KeyRow;
  readonly assay_credentials: CredentialRow;
  readonly assay_records: RecordRow;
  /** One row, of all records together. */
  readonly assay_record_state: RecordStateRow;
  readonly assay_accepted: AcceptedRow;
  readonly assay_audit: AuditRow;
  /** One row, of all audit events together. */
  readonly assay_audit_state: AuditStateRow;
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
  /** Who alone may use the refresh token, and until when. */
  readonly lease_holder: string | null;
  readonly lease_until_ms: number | null;
}

export interface RecordRow {
  /** One of `RecordKind`, or one that a newer Assay made. */
  readonly kind: string;
  readonly id_json: string;
  /** The form in which the body is written (`RECORD_VERSIONS`). */
  readonly version: number;
  readonly revision: number;
  /** Null: the record was removed. The row stays, so that others learn of it. */
  readonly body_json: string | null;
}

export interface RecordStateRow {
  readonly id: number;
  /** The last one given out to any record. */
  readonly last_revision: number;
}

export interface AcceptedRow {
  /** Of the tool. */
  readonly id_json: string;
  readonly digest: string;
  /** The definition, which is JSON itself, as a JSON string. */
  readonly text_json: string;
}

export interface AuditRow {
  readonly id: number;
  readonly at_ms: number;
  readonly subject_json: string;
  readonly action: string;
  readonly target_kind: AuditTarget['kind'];
  readonly target_id_json: string;
  readonly target_name_json: string;
  /** Null: there was nothing, which JSON's null is not. */
  readonly before_json: string | null;
  readonly after_json: string | null;
}

export interface AuditStateRow {
  readonly id: number;
  /** The last one given out to any event. */
  readonly last_event: number;
}
