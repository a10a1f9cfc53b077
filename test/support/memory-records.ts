import type { AuditEvent } from '../../packages/gateway/src/core/audit-event.ts';
import type { Refusal } from '../../packages/gateway/src/core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { RecordBodies, RecordKind } from '../../packages/gateway/src/core/record.ts';
import { RecordReplica } from '../../packages/gateway/src/gateway/catalog/record-replica.ts';
import type {
  RecordCache,
  RecordChange,
  RecordKey,
  RecordStore,
  StoredRecord,
  UnreadableRecord,
} from '../../packages/gateway/src/gateway/ports/records.ts';
import type { Store, StorePart } from '../../packages/gateway/src/gateway/ports/store.ts';
import { SILENT } from '../../packages/gateway/test/gateway/listed-server.ts';

/** The records of a store, in memory. */
export class MemoryRecords implements RecordStore, Pick<Store, 'onChange'> {
  readonly #kept = new Map<string, StoredRecord>();
  /** Records that the reader cannot parse. */
  unreadable: readonly UnreadableRecord[] = [];
  commits = 0;
  reads = 0;
  /** All audit events. */
  readonly audit: AuditEvent[] = [];
  /** Called before each commit, to simulate a concurrent writer. */
  before: () => void = () => undefined;
  mayRead: () => boolean = () => true;
  mayCommit: () => boolean = () => true;
  #revision = 0;
  readonly #listeners = new Set<(parts: readonly StorePart[]) => void>();

  records: RecordStore['records'] = (since) => {
    this.reads += 1;
    if (!this.mayRead()) return Promise.resolve(UNAVAILABLE);
    const records = [...this.#kept.values()].filter(({ revision }) => revision > since);
    return Promise.resolve(
      ok({
        records: records.toSorted((one, other) => one.revision - other.revision),
        unreadable: this.unreadable.filter(({ revision }) => revision > since),
        revision: this.#revision,
        prunedRevision: 0,
        isWhole: false,
      }),
    );
  };

  commit: RecordStore['commit'] = ({ changes, expectedRevisions, audit }) => {
    this.before();
    if (!this.mayCommit()) return Promise.resolve(UNAVAILABLE);
    const isCurrent = expectedRevisions.every((one) => this.#kept.get(keyOf(one))?.revision === one.revision);
    if (!isCurrent) return Promise.resolve(ok(undefined));
    this.commits += 1;
    for (const change of changes) this.keep(change);
    this.audit.push(...audit);
    return Promise.resolve(ok({ revision: this.#revision }));
  };

  fittingDrift: RecordStore['fittingDrift'] = ({ rows }) =>
    Promise.resolve(ok(new Set(rows.map(({ id }) => id))));

  acceptFirst: RecordStore['acceptFirst'] = () => Promise.reject(new Error('nothing is accepted here'));
  accepted: RecordStore['accepted'] = () => Promise.reject(new Error('nothing is accepted here'));
  auditEvents: RecordStore['auditEvents'] = () => Promise.reject(new Error('`audit` has them'));

  onChange: Store['onChange'] = (listener) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Writes a record as another process would. */
  keep(change: RecordChange): void {
    this.#revision += 1;
    this.#kept.set(keyOf(change), { ...change, revision: this.#revision });
  }

  all(kind: RecordKind): readonly RecordBodies[RecordKind][] {
    return [...this.#kept.values()].flatMap((one) => (one.kind === kind ? (one.body ?? []) : []));
  }

  /** Notifies listeners as after another process's write. */
  announce(): void {
    for (const listener of this.#listeners) listener(['records']);
  }
}

const UNAVAILABLE: Result<never, Refusal> = err({ code: 'STORE_UNAVAILABLE', reason: 'the test says so' });

function keyOf({ kind, id }: RecordKey): string {
  return `${kind} ${id}`;
}

/** A cache that is not persisted. */
export function memoryCache(
  recalled?: RecordCache['recalled'],
): RecordCache & { readonly remembered: () => readonly RecordChange[] } {
  let remembered: () => readonly RecordChange[] = () => recalled ?? [];
  return {
    recalled,
    remembered: () => remembered(),
    remember: (_, all) => (remembered = all),
    flush: () => Promise.resolve(),
  };
}

/** A process's replica of a store's records. */
export function replicaOf(
  store: RecordStore & Pick<Store, 'onChange'>,
  cache: RecordCache = memoryCache(),
): RecordReplica {
  return new RecordReplica({ open: () => Promise.resolve(ok(store)), cache, log: SILENT });
}
