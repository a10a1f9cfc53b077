import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { toolsetJson } from '../../core/toolset-json.ts';
import { afterOperator, TOOLSET_LIMITS, type Toolset } from '../../core/toolset.ts';
import type { Store } from '../ports/store.ts';
import type { EquippedMemory, StoredToolset, ToolsetNews, ToolsetStore } from '../ports/toolsets.ts';
import { deedOfEquipping, deedOfRemoval, deedOfSaving, type Doing } from './toolset-deeds.ts';

/** What of the toolsets is another than before. */
export interface ToolsetChange {
  /** Names of those that came, changed or went. */
  readonly names: ReadonlySet<string>;
  /** Whether one was equipped, or unequipped, perhaps the same once more. */
  readonly isEquipping: boolean;
  /** Whether nothing was known before, and so nothing was shown. */
  readonly isFirst: boolean;
}

export interface ToolsetsOptions {
  /** Opens the store, or gives the one that is open. Asked once, when somebody first needs it. */
  readonly open: () => Promise<Result<ToolsetStore & Pick<Store, 'onChange'>, Refusal>>;
  readonly memory: EquippedMemory;
  readonly nowMs: () => number;
}

/** A change of one toolset, and what else came of it. The same toolset: there is nothing to be kept. */
export type Changing<T> = (
  toolset: Toolset,
) => Result<{ readonly toolset: Toolset; readonly value: T }, Refusal>;

/** How often a change is tried that others come before; each time somebody's is done. */
const MOST_TRIES = 1_000;

/** All toolsets of the store, as any process on it changes them. `by` is the subject of who does something. */
export class Toolsets {
  readonly #options: ToolsetsOptions;
  #stored: ReadonlyMap<string, StoredToolset> = new Map();
  #equipped: string | undefined;
  #equippings: number | undefined;
  #isKnown = false;
  #opening: ReturnType<ToolsetsOptions['open']> | undefined;
  #ready: Promise<Result<undefined, Refusal>> | undefined;
  #endListening: (() => void) | undefined;
  #reading: Promise<Result<undefined, Refusal>> | undefined;
  readonly #listeners = new Set<(change: ToolsetChange) => void>();

  constructor(options: ToolsetsOptions) {
    this.#options = options;
    this.#equippings = options.memory.recalled?.equippings;
  }

  /** Whether the store was read. */
  get isKnown(): boolean {
    return this.#isKnown;
  }

  /** Whether it can be told what is equipped: from the store, or from memory until that was read. */
  get isRecalled(): boolean {
    return this.#isKnown || this.#options.memory.recalled !== undefined;
  }

