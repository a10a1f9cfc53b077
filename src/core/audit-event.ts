/** One action as recorded in the audit log, with the state before and after it. */
export interface AuditEvent {
  readonly atMs: number;
  /** The acting subject, or the server whose tool changed. */
  readonly subject: string;
  /** `tool.update`, `gateway.create`, … */
  readonly action: string;
  readonly target: AuditTarget;
  /** JSON values without secrets. Undefined if the target did not exist before. */
  readonly before?: unknown;
  /** Undefined if the target no longer exists. */
  readonly after?: unknown;
}

export interface AuditTarget {
  readonly kind:
    'tool' | 'gateway' | 'toolset' | 'token' | 'session' | 'preference' | 'rules' | 'subject' | 'approval';
  readonly id: string;
  /** Display name. */
  readonly name: string;
}
