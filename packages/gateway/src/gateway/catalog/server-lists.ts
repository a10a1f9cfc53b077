import { setTimeout as sleep } from 'node:timers/promises';
import { mapTexts, type Cause } from '../../core/cause.ts';
import { err } from '@assay-mcp/kit/result';
import { computeListRetryMs } from '../../core/supervision.ts';
import { declares } from '@assay-mcp/protocol/capabilities';
import { EMPTY_INVENTORY, LIST_KINDS, LISTS, readList, type ListRead } from './inventory.ts';
import { isSameCut, type ListCut, type ListLimits } from './list-budget.ts';
import { ListPace, REAL_CLOCK, ReadingCost, type ListClock } from './list-pace.ts';
import type { Definition, Inventory, Link, ListKind } from '../ports/link.ts';

export interface ServerListsOptions {
  /** Lists remembered from before the start. Undefined if none. */
  readonly remembered: Inventory | undefined;
  /** Maximum wait in ms for one page of a list. */
  readonly timeoutMs: () => number;
  readonly limits?: ListLimits | undefined;
  /** Whether re-reads are rate-limited. Lists that Assay builds itself are not. */
  readonly isPaced: boolean;
  readonly clock?: ListClock;
  /** Called for each tool that is new or has moved, in the turns that read the list. */
  readonly prepareTool?: ((definition: Definition) => void) | undefined;
  /** Called when a list was read from this link. */
  readonly onRead: (link: Link, read: ReadNews) => void;
  /** Masks secrets in text from a server. */
  readonly mask: (text: string) => string;
  /** Called when a list could not be read; it is retried after `retryMs`. */
  readonly onFailed: (kind: ListKind, cause: Cause, retryMs: number) => void;
}

export interface ReadNews {
  readonly list: ListKind;
  /** Whether the list has changed, or is the first. */
  readonly isNews: boolean;
}

/** A list that could not be read. */
export interface ListFault {
  readonly list: ListKind;
  readonly cause: Cause;
}

/** Consecutive failures to read one list. */
interface Failure {
  readonly times: number;
  readonly cause: Cause;
}

/** Bursts of `list_changed` within this many ms are read once. */
const REREAD_AFTER_MS = 50;
/** Maximum time in ms that the first reading waits until notifications can be received. */
const LISTENING_WITHIN_MS = 100;

/** The state of reading one list. */
interface Reader {
  isReading: boolean;
  /** The next reading. It starts when due, or after the one in progress. */
  next: PromiseWithResolvers<void> | undefined;
  cancel: (() => void) | undefined;
}

/**
 * The lists of one server as last read. A list is read again if the server reports a change or the last reading failed:
 * one reading per list at the same time, and no more often than its pace allows. A request for a reading is never lost,
 * but joins others.
 */
export class ServerLists {
  inventory: Inventory;
  readonly #options: ServerListsOptions;
  readonly #clock: ListClock;
  #pace: ListPace;
  /** Lists that were read or remembered. */
  readonly #known: Set<ListKind>;
  /** Lists that were read from the current link. */
  readonly #current = new Set<ListKind>();
  readonly #cuts = new Map<ListKind, ListCut>();
  readonly #failures = new Map<ListKind, Failure>();
  readonly #retries = new Map<ListKind, NodeJS.Timeout>();
  /** Readers of the current link. */
  #readers = new Map<ListKind, Reader>();
  #link: Link | undefined;

  constructor(options: ServerListsOptions) {
    this.#options = options;
    this.#clock = options.clock ?? REAL_CLOCK;
    this.#pace = new ListPace(this.#clock);
    this.inventory = options.remembered ?? EMPTY_INVENTORY;
    this.#known = new Set(options.remembered === undefined ? [] : LIST_KINDS);
  }

  isKnown(kind: ListKind): boolean {
    return this.#known.has(kind);
  }

  /** Whether the list was read from the current link. */
  isCurrent(kind: ListKind): boolean {
    return this.#current.has(kind);
  }

  /** Whether all lists of the server are known. */
  get isComplete(): boolean {
    return this.#failures.size === 0 && LIST_KINDS.every((kind) => this.#known.has(kind));
  }

