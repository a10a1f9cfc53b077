import { findUnsavedReason } from '../../core/errors.ts';
import { Freshness } from '../../core/freshness.ts';
import { Listeners } from '../../core/listeners.ts';
import { type RecordBodies, type RecordKind, type SettingValue, STOPS } from '../../core/record.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Stop } from '../../core/stops.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Log } from '../ports/log.ts';
import type {
  RecordCache,
  RecordChange,
  RecordKey,
  RecordNews,
  RecordStore,
  StoredRecord,
  UnreadableRecord,
} from '../ports/records.ts';
import type { Store } from '../ports/store.ts';
import type { Edit, Lowering, RecordsChange } from './record-edit.ts';

export interface RecordReplicaOptions {
  /** Opens the store, or returns the open one. Called again only after it failed. */
  readonly open: () => Promise<Result<RecordStore & Pick<Store, 'onChange' | 'heardMs'>, Refusal>>;
  readonly cache: RecordCache;
  readonly log: Log;
}

/** Maximum number of tries on write conflicts. Each conflict means that another change succeeded. */
const MAX_ATTEMPTS = 1_000;

/**
 * All records of the store, kept up to date with every process on it, and the only way to change one. Until the store
 * is read, they come from the cache.
 */
export class RecordReplica {
  readonly #options: RecordReplicaOptions;
  #tables = new RecordTables();
  readonly #unreadable = new Map<string, UnreadableRecord>();
  /** All records up to this revision are known. */
  #revision = 0;
  /** The newest known revision of a record. Ahead of `#revision` if the store could not be read after a commit. */
  #newest = 0;
  /** Records that were removed up to this revision are forgotten. */
  #prunedRevision = 0;
  #isKnown = false;
  /** Whether a read that an announced change asked for has not begun yet. */
  #isReadQueued = false;
  #freshness: Freshness | undefined;
  #opening: ReturnType<RecordReplicaOptions['open']> | undefined;
  #deferral: PromiseWithResolvers<void> | undefined;
  #isClosed = false;
  #ready: Promise<Result<undefined, Refusal>> | undefined;
  #endListening: (() => void) | undefined;
  #reading: Promise<Result<undefined, Refusal>> | undefined;
  readonly #listeners = new Listeners<[RecordsChange]>();
  /** Records that take rights away and could not be stored. They apply until stored, or until this process ends. */
  readonly #unsaved = new Map<string, Lowering['record']>();

  constructor(options: RecordReplicaOptions) {
    this.#options = options;
    for (const record of options.cache.recalled ?? []) this.#tables.put({ ...record, revision: 0 });
  }

  /** Whether the store was read. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Whether the records are recent enough to decide on calls. */
  get isFresh(): boolean {
    return this.#freshness?.isFresh ?? true;
  }

  /** Whether anything is known: from the store or, until that is read, from the cache. */
  get isRecalled(): boolean {
    return this.#isKnown || this.#options.cache.recalled !== undefined;
  }