  /** Resolves when the store was read, and follows it from then on. STORE_UNAVAILABLE where it cannot be, for now. */
  ready(): Promise<Result<undefined, Refusal>> {
    if (this.isKnown) return Promise.resolve(ok(undefined));
    this.#ready ??= this.#follow().then((done) => {
      this.#ready = undefined;
      return done;
    });
    return this.#ready;
  }

  /** Sorted by name. */
  get all(): readonly Toolset[] {
    return [...this.#stored.values()].map(({ toolset }) => toolset);
  }

  find(name: string): Toolset | undefined {
    return this.#stored.get(name)?.toolset;
  }

  get equipped(): Toolset | undefined {
    if (!this.#isKnown) return this.#options.memory.recalled?.toolset;
    return this.#equipped === undefined ? undefined : this.find(this.#equipped);
  }

  /** Told after each change, whoever made it. The returned function ends it. */
  onChange(listener: (change: ToolsetChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** TOOLSET_TAKEN where there is one of its name, TOOLSETS_FULL where there are too many. */
  async create(
    toolset: Omit<Toolset, 'createdMs' | 'changedMs'>,
    by: string,
  ): Promise<Result<Toolset, Refusal>> {
    const nowMs = this.#options.nowMs();
    const maker = toolset.maker ?? { by: 'operator', subject: by };
    const made = { ...toolset, maker, createdMs: nowMs, changedMs: nowMs };
    const kept = await this.restore(made, false, by);
    return kept.ok ? ok(made) : kept;
  }

  /**
   * Keeps a toolset with the times that it brings, in the place of one of its name where `replaces` says so. TOOLSET_TAKEN
   * where there is one and it does not.
   */
  restore(toolset: Toolset, replaces: boolean, by: string): Promise<Result<undefined, Refusal>> {
    const { name } = toolset;
    return this.#untilSaved(name, async (store, there) => {
      if (there !== undefined && !replaces) return err({ code: 'TOOLSET_TAKEN', name });
      const limit = TOOLSET_LIMITS.toolsets;
      if (there === undefined && this.#stored.size >= limit) return err({ code: 'TOOLSETS_FULL', limit });
      if (isSame(toolset, there?.toolset)) return ok({ value: undefined });
      const deed = deedOfSaving(this.#doing(by), there?.toolset, toolset);
      const saved = await store.saveToolset(toolset, there && { name, revision: there.revision }, deed);
      if (!saved.ok) return replaces && saved.error.code === 'TOOLSET_TAKEN' ? ok(undefined) : saved;
      return ok(saved.value && { value: undefined });
    });
  }

  /** Changes a toolset as it is when nobody else changes it meanwhile. TOOLSET_UNKNOWN, or what the change refuses. */
  change<T>(name: string, changing: Changing<T>, by: string): Promise<Result<T, Refusal>> {
    return this.#untilSaved(name, async (store, there) => {
      if (there === undefined) return err(this.unknown(name));
      const changed = changing(there.toolset);
      if (!changed.ok) return changed;
      const { value } = changed.value;
      // Models only add notes, which is no edit of an operator's.
      const toolset = afterOperator(there.toolset, changed.value.toolset, by);
      if (isSame(toolset, there.toolset)) return ok({ value });
      const doing = this.#doing(by);
      const made = { ...toolset, changedMs: doing.atMs };
      const deed = deedOfSaving(doing, there.toolset, made);
      const saved = await store.saveToolset(made, { name, revision: there.revision }, deed);
      return saved.ok ? ok(saved.value && { value }) : saved;
    });
  }

  /** `objection`: why the toolset, as it was last read, stays. TOOLSET_UNKNOWN */
  async remove(
    name: string,
    by: string,
    objection?: (toolset: Toolset) => Refusal | undefined,
  ): Promise<Result<undefined, Refusal>> {
    return this.#do(async (store) => {
      // What is told to have gone is what was there last.
      const read = await this.#read(store);
      if (!read.ok) return read;
      const there = this.find(name);
      const refusal = there && objection?.(there);
      if (refusal !== undefined) return err(refusal);
      const removed = await store.removeToolset(name, deedOfRemoval(this.#doing(by), name, this.find(name)));
      if (!removed.ok) return removed;
      return removed.value ? ok(undefined) : err(this.unknown(name));
    });
  }

  /** Undefined: none. */
  async equip(name: string | undefined, by: string): Promise<Result<undefined, Refusal>> {
    return this.#do(async (store) => {
      if (name === undefined && this.equipped === undefined) return ok(undefined);
      const equipped = await store.equip(name, deedOfEquipping(this.#doing(by), this.#equipped, name));
      if (!equipped.ok) return equipped;
      return equipped.value ? ok(undefined) : err(this.unknown(name ?? ''));
    });
  }

  /** Resolves when what the store holds now is known here. */
  async readAgain(): Promise<Result<undefined, Refusal>> {
    const ready = await this.ready();
    if (!ready.ok) return ready;
    const store = await this.#store();
    return store.ok ? this.#read(store.value) : store;
  }

  unknown(name: string): Refusal {
    return { code: 'TOOLSET_UNKNOWN', name, known: [...this.#stored.keys()] };
  }

  async close(): Promise<void> {
    this.#endListening?.();
    this.#listeners.clear();
    await this.#options.memory.flush();
  }

  #doing(by: string): Doing {
    return { by, atMs: this.#options.nowMs() };
  }

  /** Tries with the toolset as last read, until nobody else comes before; undefined says that somebody did. */
  #untilSaved<T>(
    name: string,
    attempt: (
      store: ToolsetStore,
      there: StoredToolset | undefined,
    ) => Promise<Result<{ readonly value: T } | undefined, Refusal>>,
  ): Promise<Result<T, Refusal>> {
    return this.#do(async (store) => {
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const done = await attempt(store, this.#stored.get(name));
        if (!done.ok) return done;
        if (done.value !== undefined) return ok(done.value.value);
        const read = await this.#read(store);
        if (!read.ok) return read;
      }
      return err({ code: 'STORE_UNAVAILABLE', reason: `others keep changing the toolset "${name}"` });
    });
  }

  /** What was done is known here when it is answered. */
  async #do<T>(work: (store: ToolsetStore) => Promise<Result<T, Refusal>>): Promise<Result<T, Refusal>> {
    const ready = await this.ready();
    if (!ready.ok) return ready;
    const store = await this.#store();
    if (!store.ok) return store;
    const done = await work(store.value);
    const read = await this.#read(store.value);
    return done.ok && !read.ok ? read : done;
  }

  async #follow(): Promise<Result<undefined, Refusal>> {
    const store = await this.#store();
    if (!store.ok) return store;
    this.#endListening ??= store.value.onChange((parts) => {
      if (parts.includes('toolsets')) void this.#read(store.value);
    });
    return this.#read(store.value);
  }

  #store(): ReturnType<ToolsetsOptions['open']> {
    this.#opening ??= this.#options.open().then((opened) => {
      // Another try may find it.
      if (!opened.ok) this.#opening = undefined;
      return opened;
    });
    return this.#opening;
  }

  /** Reads one after the other, so that what was read last is what counts. */
  #read(store: ToolsetStore): Promise<Result<undefined, Refusal>> {
    const before = this.#reading ?? Promise.resolve(ok(undefined));
    const next = async (): Promise<Result<undefined, Refusal>> => {
      const known = new Map([...this.#stored].map(([name, { revision }]) => [name, revision]));
      const news = await store.toolsets(known);
      if (!news.ok) return news;
      this.#take(news.value);
      return ok(undefined);
    };
    // One that failed keeps no later one from being tried.
    this.#reading = before.then(next, next);
    return this.#reading;
  }

  #take({ names, changed, equipped, equippings }: ToolsetNews): void {
    const isEquipping = this.#equippings !== equippings;
    const isFirst = !this.isRecalled;
    const fresh = new Map(changed.map((one) => [one.toolset.name, one]));
    const there = new Set(names);
    const gone = [...this.#stored.keys()].filter((name) => !there.has(name));
    const before = this.#stored;
    this.#stored = new Map(
      names.flatMap((name) => {
        const one = fresh.get(name) ?? before.get(name);
        return one === undefined ? [] : [[name, one] as const];
      }),
    );
    this.#equipped = equipped;
    this.#equippings = equippings;
    this.#isKnown = true;
    const change = { names: new Set([...gone, ...fresh.keys()]), isEquipping, isFirst };
    if (isEquipping || (equipped !== undefined && change.names.has(equipped)))
      this.#options.memory.remember({ toolset: this.equipped, equippings });
    if (change.names.size === 0 && !isEquipping) return;
    for (const listener of [...this.#listeners]) listener(change);
  }
}

/** By all that an export holds, whose members have one order. */
function isSame(toolset: Toolset, there: Toolset | undefined): boolean {
  if (toolset === there || there === undefined) return toolset === there;
  return JSON.stringify(toolsetJson(toolset)) === JSON.stringify(toolsetJson(there));
}
