import type { RecordBodies, RecordKind } from '../../core/record.ts';
import type { StoredRecord } from '../ports/records.ts';

/** The newest known version of each record, by kind and id. Removed records are kept without a body for a while. */
export class RecordTables {
  readonly #tables: { readonly [K in RecordKind]: Map<string, StoredRecord<K>> } = {
    tool: new Map(),
    trust: new Map(),
    gateway: new Map(),
    rest_tool: new Map(),
    function_module: new Map(),
    instructions: new Map(),
    toolset: new Map(),
    equipped: new Map(),
    setting: new Map(),
    token_preferences: new Map(),
    policy_rules: new Map(),
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
