/** A change in the audit log. */
export interface AuditEntry {
  readonly id: number;
  readonly at: string;
  readonly subject: string;
  readonly action: string;
  readonly target: { readonly kind: string; readonly id: string; readonly name: string };
  readonly before?: unknown;
  readonly after?: unknown;
}

export interface AuditPage {
  readonly activity: readonly AuditEntry[];
  readonly nextCursor?: string;
}