  /** Resolves when the store was read, and follows it from then on. STORE_UNAVAILABLE if that is not possible now. */
  ready(): Promise<Result<undefined, Refusal>> {
    if (this.#isKnown) return Promise.resolve(ok(undefined));
    this.#ready ??= this.#follow().finally(() => (this.#ready = undefined));
    return this.#ready;
  }

  /** Sets when `readyLater` may open a new store. */
  deferUntil(moment: Promise<void>): void {
    this.#deferral = Promise.withResolvers();
    const end = (): void => void this.endDeferral();
    moment.then(end, end);
  }

  /** Lets what waits in `readyLater` go on. Returns whether `deferUntil` was called, so that work may have waited. */
  endDeferral(): boolean {
    this.#deferral?.resolve();
    return this.#deferral !== undefined;
  }

  /** Like `ready`, for work that no client waits for: on a new store, it lets the first lists come before. */
  async readyLater(): Promise<Result<undefined, Refusal>> {
    await this.#deferral?.promise;
    return this.ready();
  }

  /** Resolves when the replica has the current content of the store. */
  async readAgain(): Promise<Result<undefined, Refusal>> {
    const ready = await this.ready();
    if (!ready.ok) return ready;
    const store = await this.store();
    return store.ok ? this.#read(store.value) : store;
  }

  /** The stored body. */
  get<K extends RecordKind>(kind: K, id: string): RecordBodies[K] | undefined {
    return this.#tables.find(kind, id)?.body;
  }

  /** Whether a server is trusted, including a withdrawal that could not be stored. */
  trust(id: string): RecordBodies['trust'] | undefined {
    const unsaved = this.#unsaved.get(keyOf({ kind: 'trust', id }));
    return unsaved?.kind === 'trust' ? unsaved.body : this.get('trust', id);
  }

  /** What is stopped, including what could not be stored. */
  stops(): readonly Stop[] {
    const stored = this.get(STOPS.kind, STOPS.id)?.stops ?? [];
    const unsaved = this.#unsaved.get(keyOf(STOPS));
    return unsaved?.kind === 'stops' ? [...stored, ...(unsaved.body?.stops ?? [])] : stored;
  }

  /** All existing records of a kind. */
  all<K extends RecordKind>(kind: K): readonly RecordBodies[K][] {
    return [...this.#tables.bodies(kind).values()];
  }

  /** Ids of all existing records of a kind. */
  ids(kind: RecordKind): readonly string[] {
    return [...this.#tables.bodies(kind).keys()];
  }

  settings(): ReadonlyMap<string, SettingValue> {
    return this.#tables.bodies('setting');
  }

  /** Calls back after each change by any process. Returns a function that unsubscribes. */
  onChange(listener: (change: RecordsChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * Changes records atomically: on a write conflict `edit` runs again on the updated records. Its refusal counts only
   * after the store has confirmed the state that it was based on.
   */
  async change<T, E = Refusal>(
    edit: () => Result<Edit<T>, E> | Promise<Result<Edit<T>, E>>,
  ): Promise<Result<T, E | Refusal>> {
    const ready = await this.ready();
    if (!ready.ok) return ready;
    const store = await this.store();
    if (!store.ok) return store;
    let isFresh = false;
    for (let tries = 0; tries < MAX_ATTEMPTS; tries += 1) {
      const asOf = this.#newest;
      const edited = await edit();
      if (!edited.ok || isEmpty(edited.value)) {
        const depends = !edited.ok || (edited.value.expected ?? []).length > 0;
        const read = isFresh || !depends ? ok(undefined) : await this.#read(store.value);
        if (!isFresh && this.#newest > asOf) {
          isFresh = true;
          continue;
        }
        if (!edited.ok) return edited;
        return read.ok ? ok(edited.value.value) : read;
      }
      const { changes, expected = [], audit = [], accepted, sessionToolsets, drift, lowers } = edited.value;
      const keys = [...changes, ...expected];
      const unreadable = this.unreadable(keys);
      if (unreadable !== undefined) return err(unreadable);
      // The record changed while the edit was deciding.
      if (keys.some((key) => (this.#tables.find(key.kind, key.id)?.revision ?? 0) > asOf)) continue;
      const expectedRevisions = keys.map(({ kind, id }) => ({
        kind,
        id,
        revision: this.#tables.find(kind, id)?.revision,
      }));
      const done = await store.value.commit({
        changes,
        expectedRevisions,
        audit,
        accepted,
        sessionToolsets,
        drift,
      });
      if (!done.ok) return err(this.#lowered(lowers, done.error));
      if (done.value !== undefined) {
        if (changes.some(({ kind }) => kind === 'stops')) this.#unsaved.delete(keyOf(STOPS));
        await this.#takeCommitted(changes, done.value.revision, store.value);
        return ok(edited.value.afterCommit?.(done.value) ?? edited.value.value);
      }
      const read = await this.#read(store.value);
      if (!read.ok) return read;
      isFresh = true;
    }
    return err({ code: 'STORE_UNAVAILABLE', reason: 'others keep changing the same' });
  }

  store(): ReturnType<RecordReplicaOptions['open']> {
    this.#opening ??= this.#options.open().then((opened) => {
      // The next call tries again.
      if (!opened.ok) this.#opening = undefined;
      return opened;
    });
    return this.#opening;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#endListening?.();
    this.#listeners.clear();
    await this.#reading;
    await this.#options.cache.flush();
  }

  async #follow(): Promise<Result<undefined, Refusal>> {
    if (this.#isClosed) return err({ code: 'SHUTTING_DOWN' });
    const store = await this.store();
    if (!store.ok) return store;
    this.#freshness ??= new Freshness(store.value.heardMs);
    this.#endListening ??= store.value.onChange((parts) => {
      if (parts.includes('records')) this.#readSoon(store.value);
    });
    return this.#read(store.value);
  }

  /** Any number of announcements that arrive during a read cause one more. */
  #readSoon(store: RecordStore): void {
    this.#freshness?.announced();
    if (this.#isReadQueued) return;
    this.#isReadQueued = true;
    void this.#read(store);
  }

  /** Reads run one after another, so the last one wins. */
  #read(store: RecordStore): Promise<Result<undefined, Refusal>> {
    const before: Promise<unknown> = this.#reading ?? Promise.resolve(ok(undefined));
    const next = async (): Promise<Result<undefined, Refusal>> => {
      this.#isReadQueued = false;
      const read = (): ReturnType<RecordStore['records']> => store.records(this.#revision);
      const news = await (this.#freshness?.during(read) ?? read());
      if (!news.ok) return news;
      const { records, unreadable, revision, prunedRevision, isWhole } = news.value;
      if (isWhole) this.#unreadable.clear();
      for (const record of unreadable) this.#passOver(record);
      const removed = this.#removedIn(news.value);
      this.#take([...removed, ...records], revision);
      if (prunedRevision > this.#prunedRevision) this.#tables.forget(removed, prunedRevision);
      this.#prunedRevision = prunedRevision;
      return ok(undefined);
    };
    // A failed read does not prevent later ones.
    this.#reading = before.then(next, next);
    return this.#reading;
  }

  /** Known records that news with all records lack. */
  #removedIn({ records, unreadable, revision, isWhole }: RecordNews): readonly StoredRecord[] {
    if (!isWhole || !this.#isKnown) return [];
    const present = new Set([...records, ...unreadable].map(keyOf));
    return this.#tables
      .everything()
      .filter((record) => record.body !== undefined && record.revision < revision)
      .filter((record) => !present.has(keyOf(record)))
      .map(({ kind, id }): StoredRecord => ({ kind, id, body: undefined, revision }));
  }

  /** The commit is durable: a store that cannot be read afterwards must not fail the request. */
  async #takeCommitted(
    changes: readonly RecordChange[],
    revision: number,
    store: RecordStore,
  ): Promise<void> {
    const first = revision - changes.length + 1;
    const isNext = this.#revision + 1 === first;
    // Another process may have written in between.
    const read = isNext ? undefined : await this.#read(store);
    if (read?.ok === true) return;
    const records = changes.map((change, at): StoredRecord => ({ ...change, revision: first + at }));
    this.#take(records, isNext ? revision : this.#revision);
  }

  #take(read: readonly StoredRecord[], revision: number): void {
    const isFirst = !this.isRecalled;
    const recalled = this.#isKnown ? [] : this.#tables.everything();
    if (!this.#isKnown) this.#tables = new RecordTables();
    for (const record of recalled) if (this.#unreadable.has(keyOf(record))) this.#tables.put(record);
    this.#isKnown = true;
    this.#revision = Math.max(this.#revision, revision);
    // A record that this process committed may be known before it is read.
    const records = read.filter((one) => (this.#tables.find(one.kind, one.id)?.revision ?? 0) < one.revision);
    for (const record of records) {
      this.#tables.put(record);
      // What another process stores does not include the stops of this one.
      if (record.kind !== 'stops') this.#unsaved.delete(keyOf(record));
      this.#unreadable.delete(keyOf(record));
      this.#newest = Math.max(this.#newest, record.revision);
    }
    if (records.length === 0 && recalled.length === 0 && !isFirst) return;
    const gone = recalled.filter(({ kind, id }) => this.#tables.find(kind, id) === undefined);
    const changed = [...records, ...gone.map((record): RecordChange => ({ ...record, body: undefined }))];
    this.#options.cache.remember(changed, () => this.#tables.everything());
    this.#notify({ records: changed, isFirst });
  }

  /** The last readable version stays in force: dropping it could grant rights. */
  #passOver(record: UnreadableRecord): void {
    const { kind, id, reason } = record;
    this.#unreadable.set(keyOf(record), record);
    this.#options.log.error('ignoring a stored record of an unknown kind or version', {
      kind,
      id,
      reason,
    });
  }

  /** RECORD_UNREADABLE if the store has a version of one that this program does not understand. */
  unreadable(keys: readonly RecordKey[]): Refusal | undefined {
    if (this.#unreadable.size === 0) return undefined;
    for (const key of keys) {
      const found = this.#unreadable.get(keyOf(key));
      if (found !== undefined)
        return { code: 'RECORD_UNREADABLE', kind: found.kind, id: found.id, reason: found.reason };
    }
    return undefined;
  }

  /** Applies here what could not be stored, if it takes rights away. Further changes start from the stored record. */
  #lowered(lowers: Lowering | undefined, refusal: Refusal): Refusal {
    const reason = findUnsavedReason(refusal);
    if (lowers === undefined || reason === undefined) return refusal;
    const { record, kind, name } = lowers;
    this.#unsaved.set(keyOf(record), record);
    this.#notify({ records: [record], isFirst: false });
    return { code: 'REVOCATION_UNSAVED', kind, name, reason };
  }

  #notify(change: RecordsChange): void {
    this.#listeners.notify(change);
  }
}

function isEmpty({ changes, sessionToolsets }: Edit<unknown>): boolean {
  return changes.length === 0 && sessionToolsets === undefined;
}

function keyOf({ kind, id }: { readonly kind: string; readonly id: string }): string {
  return `${kind} ${id}`;
}

/** The newest known version of each record, by kind and id. Removed records are kept without a body for a while. */
class RecordTables {
  readonly #tables: { readonly [K in RecordKind]: Map<string, StoredRecord<K>> } = {
    tool: new Map(),
    trust: new Map(),
    gateway: new Map(),
    secret: new Map(),
    rest_tool: new Map(),
    function_module: new Map(),
    instructions: new Map(),
    toolset: new Map(),
    equipped: new Map(),
    setting: new Map(),
    token_preferences: new Map(),
    policy_rules: new Map(),
    stops: new Map(),
    notices: new Map(),
  };

  find<K extends RecordKind>(kind: K, id: string): StoredRecord<K> | undefined {
    return this.#tables[kind].get(id);
  }

  put<K extends RecordKind>(record: StoredRecord<K>): void {
    this.#tables[record.kind].set(record.id, record);
  }

  /** Bodies of existing records. */
  bodies<K extends RecordKind>(kind: K): ReadonlyMap<string, RecordBodies[K]> {
    const bodies = new Map<string, RecordBodies[K]>();
    for (const { id, body } of this.#tables[kind].values()) if (body !== undefined) bodies.set(id, body);
    return bodies;
  }

  /** Forgets these records, and those that were removed up to this revision. */
  forget(records: readonly StoredRecord[], revision: number): void {
    for (const { kind, id } of records) this.#tables[kind].delete(id);
    for (const { kind, id, body, revision: own } of this.everything())
      if (body === undefined && own <= revision) this.#tables[kind].delete(id);
  }

  everything(): readonly StoredRecord[] {
    return Object.values(this.#tables).flatMap((table: Map<string, StoredRecord>) => [...table.values()]);
  }
}
