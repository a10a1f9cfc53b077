/** One action as recorded in the audit log, with the state before and after it. */
export interface AuditEvent {
  readonly atMs: number;
  /** The acting subject, or the server whose tool changed. */
  readonly subject: string;
  /** `tool.update`, `gateway.create`, … */
  readonly action: string;
  readonly target: AuditTarget;
  /**
   * Who caused it, unless an operator did. Such events count against the bounds of their subject, and the oldest ones
   * give way. Not stored with the event.
   */
  readonly peer?: AuditPeer | undefined;
  /** JSON values without secrets. Undefined if the target did not exist before. */
  readonly before?: unknown;
  /** Undefined if the target no longer exists. */
  readonly after?: unknown;
}

/** `client`: the holder of a token without the scope `admin`. */
export type AuditPeer = 'client' | 'model' | 'server';

export const AUDIT_TARGET_KINDS = [
  'tool',
  'gateway',
  'toolset',
  'token',
  'session',
  'preference',
  'rules',
  'subject',
  'approval',
  'secret',
  'store',
  'stop',
] as const;

/** What an action changed. */
export interface AuditTarget {
  readonly kind: (typeof AUDIT_TARGET_KINDS)[number];
  readonly id: string;
  /** Display name. */
  readonly name: string;
}
