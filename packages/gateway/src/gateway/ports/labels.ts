import type { AuditEvent } from '../../core/audit-event.ts';
import type { SessionLabel } from '../../core/policy/policy.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';

/** A label of a subject. */
export interface StoredLabel {
  readonly subject: string;
  readonly label: SessionLabel;
  /** The source that first set it: the namespaced name of a tool, or a server and a method. */
  readonly source: string;
  readonly sinceMs: number;
  /** The subject's last known call. */
  readonly seenMs: number;
}

export interface StoredLabels {
  readonly labels: readonly StoredLabel[];
  /** Whether further labels may have been lost, so that a subject without labels cannot be relied on. */
  readonly isFull: boolean;
}

/** The calls of a subject. */
export interface SeenCalls {
  readonly lastMs: number;
  /** Labels of a subject last seen before this time had expired when it called again, so they stay expired. */
  readonly aliveMs: number;
}

export interface LabelChanges {
  /** A label that the subject already has keeps its source and time. */
  readonly added: readonly StoredLabel[];
  /** Calls by subject. Subjects without labels get none. */
  readonly seen: ReadonlyMap<string, SeenCalls>;
  /** Labels of subjects whose last call was before this are removed. */
  readonly expiredMs: number;
}

/** Maximum number of labels in the store. */
export const MAX_LABELS = 20_000;

/** The session labels of all subjects. */
export interface LabelStore {
  /** Oldest first. `subject`: only the labels of this one. */
  labels(subject?: string): Promise<Result<StoredLabels, Refusal>>;
  saveLabels(changes: LabelChanges): Promise<Result<undefined, Refusal>>;
  /** Removes all labels of a subject. Returns whether it had any; the event is written only then. */
  clearLabels(subject: string, event: AuditEvent): Promise<Result<boolean, Refusal>>;
}
