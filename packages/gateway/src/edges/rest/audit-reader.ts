import type { AuditEntry, RecordStore } from '../../gateway/ports/records.ts';

/** Audit events per query of the store. */
const BATCH = 20;

interface Batch {
  readonly after: number;
  readonly events: readonly AuditEntry[];
}

/**
 * Reads audit events for all streams of `/events`. Reads of the store are made one at a time, and streams at the same
 * event share one, so a write does not wait behind a read for each stream.
 */
export class AuditReader {
  readonly #store: Pick<RecordStore, 'auditEvents'>;
  /** The last batch that was read. */
  #batch: Batch | undefined;
  /** Whether no event was written since the last read. */
  #isCurrent = false;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(store: Pick<RecordStore, 'auditEvents'>) {
    this.#store = store;
  }

  /** To be called when there may be new audit events. */
  invalidate(): void {
    this.#isCurrent = false;
  }

  /** Up to 20 events after this one, oldest first. Undefined if the store cannot be read. */
  after(id: number): Promise<readonly AuditEntry[] | undefined> {
    const read = this.#turn.then(() => this.#known(id) ?? this.#read(id));
    this.#turn = read.catch(() => undefined);
    return read;
  }

  #known(id: number): readonly AuditEntry[] | undefined {
    const batch = this.#batch;
    if (batch === undefined || id < batch.after) return undefined;
    const later = batch.events.filter((event) => event.id > id);
    const isLast = this.#isCurrent && batch.events.length < BATCH;
    return later.length > 0 || isLast ? later : undefined;
  }

  async #read(id: number): Promise<readonly AuditEntry[] | undefined> {
    this.#isCurrent = true;
    const events = await this.#store.auditEvents({ after: id, limit: BATCH });
    if (!events.ok) {
      this.#isCurrent = false;
      return undefined;
    }
    this.#batch = { after: id, events: events.value };
    return events.value;
  }
}
