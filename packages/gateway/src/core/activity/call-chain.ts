import { serializeCanonical } from '@assay-mcp/kit/canonical-json';
import { sha256 } from '@assay-mcp/kit/digest';
import type { CallContext } from './call-context.ts';
import {
  type CallEntry,
  type CallFacts,
  type CallRow,
  hasSameFacts,
  OTHER_CONTEXT,
  readCallEntry,
  readCallFacts,
} from './call-entry.ts';

/** Maximum number of entries in a batch: calls, and one gap. */
export const MAX_BATCH = 1_001;

/** Entries of a process, to be stored together as the next link of its chain. Small, since it goes to another thread. */
export interface CallBatch {
  readonly chain: string;
  /** Counts up from 1. */
  readonly number: number;
  /** Hash of the chain's batch before this one; for the first, of the chain's id. */
  readonly previous: string;
  /** Each once, in the order of their first use. */
  readonly contexts: readonly CallContext[];
  readonly sessions: readonly string[];
  /** `VALUES_PER_CALL` for each entry: index of its context, `atMs`, `tenths`, index of its session or -1. */
  readonly values: Float64Array;
  /** The details of the entries that have any. */
  readonly details: readonly (readonly [entry: number, text: string])[];
}

export const VALUES_PER_CALL = 4;

/** An entry of a batch, with the context under which it is stored. */
export interface BatchEntry extends CallRow {
  readonly context: CallContext;
}

/** The entries of a batch, in order. */
export function listEntries({ contexts, sessions, values, details }: CallBatch): readonly BatchEntry[] {
  const texts = new Map(details);
  const entries: BatchEntry[] = [];
  for (let at = 0; at < values.length; at += VALUES_PER_CALL) {
    const context = contexts[values[at] ?? -1];
    if (context === undefined) throw new Error(`The batch has no context ${values[at]}.`);
    entries.push({
      context,
      atMs: values[at + 1] ?? 0,
      tenths: values[at + 2] ?? 0,
      session: sessions[values[at + 3] ?? -1],
      details: texts.get(at / VALUES_PER_CALL),
    });
  }
  return entries;
}

/** A link of a hash chain. Each process writes its own chain. */
export interface BatchHead {
  readonly chain: string;
  readonly number: number;
  readonly previous: string;
  /** Id of the first entry. Ids have no gaps, over all chains. */
  readonly first: number;
  readonly count: number;
}

/**
 * SHA-256 in hexadecimal over lines that end in a line feed: the head as canonical JSON (RFC 8785), the contexts in the
 * order of their first use, and for each entry `[index of its context, atMs, tenths, session, details]`.
 */
export function hashBatch(
  { chain, number, previous, first, count }: BatchHead,
  entries: readonly (CallRow & { readonly context: Pick<CallContext, 'text'> })[],
): string {
  const contexts = new Map<string, number>();
  let lines = '';
  for (const { context, atMs, tenths, session, details } of entries) {
    let index = contexts.get(context.text);
    if (index === undefined) contexts.set(context.text, (index = contexts.size));
    lines += `[${index},${atMs},${tenths},${JSON.stringify(session ?? null)},${details ?? 'null'}]\n`;
  }
  const head = serializeCanonical({ chain, count, first, number, previous });
  return sha256(`${head}\n${[...contexts.keys()].map((text) => `${text}\n`).join('')}${lines}`);
}

/** When the first and the last of these entries ended. */
export function computeTimes(entries: readonly CallRow[]): {
  readonly minMs: number;
  readonly maxMs: number;
} {
  let [minMs, maxMs] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { atMs } of entries) {
    minMs = Math.min(minMs, atMs);
    maxMs = Math.max(maxMs, atMs);
  }
  return { minMs, maxMs };
}

export function hashChainStart(chain: string): string {
  return sha256(chain);
}

/** A context as stored. */
export interface StoredContext extends Omit<CallContext, 'facts'> {
  readonly id: number;
  /** Undefined if one of its columns cannot be read. */
  readonly facts: CallFacts | undefined;
}

/** An entry as stored. */
export interface StoredCall extends CallRow {
  readonly id: number;
  /** Undefined if it is missing. */
  readonly context: StoredContext | undefined;
}

export interface StoredBatch extends BatchHead {
  /** Counts up over all chains. */
  readonly id: number;
  readonly hash: string;
  /** When the first and the last of its entries ended. */
  readonly minMs: number;
  readonly maxMs: number;
}

/** How often calls ended in a minute. */
export interface MinuteCount {
  /** Minutes since the epoch. */
  readonly minute: number;
  readonly decision: string | undefined;
  readonly outcome: string;
  readonly count: number;
}

/** Undefined facts: one of the columns cannot be read. */
export interface OtherFacts {
  readonly atMs: number;
  readonly facts: CallFacts | undefined;
}

