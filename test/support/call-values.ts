import {
  parseBatchEntry,
  chainEntries,
  type EntryBatch,
  hashChainStart,
  type NewEntry,
  type StoredEntry,
} from '../../src/core/activity/call-chain.ts';
import {
  type CallEntry,
  serializeEntry,
  type FinishedCall,
  type RecordedCall,
} from '../../src/core/activity/call-entry.ts';
import type { Refusal } from '../../src/core/refusal.ts';
import { err, ok, type Result } from '../../src/core/result.ts';
import type { CallPage, CallStore } from '../../src/gateway/ports/call-log.ts';

const AT_MS = Date.UTC(2026, 10, 23, 20);

/** The nth call, each a second after the one before. */
export function recordedCall(nth: number, more: Partial<RecordedCall> = {}): RecordedCall {
  return {
    kind: 'call',
    at: new Date(AT_MS + nth * 1_000).toISOString(),
    subject: 'ci',
    endpoint: 'all',
    tool: { publicName: 'files_read', namespacedName: 'files.read', server: 'files' },
    decision: { kind: 'allow', reasons: [{ code: 'own_tool' }] },
    outcome: 'ok',
    durationMs: nth,
    ...more,
  };
}

export function droppedCalls(nth: number, count: number): CallEntry {
  const at = new Date(AT_MS + nth * 1_000).toISOString();
  return { kind: 'dropped', at, count, since: at };
}

/** These entries as one chain. */
export function chained(chain: string, entries: readonly CallEntry[]): readonly NewEntry[] {
  return chainEntries({
    chain,
    seq: 1,
    previous: hashChainStart(chain),
    entries: entries.map((entry) => parseBatchEntry(serializeEntry(entry))),
  });
}

/** Entries of a chain, ready to be stored. */
export function batchOf(entries: readonly NewEntry[]): EntryBatch {
  const [first] = entries;
  const { chain, seq, previous } = first ?? { chain: 'empty', seq: 1, previous: '' };
  return { chain, seq, previous, entries };
}

/** Rows as an empty store would number them. */
export function stored(entries: readonly NewEntry[]): readonly (NewEntry & StoredEntry)[] {
  return entries.map((entry, at) => ({ ...entry, id: at + 1 }));
}

export function finishedCall(more: Partial<FinishedCall> = {}): FinishedCall {
  return {
    subject: 'ci',
    sessionId: undefined,
    client: '{"name":"probe","version":"1"}',
    endpoint: 'all',
    toolset: undefined,
    labels: undefined,
    publicName: 'files_read',
    tool: undefined,
    toolId: undefined,
    decision: undefined,
    approval: undefined,
    outcome: 'ok',
    durationMs: 1.25,
    argumentsText: undefined,
    argumentsBytes: 0,
    ...more,
  };
}

/** A call record in memory, which can be unavailable, like a database. */
export class MemoryCalls implements CallStore {
  entries: readonly (NewEntry & StoredEntry)[] = [];
  isDown = false;
  /** Number of attempted writes. */
  tries = 0;

  async addCalls(batch: EntryBatch): Promise<Result<string, Refusal>> {
    this.tries += 1;
    await Promise.resolve();
    if (this.isDown) return err({ code: 'STORE_UNAVAILABLE', reason: 'the test says so' });
    const entries = chainEntries(batch);
    this.entries = stored([...this.entries, ...entries]);
    return ok(entries.at(-1)?.hash ?? batch.previous);
  }

  calls(): Promise<Result<CallPage, Refusal>> {
    return Promise.resolve(ok({ entries: this.entries, prunedId: 0, lastId: this.entries.length }));
  }
}
