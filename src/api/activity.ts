export type AuditEntry = AuditEvent | UnreadableAuditEvent;

/** A change in the audit log. */
export interface AuditEvent {
  readonly id: number;
  readonly kind?: undefined;
  readonly at: string;
  readonly subject: string;
  readonly action: string;
  readonly target: { readonly kind: string; readonly id: string; readonly name: string };
  readonly before?: unknown;
  readonly after?: unknown;
}

/** Another program changed the event so that it cannot be read, or a newer Assay wrote it. */
export interface UnreadableAuditEvent {
  readonly id: number;
  readonly kind: 'unreadable';
  /** The end of a sentence. */
  readonly reason: string;
}

export interface AuditPage {
  readonly activity: readonly AuditEntry[];
  readonly nextCursor?: string;
}