/** Whole batches and their entries, oldest first. */
export interface BatchPage extends ChainBounds {
  readonly batches: readonly StoredBatch[];
  readonly calls: readonly StoredCall[];
  /** Facts by which those calls are found whose details contain their context, by id. */
  readonly otherFacts: ReadonlyMap<number, OtherFacts>;
  /** The ids of the contexts by which the entries of a batch are found, by the batch's id. */
  readonly uses: ReadonlyMap<number, readonly number[]>;
  /** All counts, on the last page, which has no batches. Undefined if they are not known. */
  readonly minutes?: readonly MinuteCount[];
}

/** What the store should have: entries up to `prunedId` were removed, and `lastId` and `lastBatch` were written last. */
export interface ChainBounds {
  readonly prunedId: number;
  readonly lastId: number;
  readonly lastBatch: number;
}

/** What is wrong. `batch` is the batch's id. The sentences are in `chain-text.ts`. */
export type ChainFault =
  /** Its entries or their contexts are not those that were hashed, or its columns contradict them. */
  | { readonly code: 'batch_changed'; readonly batch: number; readonly first: number; readonly last: number }
  /** It does not follow the previous batch of its chain, or of the store. */
  | { readonly code: 'batch_inserted'; readonly batch: number; readonly first: number; readonly last: number }
  /** The entry has its hash, but Assay did not write it. */
  | { readonly code: 'entry_unreadable'; readonly id: number; readonly batch: number }
  /** The columns by which the entry is found do not match it. */
  | { readonly code: 'row_changed'; readonly id: number; readonly batch: number }
  /** The entry belongs to no batch. */
  | { readonly code: 'entry_inserted'; readonly id: number }
  /** Entries up to this one are missing. */
  | { readonly code: 'entries_missing'; readonly id: number; readonly count: number }
  /** The batches up to this one are missing. */
  | { readonly code: 'batches_missing'; readonly batch: number }
  /** The counts of a minute are not those of its entries. */
  | { readonly code: 'counts_changed'; readonly minute: string };

export interface ChainReport {
  readonly entries: number;
  readonly batches: number;
  readonly chains: number;
  /** Number of calls that Assay reported as not recorded. */
  readonly dropped: number;
  /** The first faults found. */
  readonly faults: readonly ChainFault[];
  /** Number of all faults. */
  readonly faultCount: number;
}

const MAX_FAULTS = 100;
const MINUTE_MS = 60_000;

export function toMinute(atMs: number): number {
  return Math.floor(atMs / MINUTE_MS);
}

/** Checks all batches, oldest first, in pages. */
export class ChainCheck {
  readonly #links = new Map<string, { readonly number: number; readonly hash: string }>();
  readonly #chains = new Set<string>();
  readonly #faults: ChainFault[] = [];
  readonly #minutes = new Map<string, number>();
  #faultCount = 0;
  #entries = 0;
  #batches = 0;
  #dropped = 0;
  #lastId = 0;
  /** The batch checked last; undefined if the one before the next was pruned. */
  #lastBatch: number | undefined = 0;
  #position = 0;
  #prunedAtStart: number | undefined;

