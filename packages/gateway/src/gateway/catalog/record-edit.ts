import type { AuditEvent } from '../../core/audit-event.ts';
import type {
  AcceptedDefinition,
  Committed,
  CommittedDrift,
  RecordChange,
  RecordKey,
} from '../ports/records.ts';
import type { SessionToolsetChange } from '../ports/session-toolsets.ts';

/** A change of the replica, by this or another process. */
export interface RecordsChange {
  /** A removed record has no body. */
  readonly records: readonly RecordChange[];
  /** Whether nothing was known before, not even from the cache. */
  readonly isFirst: boolean;
}

/** A change of records, decided on the current replica. */
export interface Edit<T> {
  readonly value: T;
  /** Computes the value if it depends on the commit. */
  readonly afterCommit?: ((committed: Committed) => T) | undefined;
  /** If empty and there are no `sessionToolsets`, nothing is written. */
  readonly changes: readonly RecordChange[];
  /** Further records that the decision depends on. They must not change meanwhile. */
  readonly expected?: readonly RecordKey[] | undefined;
  readonly audit?: readonly AuditEvent[] | undefined;
  /** Definitions that count as reviewed from now on. */
  readonly accepted?: readonly AcceptedDefinition[] | undefined;
  readonly sessionToolsets?: SessionToolsetChange | undefined;
  /** The changed definitions among the changes. */
  readonly drift?: CommittedDrift | undefined;
  readonly lowers?: Lowering | undefined;
}

/** The part of a change that only takes rights away. It applies in this process even if it cannot be stored. */
export interface Lowering {
  readonly record: RecordChange<'tool' | 'trust' | 'stops'>;
  /** The kind of object that messages name. */
  readonly kind: 'tool' | 'gateway' | 'stop';
  readonly name: string;
}
