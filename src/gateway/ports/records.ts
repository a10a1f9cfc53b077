import type { AuditEvent } from '../../core/audit-event.ts';
import type { RecordBodies, RecordKind } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '../../core/result.ts';

/** Which record. */
export interface RecordKey<K extends RecordKind = RecordKind> {
  readonly kind: K;
  readonly id: string;
}

interface Written<K extends RecordKind> extends RecordKey<K> {
  /** Undefined: the record is removed. */
  readonly body: RecordBodies[K] | undefined;
}

interface Stored<K extends RecordKind> extends Written<K> {
  /** Counts up with each change, over all records: one that is newer was written later. */
  readonly revision: number;
}

/** One record as it is to be from now on. */
export type RecordChange<K extends RecordKind = RecordKind> = { [P in K]: Written<P> }[K];

/** A record as it is stored; one that was removed has no body. */
export type StoredRecord<K extends RecordKind = RecordKind> = { [P in K]: Stored<P> }[K];

/** A record that this Assay does not understand: a newer one wrote it, or it was damaged. */
export interface UnreadableRecord {
  readonly kind: string;
  readonly id: string;
  readonly revision: number;
  /** The end of a sentence. */
  readonly reason: string;
}

/** What changed since somebody looked. */
export interface RecordNews {
  /** In the order of their revisions. */
  readonly records: readonly StoredRecord[];
  readonly unreadable: readonly UnreadableRecord[];
  /** The newest one there is; 0 where there is none. */
  readonly revision: number;
}

/** The definition of a tool that was accepted: the first that was seen, or the one that an operator reviewed last. */
export interface AcceptedDefinition {
  /** Of the tool. */
  readonly id: string;
  /** SHA-256 of the definition in canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** JSON text, as its server wrote it. */
  readonly text: string;
}

/** A record as its reader last saw it. */
export interface ExpectedRevision extends RecordKey {
  /** That of a removed record included; undefined: there was none. */
  readonly revision: number | undefined;
}

export interface Commit {
  readonly changes: readonly RecordChange[];
  /** Records that must still be as they were read; they need not be among the changed ones. */
  readonly expectedRevisions: readonly ExpectedRevision[];
  /** The audit entries of the changes. */
  readonly audit: readonly AuditEvent[];
  /** Definitions that count as reviewed from now on. */
  readonly accepted?: readonly AcceptedDefinition[] | undefined;
}

export interface Committed {
  /** That of the last changed record; the others have the ones before it, in their order. */
  readonly revision: number;
}

/** An audit event as it is stored. */
export interface StoredAuditEvent extends AuditEvent {
  /** Counts up: a later one has a larger one. */
  readonly id: number;
}

export interface AuditQuery {
  /** Only events before this one, newest first; absent: from the newest. */
  readonly before?: number | undefined;
  /** Only events after this one, oldest first. */
  readonly after?: number | undefined;
  readonly limit: number;
  readonly targetKind?: AuditEvent['target']['kind'] | undefined;
  readonly targetId?: string | undefined;
}

/** The part of a store that keeps records and the audit log. As of all of it: each method is one transaction. */
export interface RecordStore {
  /** `since`: the revision up to which they are known; 0: none is. */
  records(since: number): Promise<Result<RecordNews, Refusal>>;
  /**
   * Makes all changes and writes their audit entries in one transaction, or does nothing. Returns undefined on a write
   * conflict: a record is no longer in its expected revision, or one is changed twice.
   */
  commit(commit: Commit): Promise<Result<Committed | undefined, Refusal>>;
  /** Those that are known of these tools; of the others what is given is accepted. By the id of the tool. */
  acceptFirst(
    definitions: readonly AcceptedDefinition[],
  ): Promise<Result<ReadonlyMap<string, string>, Refusal>>;
  /** Undefined where none of this tool was. */
  accepted(id: string): Promise<Result<AcceptedDefinition | undefined, Refusal>>;
  auditEvents(query: AuditQuery): Promise<Result<readonly StoredAuditEvent[], Refusal>>;
}

/** The records as they were last known, for a start that cannot wait for the store. */
export interface RecordCache {
  /** Undefined: nothing is known. */
  readonly recalled: readonly RecordChange[] | undefined;
  /** What changed, and what gives all of them; entries in them are encrypted. */
  remember(changed: readonly RecordChange[], all: () => readonly RecordChange[]): void;
  /** Resolves when what is remembered is written. */
  flush(): Promise<void>;
}
