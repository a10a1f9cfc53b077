import { setTimeout as sleep } from 'node:timers/promises';
import { err } from '../core/result.ts';
import { listRetryMs } from '../core/supervision.ts';
import { declares } from '../protocol/capabilities.ts';
import { EMPTY_INVENTORY, LIST_KINDS, LISTS, readList } from './inventory.ts';
import type { Definition, Inventory, Link, ListKind } from './ports.ts';

export interface ServerListsOptions {
  /** What is remembered of an earlier life; undefined: nothing. */
  readonly remembered: Inventory | undefined;
  /** Longest wait in ms for one page of a list. */
  readonly timeoutMs: () => number;
  /** A list has been read from this link. */
  readonly onRead: (link: Link, read: ListRead) => void;
  /** Takes secrets out of what a server said. */
  readonly mask: (text: string) => string;
  /** A list could not be read, with the cause as a phrase; it will be tried again after so many ms. */
  readonly onFailed: (kind: ListKind, cause: string, retryMs: number) => void;
}

export interface ListRead {
  readonly list: ListKind;
  /** Whether it is another than before, or the first. */
  readonly isNews: boolean;
}

/** A list that could not be read. */
export interface ListFault {
  readonly list: ListKind;
  /** A phrase. */
  readonly cause: string;
}

/** Reads of one list that went wrong, one after the other. */
interface Failure {
  readonly times: number;
  readonly cause: string;
}

/** Bursts of `list_changed` within this many ms are read once. */
const REREAD_AFTER_MS = 50;
/** Longest wait in ms for a server to be heard, before its lists are read for the first time. */
const HEARD_WITHIN_MS = 100;

/** The lists of one server as last read. What the server says has changed is read again, and so is what could not be read. */
export class ServerLists {
  inventory: Inventory;
  readonly #options: ServerListsOptions;
  /** The lists that were read, or remembered. */
  readonly #known: Set<ListKind>;
  readonly #stale = new Set<ListKind>();
  readonly #failures = new Map<ListKind, Failure>();
  readonly #retries = new Map<ListKind, NodeJS.Timeout>();
  #link: Link | undefined;
  #soon: NodeJS.Timeout | undefined;

  constructor(options: ServerListsOptions) {
    this.#options = options;
    this.inventory = options.remembered ?? EMPTY_INVENTORY;
    this.#known = new Set(options.remembered === undefined ? [] : LIST_KINDS);
  }

  isKnown(kind: ListKind): boolean {
    return this.#known.has(kind);
  }

  /** Whether nothing is missing of what the server has. */
  get isComplete(): boolean {
    return this.#failures.size === 0 && LIST_KINDS.every((kind) => this.#known.has(kind));
  }

  /** The lists that could not be read the last time: they are as they were before, or empty. */
  get faults(): readonly ListFault[] {
    return [...this.#failures].map(([list, { cause }]) => ({ list, cause }));
  }

  /** A phrase: why one of the lists is still as it was read before; undefined where none is. */
  get fault(): string | undefined {
    return this.faults[0]?.cause;
  }

  /**
   * Reads all lists of a link that has just begun, once its server is heard: it may say that a list has changed as soon as
   * that is read. Of one that is slow to be heard they are read at once, and again when it is.
   */
  async readFirst(link: Link): Promise<void> {
    this.#link = link;
    const { hears } = link;
    if (hears !== undefined && toldOf(link).length > 0) {
      const heard = hears.then(() => true);
      const isHeard = await Promise.race([heard, sleep(HEARD_WITHIN_MS, false, { ref: false })]);
      if (!isHeard) void heard.then(() => this.#heard(link));
      if (link !== this.#link) return;
    }
    await this.readAll(link);
  }

  /** Reads all lists of a link at a time. One that cannot be read costs none of the others, and stays as it was. */
  async readAll(link: Link): Promise<void> {
    this.#link = link;
    await Promise.all(LIST_KINDS.map((kind) => this.#read(link, kind)));
  }

  /** Reads all lists once more. Whether all could be read. */
  async readAgain(): Promise<boolean> {
    if (this.#link === undefined) return false;
    await this.readAll(this.#link);
    return this.isComplete;
  }

  /** The server says that a list has changed. */
  changed(kind: ListKind): void {
    this.#stale.add(kind);
    if (kind === 'resources') this.#stale.add('resourceTemplates');
    if (this.#link !== undefined) this.#soon ??= setTimeout(() => void this.#readStale(), REREAD_AFTER_MS);
  }

  /** The server could not be heard for a while, and may have said so of all lists of which it says so. */
  missed(): void {
    if (this.#link !== undefined) for (const kind of toldOf(this.#link)) this.changed(kind);
  }

  /** The link is gone; the next one is read whole. */
  forgetLink(): void {
    this.#link = undefined;
    clearTimeout(this.#soon);
    this.#soon = undefined;
    for (const retry of this.#retries.values()) clearTimeout(retry);
    this.#retries.clear();
    this.#failures.clear();
    this.#stale.clear();
  }

  #heard(link: Link): void {
    if (link === this.#link) this.missed();
  }

  async #readStale(): Promise<void> {
    const kinds = [...this.#stale];
    this.#stale.clear();
    const link = this.#link;
    if (link !== undefined) await Promise.all(kinds.map((kind) => this.#read(link, kind)));
    this.#soon = undefined;
    const [next] = this.#stale;
    if (next !== undefined) this.changed(next);
  }

  async #read(link: Link, kind: ListKind): Promise<void> {
    const reading = { timeoutMs: this.#options.timeoutMs(), before: this.inventory[kind] };
    const list = await readList(link, kind, reading).catch((error: unknown) =>
      err(`it could not be handled: ${error instanceof Error ? (error.stack ?? '') : String(error)}`),
    );
    if (link !== this.#link) return;
    clearTimeout(this.#retries.get(kind));
    if (!list.ok) {
      this.#failed(kind, list.error);
      return;
    }
    this.#failures.delete(kind);
    const isNews = !this.#known.has(kind) || !isSame(this.inventory[kind], list.value);
    if (isNews) this.inventory = { ...this.inventory, [kind]: list.value };
    this.#known.add(kind);
    this.#options.onRead(link, { list: kind, isNews });
  }

  #failed(kind: ListKind, said: string): void {
    const cause = this.#options.mask(said);
    const times = (this.#failures.get(kind)?.times ?? 0) + 1;
    this.#failures.set(kind, { times, cause });
    const retryMs = listRetryMs(times);
    this.#options.onFailed(kind, cause, retryMs);
    this.#retries.set(kind, setTimeout(() => this.changed(kind), retryMs).unref());
  }
}

/** Entries that did not change are the same objects as before. */
function isSame(one: readonly Definition[], other: readonly Definition[]): boolean {
  return one.length === other.length && one.every((definition, place) => definition === other[place]);
}

/** The lists of which its server says that they change. */
function toldOf({ capabilities }: Link): readonly ListKind[] {
  return LIST_KINDS.filter((kind) => declares(capabilities, LISTS[kind].capability, 'listChanged'));
}