  /** The next page starts after these. */
  get position(): { readonly lastBatch: number; readonly lastId: number } {
    return { lastBatch: this.#position, lastId: this.#lastId };
  }

  /** A page after `position`. One without batches is the last one. */
  add(page: BatchPage): void {
    const { batches, calls, prunedId, lastId, lastBatch, minutes } = page;
    this.#prunedAtStart ??= prunedId;
    if (prunedId > this.#lastId) {
      // Batches were pruned before or during the check, so later ones continue chains whose last known links are gone.
      this.#lastId = prunedId;
      this.#lastBatch = undefined;
      this.#links.clear();
    }
    let from = 0;
    for (const batch of batches) {
      let to = from;
      while ((calls[to]?.id ?? Number.POSITIVE_INFINITY) < batch.first + batch.count) to += 1;
      this.#check(batch, calls.slice(from, to), page);
      from = to;
    }
    for (const { id } of calls.slice(from)) this.#report({ code: 'entry_inserted', id });
    if (batches.length > 0) return;
    if (lastId > this.#lastId) this.#missing(lastId, lastId - this.#lastId);
    else if (lastId < this.#lastId) this.#report({ code: 'entry_inserted', id: this.#lastId });
    if (this.#lastBatch !== undefined && this.#lastBatch !== lastBatch)
      this.#report({ code: 'batches_missing', batch: lastBatch });
    // Counts can be compared only if all entries were read. While calls were being removed, their counts were too.
    if (minutes !== undefined && this.#faultCount === 0 && prunedId === this.#prunedAtStart)
      this.#checkMinutes(minutes);
  }

  get report(): ChainReport {
    return {
      entries: this.#entries,
      batches: this.#batches,
      chains: this.#chains.size,
      dropped: this.#dropped,
      faults: this.#faults,
      faultCount: this.#faultCount,
    };
  }

  #check(batch: StoredBatch, all: readonly StoredCall[], { otherFacts, uses }: BatchPage): void {
    const { id, chain, number, previous, hash, first, count } = batch;
    const last = first + count - 1;
    const place = { batch: id, first, last };
    const calls = all.filter((call) => call.id >= first);
    for (const call of all) if (call.id < first) this.#report({ code: 'entry_inserted', id: call.id });
    this.#batches += 1;
    this.#entries += calls.length;
    this.#chains.add(chain);
    const before = this.#links.get(chain);
    this.#links.set(chain, { number, hash });
    const gap = first - this.#lastId - 1;
    if (gap > 0) this.#missing(first, gap);
    const follows =
      gap >= 0 &&
      (this.#lastBatch === undefined || id === this.#lastBatch + 1) &&
      // The oldest remaining batch of a chain is trusted as its anchor.
      (before === undefined
        ? number !== 1 || previous === hashChainStart(chain)
        : number === before.number + 1 && previous === before.hash);
    if (!follows && gap <= 0) this.#report({ code: 'batch_inserted', ...place });
    this.#lastId = Math.max(this.#lastId, last);
    this.#lastBatch = id;
    this.#position = id;
    if (calls.length < count) return this.#missing(last, count - calls.length);
    const entries = calls.map(({ context, ...call }) => ({ ...call, context: context ?? { text: '' } }));
    if (hashBatch(batch, entries) !== hash) return this.#report({ code: 'batch_changed', ...place });
    const times = computeTimes(calls);
    const contexts = new Set(calls.map(({ context }) => context?.id));
    const isFound = isSameSet(contexts, new Set(uses.get(id)));
    if (!isFound || times.minMs !== batch.minMs || times.maxMs !== batch.maxMs)
      this.#report({ code: 'batch_changed', ...place });
    for (const call of calls) this.#checkCall(call, id, otherFacts.get(call.id));
  }

  #checkCall(call: StoredCall, batch: number, other: OtherFacts | undefined): void {
    const { id, context } = call;
    if (context === undefined) return this.#report({ code: 'row_changed', id, batch });
    const entry = readCallEntry(call, context.text);
    if (entry === undefined) return this.#report({ code: 'entry_unreadable', id, batch });
    if (entry.kind === 'dropped') this.#dropped += entry.count;
    else this.#count(entry, call.atMs);
    if (isRowChanged(context, entry, other)) this.#report({ code: 'row_changed', id, batch });
  }

  #count({ decision, outcome }: Extract<CallEntry, { kind: 'call' }>, atMs: number): void {
    const key = toCountKey({ minute: toMinute(atMs), decision: decision?.kind, outcome });
    this.#minutes.set(key, (this.#minutes.get(key) ?? 0) + 1);
  }

  #checkMinutes(stored: readonly MinuteCount[]): void {
    const wrong = new Set<number>();
    for (const count of stored) {
      const key = toCountKey(count);
      if (this.#minutes.get(key) !== count.count) wrong.add(count.minute);
      this.#minutes.delete(key);
    }
    for (const key of this.#minutes.keys()) wrong.add(Number.parseInt(key, 10));
    for (const minute of wrong) {
      const start = new Date(minute * MINUTE_MS);
      const text = Number.isNaN(start.getTime()) ? String(minute) : start.toISOString();
      this.#report({ code: 'counts_changed', minute: text });
    }
  }

  #missing(id: number, count: number): void {
    this.#report({ code: 'entries_missing', id, count });
  }

  #report(fault: ChainFault): void {
    this.#faultCount += 1;
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
  }
}

function toCountKey({ minute, decision, outcome }: Omit<MinuteCount, 'count'>): string {
  return `${minute} ${decision ?? ''} ${outcome}`;
}

function isRowChanged(context: StoredContext, entry: CallEntry, other: OtherFacts | undefined): boolean {
  if (sha256(context.text) !== context.hash) return true;
  const facts = readCallFacts(entry);
  if (context.text !== OTHER_CONTEXT) return other !== undefined || !isEqual(context.facts, facts);
  return other?.atMs !== Date.parse(entry.at) || !isEqual(other.facts, facts) || !isEqual(context.facts, {});
}

function isEqual(stored: CallFacts | undefined, facts: CallFacts): boolean {
  return stored !== undefined && hasSameFacts(stored, facts);
}

function isSameSet<T>(one: ReadonlySet<T>, other: ReadonlySet<T>): boolean {
  return one.size === other.size && [...one].every((member) => other.has(member));
}
