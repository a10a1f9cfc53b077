import type { AuditEvent } from '../../core/audit-event.ts';
import type { RecordBodies, RecordKind } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { SessionToolsetChange } from './session-toolsets.ts';

/** Identifies a record. */
export interface RecordKey<K extends RecordKind = RecordKind> {
  readonly kind: K;
  readonly id: string;
}

interface Written<K extends RecordKind> extends RecordKey<K> {
  /** Undefined if the record is removed. */
  readonly body: RecordBodies[K] | undefined;
}

interface Stored<K extends RecordKind> extends Written<K> {
  /** Increases with each change of any record. */
  readonly revision: number;
}

/** The new state of one record. */
export type RecordChange<K extends RecordKind = RecordKind> = { [P in K]: Written<P> }[K];

/** A stored record. A removed one has no body. */
export type StoredRecord<K extends RecordKind = RecordKind> = { [P in K]: Stored<P> }[K];

/** A record that this Assay does not understand: a newer one wrote it, or it was damaged. */
export interface UnreadableRecord {
  readonly kind: string;
  readonly id: string;
  readonly revision: number;
  /** The end of a sentence. */
  readonly reason: string;
}

/** Records changed since a revision. */
export interface RecordNews {
  /** In the order of their revisions. */
  readonly records: readonly StoredRecord[];
  readonly unreadable: readonly UnreadableRecord[];
  /** The newest revision; 0 if there is none. */
  readonly revision: number;
  /** The store no longer has records that were removed up to this revision. */
  readonly prunedRevision: number;
  /** Whether these are all records, since removals after `since` are no longer known. */
  readonly isWhole: boolean;
}

/** The accepted definition of a tool: the first one seen, or the one that an operator last reviewed. */
export interface AcceptedDefinition {
  /** Id of the tool. */
  readonly id: string;
  /** SHA-256 of the definition in canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** JSON text, as its server wrote it. */
  readonly text: string;
}

/** How much of what one peer sends is stored. */
export interface GrowthBounds {
  readonly entries: number;
  readonly bytes: number;
  readonly entriesPerMinute: number;
  readonly bytesPerMinute: number;
}

/** Rows that a peer causes to be stored, and the bounds of all its rows of that kind in the store. */
export interface Growth {
  /** Id of the server. */
  readonly peer: string;
  readonly bounds: GrowthBounds;
  readonly nowMs: number;
}

/** A difference between a tool's definition and the accepted one, as its server causes it to be stored. */
export interface StoredDrift {
  /** Id of the tool. */
  readonly id: string;
  /** Size of the record. */
  readonly bytes: number;
}

/** A record as its reader last saw it. */
export interface ExpectedRevision extends RecordKey {
  /** A removed record has one too, as long as the store knows it. Undefined: the record does not exist. */
  readonly revision: number | undefined;
}

export interface Commit {
  readonly changes: readonly RecordChange[];
  /** Records that must not have changed since they were read. They need not be among the changed ones. */
  readonly expectedRevisions: readonly ExpectedRevision[];
  /** The audit entries of the changes. */
  readonly audit: readonly AuditEvent[];
  /** Definitions that count as reviewed from now on. */
  readonly accepted?: readonly AcceptedDefinition[] | undefined;
  readonly sessionToolsets?: SessionToolsetChange | undefined;
  readonly drift?: CommittedDrift | undefined;
}

/** The changed definitions of one server that a commit stores. */
export interface CommittedDrift {
  readonly growth: Growth;
  readonly rows: readonly StoredDrift[];
}

export interface Committed {
  /** Revision of the last change. The other changes have the revisions directly before it, in order. */
  readonly revision: number;
  /** Number of sessions that had equipped a removed toolset, apart from the one that removed it. */
  readonly sessions?: number | undefined;
}

/** A stored audit event. */
export interface StoredAuditEvent extends AuditEvent {
  /** Increases with each event. */
  readonly id: number;
  readonly kind?: undefined;
}

/** An audit event that another program changed so that it cannot be read, or that a newer Assay wrote. */
export interface UnreadableAuditEvent {
  readonly id: number;
  readonly kind: 'unreadable';
  /** The end of a sentence. */
  readonly reason: string;
}

export type AuditEntry = StoredAuditEvent | UnreadableAuditEvent;

export interface AuditQuery {
  /** Only events with smaller ids, newest first. Absent: from the newest. */
  readonly before?: number | undefined;
  /** Only events with larger ids, oldest first. */
  readonly after?: number | undefined;
  readonly limit: number;
  readonly targetKind?: AuditEvent['target']['kind'] | undefined;
  readonly targetId?: string | undefined;
}

/** The part of a store that keeps records and the audit log. Each method is one transaction. */
export interface RecordStore {
  /** Returns records newer than the revision `since`, or all; 0 returns all. */
  records(since: number): Promise<Result<RecordNews, Refusal>>;
  /**
   * Makes all changes and writes their audit entries in one transaction, or does nothing. Returns undefined on a write
   * conflict: a record no longer has its expected revision, one is changed twice, or `drift` exceeds the bounds of its
   * server. CHANGES_LIMIT: a client or model that caused the audit events has made too many changes within a minute.
   * TOOLSET_EQUIPPED if other sessions have equipped a toolset that a session removes.
   */
  commit(commit: Commit): Promise<Result<Committed | undefined, Refusal>>;
  /**
   * Ids of those tools whose drift fits into the bounds of their server. Writing the drift of a tool again within a
   * minute counts again. Drift that is reviewed or gone does not count.
   */
  fittingDrift(drift: CommittedDrift): Promise<Result<ReadonlySet<string>, Refusal>>;
  /**
   * Accepts the given definition of each tool that has no accepted one yet. Returns the accepted digest of each tool,
   * by tool id. With `growth`, a definition that exceeds the bounds of its server is not accepted, and is absent from
   * the result. Definitions that an operator has reviewed do not count.
   */
  acceptFirst(
    definitions: readonly AcceptedDefinition[],
    growth?: Growth,
  ): Promise<Result<ReadonlyMap<string, string>, Refusal>>;
  /** Undefined if this tool has none. */
  accepted(id: string): Promise<Result<AcceptedDefinition | undefined, Refusal>>;
  /** One that cannot be read does not affect the others. */
  auditEvents(query: AuditQuery): Promise<Result<readonly AuditEntry[], Refusal>>;
}

/** The last known records, for a start that cannot wait for the store. */
export interface RecordCache {
  /** Undefined if nothing is known. */
  readonly recalled: readonly RecordChange[] | undefined;
  /** Takes the changed records, and a function that returns all of them. Entries in them are encrypted. */
  remember(changed: readonly RecordChange[], all: () => readonly RecordChange[]): void;
  /** Resolves when all remembered records are written. */
  flush(): Promise<void>;
}
