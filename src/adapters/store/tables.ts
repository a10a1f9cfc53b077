import type { AuditTarget } from '../../core/audit-event.ts';
import type { StorePart } from '../../gateway/ports/store.ts';
import type { WordKind } from '../../gateway/ports/words.ts';

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
  readonly assay_settings: { readonly key: string; readonly value_json: string };
  readonly assay_credentials: CredentialRow;
  readonly assay_toolsets: ToolsetRow;
  /** One row, of all toolsets together. */
  readonly assay_toolset_state: ToolsetStateRow;
  readonly assay_words: WordRow;
  /** One row, of all words together. */
  readonly assay_word_state: WordStateRow;
  readonly assay_accepted: AcceptedRow;
  readonly assay_deeds: AuditRow;
  /** One row, of all deeds together. */
  readonly assay_deed_state: AuditStateRow;
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

export interface ToolsetRow {
  readonly name: string;
  readonly revision: number;
  /** All of the toolset, its name too. */
  readonly body_json: string;
}

export interface ToolsetStateRow {
  readonly id: number;
  /** Name of the toolset that is equipped. */
  readonly equipped: string | null;
  readonly equippings: number;
  /** The last one given out to any toolset, also to one that is gone. */
  readonly last_revision: number;
}

export interface WordRow {
  readonly kind: WordKind;
  readonly id_json: string;
  readonly revision: number;
  /** Null: nothing is said any more. The row stays, so that others learn of it. */
  readonly body_json: string | null;
}

export interface WordStateRow {
  readonly id: number;
  /** The last one given out to any word. */
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
  /** The last one given out to any deed. */
  readonly last_deed: number;
}
