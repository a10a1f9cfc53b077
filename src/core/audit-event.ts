/** What somebody did, as it is kept: with what was before and what is after. */
export interface AuditEvent {
  readonly atMs: number;
  /** Who did it: a subject, or the server whose tool changed. */
  readonly subject: string;
  /** `tool.update`, `gateway.create`, … */
  readonly action: string;
  readonly target: AuditTarget;
  /** JSON values, without secrets; undefined: there was nothing. */
  readonly before?: unknown;
  /** Undefined: there is nothing any more. */
  readonly after?: unknown;
}

export interface AuditTarget {
  readonly kind: 'tool' | 'gateway' | 'toolset' | 'token' | 'preference';
  readonly id: string;
  /** What people call it. */
  readonly name: string;
}