  /** The lists whose last reading failed. They keep their earlier content, or are empty. */
  get faults(): readonly ListFault[] {
    return [...this.#failures].map(([list, { cause }]) => ({ list, cause }));
  }

  /** Why one of the lists is outdated. Undefined if none is. */
  get fault(): Cause | undefined {
    return this.faults[0]?.cause;
  }

  /** What was left out of a list when it was last read. Undefined if nothing. */
  cutOf(kind: ListKind): ListCut | undefined {
    return this.#cuts.get(kind);
  }

  /**
   * Reads all lists of a new link, once notifications can be received: a list may change right after it was read. If
   * that takes too long, they are read at once, and again when it is possible. Does not wait for a known list that must
   * not be read yet.
   */
  async readFirst(link: Link): Promise<void> {
    this.#link = link;
    const { listening } = link;
    if (listening !== undefined && announcedKinds(link).length > 0) {
      const begun = listening.then(() => true);
      const isListening = await Promise.race([begun, sleep(LISTENING_WITHIN_MS, false, { ref: false })]);
      if (!isListening) void begun.then(() => this.#listeningBegan(link));
      if (link !== this.#link) return;
    }
    const isDue = (kind: ListKind): boolean => !this.#known.has(kind) || this.#waitMs(kind) === 0;
    const due = LIST_KINDS.filter(isDue);
    for (const kind of LIST_KINDS) if (!due.includes(kind)) void this.#want(kind);
    await Promise.all(due.map((kind) => this.#want(kind)));
  }

  /** Re-reads all lists, each as soon as its pace allows. Resolves with whether all could be read. */
  async readAgain(): Promise<boolean> {
    if (this.#link === undefined) return false;
    await Promise.all(LIST_KINDS.map((kind) => this.#want(kind)));
    return this.isComplete;
  }

  /** The server reports that a list has changed. */
  changed(kind: ListKind): void {
    if (this.#link === undefined) return;
    void this.#want(kind, REREAD_AFTER_MS);
    if (kind === 'resources') void this.#want('resourceTemplates', REREAD_AFTER_MS);
  }

  /** Notifications of the server may have been lost. All lists for which it announces changes may have changed. */
  missed(): void {
    if (this.#link !== undefined) for (const kind of announcedKinds(this.#link)) this.changed(kind);
  }

  /** The link is gone; the next one is read in full. */
  forgetLink(): void {
    this.#link = undefined;
    this.#current.clear();
    for (const { cancel, next } of this.#readers.values()) {
      cancel?.();
      next?.resolve();
    }
    this.#readers = new Map();
    for (const retry of this.#retries.values()) clearTimeout(retry);
    this.#retries.clear();
    this.#failures.clear();
  }

  /** The next readings need not wait. */
  forgetPace(): void {
    this.#pace = new ListPace(this.#clock);
  }

  #listeningBegan(link: Link): void {
    if (link === this.#link) this.missed();
  }

  #waitMs(kind: ListKind): number {
    return this.#options.isPaced ? this.#pace.waitMs(kind) : 0;
  }

  /** Resolves when a reading that starts later than now has ended, or when the link is gone. */
  #want(kind: ListKind, inMs = 0): Promise<void> {
    const reader = this.#readers.get(kind) ?? { isReading: false, next: undefined, cancel: undefined };
    this.#readers.set(kind, reader);
    reader.next ??= Promise.withResolvers();
    const { promise } = reader.next;
    if (!reader.isReading) this.#schedule(kind, reader, inMs);
    return promise;
  }

  #schedule(kind: ListKind, reader: Reader, inMs: number): void {
    if (reader.cancel !== undefined && inMs > 0) return;
    reader.cancel?.();
    const waitMs = Math.max(this.#waitMs(kind), inMs);
    if (waitMs > 0) reader.cancel = this.#clock.after(waitMs, () => void this.#begin(kind, reader));
    else void this.#begin(kind, reader);
  }

  async #begin(kind: ListKind, reader: Reader): Promise<void> {
    const { next } = reader;
    reader.next = undefined;
    reader.cancel = undefined;
    if (this.#link === undefined) return;
    reader.isReading = true;
    await this.#read(this.#link, kind);
    reader.isReading = false;
    next?.resolve();
    this.#readNext(kind, reader);
  }

  /** Starts another reading if one was requested during the last. */
  #readNext(kind: ListKind, reader: Reader): void {
    if (reader.next === undefined) return;
    if (this.#readers.get(kind) === reader) this.#schedule(kind, reader, REREAD_AFTER_MS);
    else reader.next.resolve();
  }

  async #read(link: Link, kind: ListKind): Promise<void> {
    const { timeoutMs, limits, prepareTool } = this.#options;
    const cost = new ReadingCost(this.#clock);
    const list = await readList(link, kind, {
      timeoutMs: timeoutMs(),
      before: this.inventory[kind],
      limits,
      prepare: kind === 'tools' ? prepareTool : undefined,
      isWanted: () => link === this.#link,
      nowMs: this.#clock.nowMs,
      workMs: this.#clock.workMs,
      onWork: (work) => cost.add(work),
    }).catch((error: unknown) =>
      err<Cause>({
        code: 'READING_FAILED',
        error: error instanceof Error ? (error.stack ?? '') : String(error),
      }),
    );
    if (link === this.#link) {
      clearTimeout(this.#retries.get(kind));
      const startMs = this.#clock.workMs();
      if (list.ok) this.#take(link, kind, list.value);
      else this.#failed(kind, list.error);
      cost.add({ ms: this.#clock.workMs() - startMs });
    }
    this.#pace.wasRead(kind, cost);
  }

  #take(link: Link, kind: ListKind, { definitions, cut }: ListRead): void {
    this.#failures.delete(kind);
    const isNews =
      !this.#known.has(kind) ||
      !isSame(this.inventory[kind], definitions) ||
      !isSameCut(this.#cuts.get(kind), cut);
    if (isNews) this.inventory = { ...this.inventory, [kind]: definitions };
    if (cut === undefined) this.#cuts.delete(kind);
    else this.#cuts.set(kind, cut);
    this.#known.add(kind);
    this.#current.add(kind);
    this.#options.onRead(link, { list: kind, isNews });
  }

  #failed(kind: ListKind, reported: Cause): void {
    const cause = mapTexts(reported, this.#options.mask);
    const times = (this.#failures.get(kind)?.times ?? 0) + 1;
    this.#failures.set(kind, { times, cause });
    const retryMs = computeListRetryMs(times);
    this.#options.onFailed(kind, cause, retryMs);
    this.#retries.set(kind, setTimeout(() => this.changed(kind), retryMs).unref());
  }
}

/** Unchanged entries are the same objects as before. */
function isSame(one: readonly Definition[], other: readonly Definition[]): boolean {
  return one.length === other.length && one.every((definition, index) => definition === other[index]);
}

/** The lists for which the server announces changes. */
function announcedKinds({ capabilities }: Link): readonly ListKind[] {
  return LIST_KINDS.filter((kind) => declares(capabilities, LISTS[kind].capability, 'listChanged'));
}
