import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import { afterOperator, type Toolset } from '../../../core/toolset.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import {
  changeOf,
  EQUIPPED,
  equippingOf,
  joined,
  removalOf,
  savingOf,
  type ToolsetEdit,
} from './toolset-edits.ts';
import type { ChangeAuthor } from './toolset-audit.ts';

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
  readonly records: RecordReplica;
  readonly nowMs: () => number;
}

/** A change of one toolset, and what else came of it. The same toolset: there is nothing to be kept. */
export type Changing<T> = (
  toolset: Toolset,
) => Result<{ readonly toolset: Toolset; readonly value: T }, Refusal>;

const NOTHING: ToolsetEdit = { changes: [], expected: [], audit: [] };

/** All toolsets of the store, as any process on it changes them. `by` is the subject of who does something. */
export class Toolsets {
  readonly #records: RecordReplica;
  readonly #nowMs: () => number;
  readonly #listeners = new Set<(change: ToolsetChange) => void>();
  readonly #endListening: () => void;

  constructor({ records, nowMs }: ToolsetsOptions) {
    this.#records = records;
    this.#nowMs = nowMs;
    let equippings = this.#equippings;
    this.#endListening = records.onChange(({ records: changed, isFirst }) => {
      const names = new Set(changed.flatMap(({ kind, id }) => (kind === 'toolset' ? [id] : [])));
      const isEquipping = isFirst || this.#equippings !== equippings;
      equippings = this.#equippings;
      if (names.size === 0 && !isEquipping) return;
      for (const listener of [...this.#listeners]) listener({ names, isEquipping, isFirst });
    });
  }

  /** Whether the store was read. */
  get isKnown(): boolean {
    return this.#records.isKnown;
  }

  /** Whether it can be told what is equipped: from the store, or from the cache until that was read. */
  get isRecalled(): boolean {
    return this.#records.isRecalled;
  }

  /** Resolves when the store was read, and follows it from then on. STORE_UNAVAILABLE where it cannot be, for now. */
  ready(): Promise<Result<undefined, Refusal>> {
    return this.#records.ready();
  }

  /** Sorted by name. */
  get all(): readonly Toolset[] {
    return this.#records.all('toolset').toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }

  find(name: string): Toolset | undefined {
    return this.#records.get('toolset', name);
  }

  get equipped(): Toolset | undefined {
    const name = this.#records.get(EQUIPPED.kind, EQUIPPED.id)?.toolset;
    return name === undefined ? undefined : this.find(name);
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
    return this.#change(() => {
      const author = this.#author(by);
      const maker = toolset.maker ?? ({ by: 'operator', subject: by } as const);
      const made = { ...toolset, maker, createdMs: author.atMs, changedMs: author.atMs };
      const saving = savingOf(this.#records, [made], { author, replaces: false });
      if (!saving.ok) return saving;
      const wanted = equip ? equippingOf(this.#records, made.name, author) : NOTHING;
      return ok({ value: made, edit: joined(saving.value, wanted) });
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
    return this.#change(() => {
      const author = this.#author(by);
      const saving = savingOf(this.#records, toolsets, { author, replaces });
      if (!saving.ok) return saving;
      const equipped = this.equipped === undefined ? equip : undefined;
      const wanted = equipped === undefined ? NOTHING : equippingOf(this.#records, equipped, author);
      return ok({ value: equipped, edit: joined(saving.value, wanted) });
    });
  }

  /** Changes a toolset as it is when nobody else changes it meanwhile. TOOLSET_UNKNOWN, TOOLSET_EXISTS, or what the change refuses. */
  change<T>(name: string, changing: Changing<T>, by: string): Promise<Result<T, Refusal>> {
    return this.#change(() => {
      const there = this.find(name);
      if (there === undefined) return err(this.unknown(name));
      const changed = changing(there);
      if (!changed.ok) return changed;
      const { value } = changed.value;
      // Models only add notes, which is no edit of an operator's.
      const toolset = afterOperator(there, changed.value.toolset, by);
      const edit = changeOf(this.#records, there, { toolset, author: this.#author(by) });
      return edit.ok ? ok({ value, edit: edit.value }) : edit;
    });
  }

  /** TOOLSET_UNKNOWN, or the objection to the toolset as it is when it is removed. */
  remove(
    name: string,
    by: string,
    objection: (toolset: Toolset) => Refusal | undefined = () => undefined,
  ): Promise<Result<undefined, Refusal>> {
    return this.#change(() => {
      const there = this.find(name);
      if (there === undefined) return err(this.unknown(name));
      const refusal = objection(there);
      if (refusal !== undefined) return err(refusal);
      return ok({ value: undefined, edit: removalOf(this.#records, there, this.#author(by)) });
    });
  }

  /** Undefined: none. TOOLSET_UNKNOWN */
  equip(name: string | undefined, by: string): Promise<Result<undefined, Refusal>> {
    return this.#change(() => {
      if (name !== undefined && this.find(name) === undefined) return err(this.unknown(name));
      if (name === undefined && this.equipped === undefined)
        return ok({ value: undefined, edit: { ...NOTHING, expected: [EQUIPPED] } });
      return ok({ value: undefined, edit: equippingOf(this.#records, name, this.#author(by)) });
    });
  }

  unknown(name: string): Refusal {
    return { code: 'TOOLSET_UNKNOWN', name, known: this.all.map((toolset) => toolset.name) };
  }

  close(): void {
    this.#endListening();
    this.#listeners.clear();
  }

  get #equippings(): number {
    return this.#records.get(EQUIPPED.kind, EQUIPPED.id)?.equippings ?? 0;
  }

  #author(by: string): ChangeAuthor {
    return { by, atMs: this.#nowMs() };
  }

  #change<T>(attempt: () => Result<Attempt<T>, Refusal>): Promise<Result<T, Refusal>> {
    return this.#records.change(() => {
      const attempted = attempt();
      return attempted.ok ? ok({ value: attempted.value.value, ...attempted.value.edit }) : attempted;
    });
  }
}

interface Attempt<T> {
  readonly value: T;
  readonly edit: ToolsetEdit;
}

export interface RestoreOptions {
  readonly by: string;
  readonly replaces: boolean;
  /** Name of the toolset to equip. */
  readonly equip?: string | undefined;
}
