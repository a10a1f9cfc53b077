import type { AuditTarget } from './audit-event.ts';

/**
 * An HTTP request that has ended. `api/event-line.ts` describes whole lines, with the members that the event log adds.
 */
export interface AccessEvent {
  readonly requestId: string;
  /** Address of the connection, or `local`. */
  readonly client: string;
  /** Undefined if the request was not admitted. */
  readonly subject?: string | undefined;
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  readonly status: number;
  readonly bytes: number;
  readonly durationMs: number;
  readonly isAborted?: true | undefined;
}

/** An entry of the audit log. */
export interface ChangeEvent {
  readonly id: number;
  readonly subject: string;
  readonly action: string;
  readonly target: AuditTarget;
  /** Names of the members that differ. */
  readonly changed: readonly string[];
}
