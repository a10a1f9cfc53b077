import { sha256 } from '../digest.ts';
import { type CallEntry, type CallFacts, readCallFacts, readCallEntry } from './call-entry.ts';

/** An entry in a hash chain. Each process writes its own chain. */
export interface ChainedEntry {
  readonly chain: string;
  /** Counts up from 1. */
  readonly seq: number;
  /** Hash of the previous entry; for the first entry, of the chain's id. */
  readonly previous: string;
  readonly hash: string;
  /** Canonical JSON. */
  readonly text: string;
}

/** A row of the call record, as stored. The store numbers rows without gaps, over all chains. */
export interface StoredEntry extends ChainedEntry {
  readonly id: number;
  readonly atMs: number;
  /** Undefined if a column of them cannot be read. */
  readonly facts: CallFacts | undefined;
}

/** An entry to store; the store numbers it. */
export interface NewEntry extends ChainedEntry {
  readonly atMs: number;
  readonly facts: CallFacts;
}

/** SHA-256 over the previous hash, a line feed and the entry, in hexadecimal. */
export function hashChainEntry(previous: string, text: string): string {
  return sha256(`${previous}\n${text}`);
}

/** Entries of one chain in order, to be stored together. */
export interface EntryBatch {
  readonly chain: string;
  /** Sequence number of the first entry. */
  readonly seq: number;
  /** Hash of the entry before the first. */
  readonly previous: string;
  readonly entries: readonly BatchEntry[];
}

export type BatchEntry = Pick<NewEntry, 'text' | 'atMs' | 'facts'>;

/** An entry of a batch from its canonical JSON. */
export function parseBatchEntry(text: string): BatchEntry {
  const entry = JSON.parse(text) as CallEntry; // Assay wrote it
  return { text, atMs: Date.parse(entry.at), facts: readCallFacts(entry) };
}

/** The entries with their hashes. */
export function chainEntries({ chain, seq, previous: before, entries }: EntryBatch): readonly NewEntry[] {
  let previous = before;
  return entries.map(({ text, atMs, facts }, at) => {
    const link = { chain, seq: seq + at, previous, hash: hashChainEntry(previous, text), text, atMs, facts };
    previous = link.hash;
    return link;
  });
}

export function hashChainStart(chain: string): string {
  return sha256(chain);
}

/** What is wrong with an entry. The sentences are in `chain-text.ts`. */
export type ChainFault =
  /** The entry is not the one that was hashed. */
  | { readonly code: 'entry_changed'; readonly id: number }
  /** The entry has its hash, but Assay did not write it. */
  | { readonly code: 'entry_unreadable'; readonly id: number }
  /** The columns of its row do not match the entry. */
  | { readonly code: 'row_changed'; readonly id: number }
  /** Entries before it are missing, in its chain or in the store's numbering. */
  | { readonly code: 'entries_missing'; readonly id: number; readonly count: number }
  /** It does not follow the previous entry of its chain. */
  | { readonly code: 'entry_inserted'; readonly id: number };

/** The range of rows that the store should have: those up to `prunedId` were pruned, and `lastId` was written last. */
export interface ChainBounds {
  readonly prunedId: number;
  readonly lastId: number;
}

export interface ChainReport {
  readonly entries: number;
  readonly chains: number;
  /** Number of calls that Assay reported as not recorded. */
  readonly dropped: number;
  /** The first faults found. */
  readonly faults: readonly ChainFault[];
  /** Number of all faults. */
  readonly faultCount: number;
}

const MAX_FAULTS = 100;

/** Checks all entries, oldest first, in pages. */
export class ChainCheck {
  readonly #links = new Map<string, Pick<ChainedEntry, 'seq' | 'hash'>>();
  readonly #chains = new Set<string>();
  readonly #faults: ChainFault[] = [];
  #faultCount = 0;
  #entries = 0;
  #dropped = 0;
  /** Id of the last row that was checked or pruned. */
  #lastId = 0;
  /** Number of missing rows not yet attributed to a chain. */
  #unplaced = 0;

  /** The next page starts after this row. */
  get lastId(): number {
    return this.#lastId;
  }

  /** Rows after `lastId`, oldest first. An empty page is the last one. */
  add(rows: readonly StoredEntry[], { prunedId, lastId }: ChainBounds): void {
    if (prunedId > this.#lastId) {
      // Rows were pruned before or during the check, so later rows continue chains whose last known entries are gone.
      this.#lastId = prunedId;
      this.#links.clear();
    }
    for (const row of rows) this.#check(row);
    if (rows.length === 0 && lastId > this.#lastId) this.#missing(lastId, lastId - this.#lastId);
  }

  get report(): ChainReport {
    return {
      entries: this.#entries,
      chains: this.#chains.size,
      dropped: this.#dropped,
      faults: this.#faults,
      faultCount: this.#faultCount,
    };
  }

  #check(row: StoredEntry): void {
    const { id, chain, seq, previous, hash, text } = row;
    this.#entries += 1;
    this.#chains.add(chain);
    const gap = id - this.#lastId - 1;
    this.#lastId = id;
    const before = this.#links.get(chain);
    this.#links.set(chain, { seq, hash });
    if (gap > 0) this.#missing(id, gap);
    if (gap > 0) this.#unplaced += gap;
    if (hashChainEntry(previous, text) !== hash) return this.#report({ code: 'entry_changed', id });
    const entry = readCallEntry(text);
    if (entry === undefined) return this.#report({ code: 'entry_unreadable', id });
    if (entry.kind === 'dropped') this.#dropped += entry.count;
    if (isOther(row, entry)) return this.#report({ code: 'row_changed', id });
    if (before === undefined) {
      // The oldest remaining entry of a chain is trusted as its anchor.
      if (seq === 1 && previous !== hashChainStart(chain)) this.#report({ code: 'entry_inserted', id });
    } else if (seq > before.seq + 1) {
      this.#missingInChain(id, seq - before.seq - 1);
    } else if (seq !== before.seq + 1 || previous !== before.hash)
      this.#report({ code: 'entry_inserted', id });
  }

  /** Reports entries that are missing from a chain although no row is, because someone renumbered the rows. */
  #missingInChain(id: number, count: number): void {
    const known = Math.min(count, this.#unplaced);
    this.#unplaced -= known;
    if (count > known) this.#missing(id, count - known);
  }

  #missing(id: number, count: number): void {
    this.#report({ code: 'entries_missing', id, count });
  }

  #report(fault: ChainFault): void {
    this.#faultCount += 1;
    if (this.#faults.length < MAX_FAULTS) this.#faults.push(fault);
  }
}

function isOther({ atMs, facts }: StoredEntry, entry: CallEntry): boolean {
  const own = readCallFacts(entry);
  return (
    facts === undefined ||
    Date.parse(entry.at) !== atMs ||
    own.subject !== facts.subject ||
    own.server !== facts.server ||
    own.tool !== facts.tool ||
    own.decision !== facts.decision ||
    own.outcome !== facts.outcome
  );
}
