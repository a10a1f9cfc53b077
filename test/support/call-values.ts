import {
  type BatchPage,
  type CallBatch,
  computeTimes,
  hashBatch,
  hashChainStart,
  listEntries,
  type MinuteCount,
  type StoredBatch,
  type StoredCall,
  toMinute,
} from '../../packages/gateway/src/core/activity/call-chain.ts';
import { type CallContext, createContext } from '../../packages/gateway/src/core/activity/call-context.ts';
import {
  type CallEntry,
  type FinishedCall,
  readCallEntry,
  readCallFacts,
  type RecordedCall,
  splitEntry,
} from '../../packages/gateway/src/core/activity/call-entry.ts';
import type { Refusal } from '../../packages/gateway/src/core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { CallPage, CallStore } from '../../packages/gateway/src/gateway/ports/call-log.ts';

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

/** These entries as a batch of a chain. */
export function batchOf(
  entries: readonly CallEntry[],
  { chain = 'c', number = 1, previous = hashChainStart(chain) }: Partial<Omit<CallBatch, 'contexts'>> = {},
): CallBatch {
  const contexts = new Map<string, CallContext>();
  const sessions = new Map<string, number>();
  const values: number[] = [];
  const details: (readonly [number, string])[] = [];
  for (const [at, entry] of entries.entries()) {
    const { row, context } = splitEntry(entry);
    if (!contexts.has(context)) contexts.set(context, createContext(context, readCallFacts(entry)));
    if (row.session !== undefined && !sessions.has(row.session)) sessions.set(row.session, sessions.size);
    const session = row.session === undefined ? -1 : (sessions.get(row.session) ?? -1);
    values.push([...contexts.keys()].indexOf(context), row.atMs, row.tenths, session);
    if (row.details !== undefined) details.push([at, row.details]);
  }
  return {
    ...{ chain, number, previous, contexts: [...contexts.values()], sessions: [...sessions.keys()] },
    ...{ values: Float64Array.from(values), details },
  };
}

/** What an empty store has after these batches, as one page of a check and its end. */
export class MemoryRecord {
  readonly batches: StoredBatch[] = [];
  readonly calls: StoredCall[] = [];
  readonly #contexts = new Map<string, number>();

  /** Returns the hash of the batch. */
  add(batch: CallBatch): string {
    const { chain, number, previous } = batch;
    const entries = listEntries(batch);
    if (entries.length === 0) return previous;
    const [id, first, count] = [this.batches.length + 1, this.calls.length + 1, entries.length];
    const hash = hashBatch({ chain, number, previous, first, count }, entries);
    this.batches.push({ id, chain, number, previous, first, count, hash, ...computeTimes(entries) });
    for (const [at, { context, ...row }] of entries.entries()) {
      const contextId = this.#contexts.get(context.text) ?? this.#contexts.size + 1;
      this.#contexts.set(context.text, contextId);
      this.calls.push({ id: first + at, ...row, context: { ...context, id: contextId } });
    }
    return hash;
  }

  get entries(): readonly CallEntry[] {
    return this.calls.flatMap((call) => readCallEntry(call, call.context?.text ?? '') ?? []);
  }

  get minutes(): readonly MinuteCount[] {
    const counts = new Map<string, MinuteCount>();
    for (const { context, atMs } of this.calls) {
      const { decision, outcome } = context?.facts ?? {};
      if (outcome === undefined) continue;
      const minute = toMinute(atMs);
      const key = `${minute} ${decision ?? ''} ${outcome}`;
      counts.set(key, { minute, decision, outcome, count: (counts.get(key)?.count ?? 0) + 1 });
    }
    return [...counts.values()];
  }

  get uses(): BatchPage['uses'] {
    return new Map(
      this.batches.map(({ id, first, count }) => {
        const own = this.calls.slice(first - 1, first - 1 + count);
        return [id, [...new Set(own.map(({ context }) => context?.id ?? 0))]];
      }),
    );
  }

  /** The pages of a check: all batches, and the end. */
  pages(): readonly BatchPage[] {
    const bounds = { prunedId: 0, lastId: this.calls.length, lastBatch: this.batches.length };
    const { uses } = this;
    const otherFacts = new Map<number, never>();
    return [
      { ...bounds, batches: this.batches, calls: this.calls, otherFacts, uses },
      { ...bounds, batches: [], calls: [], otherFacts, uses, minutes: this.minutes },
    ];
  }
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
    denial: undefined,
    outcome: 'ok',
    durationMs: 1.25,
    argumentsText: undefined,
    argumentsBytes: 0,
    ...more,
  };
}

/** A call record in memory, which can be unavailable, like a database. */
export class MemoryCalls implements CallStore {
  readonly record: MemoryRecord = new MemoryRecord();
  isDown = false;
  /** Number of attempted writes. */
  tries = 0;

  async addCalls(batch: CallBatch): Promise<Result<string, Refusal>> {
    this.tries += 1;
    await Promise.resolve();
    if (this.isDown) return err({ code: 'STORE_UNAVAILABLE', reason: 'the test says so' });
    return ok(this.record.add(structuredClone(batch)));
  }

  calls(): Promise<Result<CallPage, Refusal>> {
    const batch = { chain: 'c', number: 1, hash: '' };
    const calls = this.record.calls.map((call) => ({ ...call, batch }));
    return Promise.resolve(ok({ calls, prunedId: 0, lastId: calls.length }));
  }

  callBatches({ lastBatch }: { readonly lastBatch: number }): Promise<Result<BatchPage, Refusal>> {
    const [all, end] = this.record.pages();
    return Promise.resolve(ok((lastBatch === 0 ? all : end) ?? expectPage()));
  }
}

function expectPage(): never {
  throw new Error('A record has two pages.');
}
