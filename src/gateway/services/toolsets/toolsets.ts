import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { afterOperator, type Toolset } from '../../../core/toolset.ts';
import type { Commit, CommitStore } from '../../ports/commit.ts';
import type { Store } from '../../ports/store.ts';
import type { EquippedMemory, StoredToolset, ToolsetNews, ToolsetStore } from '../../ports/toolsets.ts';
import {
  changeOf,
  equippingOf,
  joined,
  newsOf,
  NOTHING,
  removalOf,
  savingOf,
  type ToolsetState,
} from './toolset-commits.ts';
import type { Doing } from './toolset-audit.ts';

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
  readonly open: () => Promise<Result<ToolsetStore & CommitStore & Pick<Store, 'onChange'>, Refusal>>;
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

  /** With `equip`, equips it in the same transaction. TOOLSET_EXISTS; TOOLSETS_FULL where there are too many. */
  create(
    toolset: Omit<Toolset, 'createdMs' | 'changedMs'>,
    { by, equip = false }: { readonly by: string; readonly equip?: boolean | undefined },
  ): Promise<Result<Toolset, Refusal>> {
    return this.#commit(() => {
      const doing = this.#doing(by);
      const maker = toolset.maker ?? ({ by: 'operator', subject: by } as const);
      const made = { ...toolset, maker, createdMs: doing.atMs, changedMs: doing.atMs };
      const saving = savingOf(this.#state, [made], { doing, replaces: false });
      if (!saving.ok) return saving;
      const wanted = equip ? equippingOf(this.#state, made.name, doing) : NOTHING;
      return ok({ value: made, commit: joined(saving.value, wanted) });
    });
  }

  /**
   * Keeps toolsets with the times that they bring, all or none. One of the same name is replaced where `replaces` says so,
   * else TOOLSET_EXISTS. Equips `equip` in the same transaction unless another toolset is equipped; gives what it equipped.
   */
  restore(
    toolsets: readonly Toolset[],
    { by, replaces, equip }: RestoreOptions,
  ): Promise<Result<string | undefined, Refusal>> {
    return this.#commit(() => {
      const doing = this.#doing(by);
      const saving = savingOf(this.#state, toolsets, { doing, replaces });
      if (!saving.ok) return saving;
      const equipped = this.equipped === undefined ? equip : undefined;
      const wanted = equipped === undefined ? NOTHING : equippingOf(this.#state, equipped, doing);
      return ok({ value: equipped, commit: joined(saving.value, wanted) });
    });
  }

  /** Changes a toolset as it is when nobody else changes it meanwhile. TOOLSET_UNKNOWN, TOOLSET_EXISTS, or what the change refuses. */
  change<T>(name: string, changing: Changing<T>, by: string): Promise<Result<T, Refusal>> {
    return this.#commit(() => {
      const there = this.#stored.get(name);
      if (there === undefined) return err(this.unknown(name));
      const changed = changing(there.toolset);
      if (!changed.ok) return changed;
      const { value } = changed.value;
      // Models only add notes, which is no edit of an operator's.
      const toolset = afterOperator(there.toolset, changed.value.toolset, by);
      const commit = changeOf(this.#state, there, { toolset, doing: this.#doing(by) });
      return commit.ok ? ok({ value, commit: commit.value }) : commit;
    });
  }

  /** TOOLSET_UNKNOWN, or the objection to the toolset as it is when it is removed. */
  remove(
    name: string,
    by: string,
    objection: (toolset: Toolset) => Refusal | undefined = () => undefined,
  ): Promise<Result<undefined, Refusal>> {
    return this.#commit(() => {
      const there = this.#stored.get(name);
      if (there === undefined) return err(this.unknown(name));
      const refusal = objection(there.toolset);
      if (refusal !== undefined) return err(refusal);
      return ok({ value: undefined, commit: removalOf(this.#state, there, this.#doing(by)) });
    });
  }

  /** Undefined: none. TOOLSET_UNKNOWN */
  equip(name: string | undefined, by: string): Promise<Result<undefined, Refusal>> {
    return this.#commit(() => {
      if (name !== undefined && !this.#stored.has(name)) return err(this.unknown(name));
      if (name === undefined && this.equipped === undefined) return ok({ value: undefined, commit: NOTHING });
      return ok({ value: undefined, commit: equippingOf(this.#state, name, this.#doing(by)) });
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

  get #state(): ToolsetState {
    return { stored: this.#stored, equipped: this.#equipped, equippings: this.#equippings };
  }

  #doing(by: string): Doing {
    return { by, atMs: this.#options.nowMs() };
  }

  /** Attempts a commit on the toolsets as stored now, again after each write conflict. */
  async #commit<T>(attempt: () => Result<Attempt<T>, Refusal>): Promise<Result<T, Refusal>> {
    const ready = await this.ready();
    if (!ready.ok) return ready;
    const store = await this.#store();
    if (!store.ok) return store;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const read = await this.#read(store.value);
      if (!read.ok) return read;
      const attempted = attempt();
      if (!attempted.ok) return attempted;
      const { value, commit } = attempted.value;
      if (commit.changes.length === 0) return ok(value);
      const done = await store.value.commit(commit);
      if (!done.ok) return done;
      if (done.value === undefined) continue;
      const after = await this.#read(store.value);
      // The commit is durable: a store that cannot be read afterwards must not fail the request.
      if (!after.ok) this.#take(newsOf(this.#state, commit, done.value));
      return ok(value);
    }
    return err({ code: 'STORE_UNAVAILABLE', reason: 'others keep changing the same toolsets' });
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

interface Attempt<T> {
  readonly value: T;
  readonly commit: Commit;
}

export interface RestoreOptions {
  readonly by: string;
  readonly replaces: boolean;
  /** Name of the toolset to equip. */
  readonly equip?: string | undefined;
}
