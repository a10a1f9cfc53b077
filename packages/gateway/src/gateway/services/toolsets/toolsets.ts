import type { ToolsetChanges } from '../../../api/toolset.ts';
import { toArgumentRefusal, type Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import {
  applyOperatorChange,
  findDescriptionFault,
  findToolsetNameFault,
  type Toolset,
} from '../../../core/toolset.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import {
  buildChangeEdit,
  buildCreateEdit,
  EQUIPPED,
  buildEquipEdit,
  mergeEdits,
  buildRemovalEdit,
  buildSessionEquipEdit,
  type ToolsetEdit,
} from './toolset-edits.ts';
import type { Committed } from '../../ports/records.ts';
import type { SessionToolset } from '../../ports/session-toolsets.ts';
import type { ChangeAuthor } from './toolset-audit.ts';
import { Listeners } from '../../../core/listeners.ts';

/** What changed in the toolsets. */
export interface ToolsetChange {
  /** Names of added, changed and removed toolsets. */
  readonly names: ReadonlySet<string>;
  /** Whether a toolset was equipped or unequipped, possibly the same one again. */
  readonly isEquipping: boolean;
  /** Whether no state was known before, so clients have seen none. */
  readonly isFirst: boolean;
}

export interface ToolsetsOptions {
  readonly records: RecordReplica;
  readonly nowMs: () => number;
}

/** The subject that makes a change: an operator, or the caller that a model works for. */
export type Changer = string | { readonly model: string };

/** Edits one toolset and returns a value. Returning the same toolset writes nothing. */
export type Changing<T> = (
  toolset: Toolset,
) => Result<{ readonly toolset: Toolset; readonly value: T }, Refusal>;

const NOTHING: ToolsetEdit = { changes: [], expected: [], audit: [] };

/** All toolsets of the store, including edits by other processes. `by` is the subject making a change. */
export class Toolsets {
  readonly #records: RecordReplica;
  readonly #nowMs: () => number;
  readonly #listeners = new Listeners<[ToolsetChange]>();
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
      this.#listeners.notify({ names, isEquipping, isFirst });
    });
  }

  /** Whether the store has been read. */
  get isKnown(): boolean {
    return this.#records.isKnown;
  }

  /** Whether the equipped toolset is known: from the store, or from the cache until the store has been read. */
  get isRecalled(): boolean {
    return this.#records.isRecalled;
  }

  /** Resolves once the store has been read, and follows it from then on. STORE_UNAVAILABLE if it cannot be read now. */
  ready(): Promise<Result<undefined, Refusal>> {
    return this.#records.ready();
  }

  /** Resolves when everything that the store has now is known. STORE_UNAVAILABLE */
  readAgain(): Promise<Result<undefined, Refusal>> {
    return this.#records.readAgain();
  }

  /** Reads the store again if one of these toolsets is unknown: another process may have just saved it. STORE_UNAVAILABLE */
  async catchUpWith(names: readonly (string | undefined)[]): Promise<Result<undefined, Refusal>> {
    const isKnown = names.every((name) => name === undefined || this.find(name) !== undefined);
    return isKnown ? ok(undefined) : this.#records.readAgain();
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

  /** Calls the listener after each change, by any process. Returns a function that unsubscribes. */
  onChange(listener: (change: ToolsetChange) => void): () => void {
    return this.#listeners.add(listener);
  }

  /**
   * With `equip`, equips it in the same transaction for all, with `session` for that session. Errors: TOOLSET_EXISTS,
   * TOOLSETS_FULL.
   */
  create(
    toolset: Omit<Toolset, 'createdMs' | 'changedMs'>,
    { by, equip = false, session }: CreateOptions,
  ): Promise<Result<Toolset, Refusal>> {
    return this.#change(() => {
      const author = this.#author(by);
      const maker = toolset.maker ?? ({ by: 'operator', subject: author.by } as const);
      const made = { ...toolset, maker, createdMs: author.atMs, changedMs: author.atMs };
      const saving = buildCreateEdit(this.#records, made, author);
      if (!saving.ok) return saving;
      const wanted = equip ? buildEquipEdit(this.#records, made.name, author) : NOTHING;
      // The toolset is among the changes, so its revision is checked.
      const own = session && { ...buildSessionEquipEdit(session, author.atMs), expected: [] };
      if (own !== undefined) return ok({ value: made, edit: mergeEdits(saving.value, own) });
      return ok({ value: made, edit: mergeEdits(saving.value, wanted) });
    });
  }

  /** Edits a toolset, retrying on a write conflict. TOOLSET_UNKNOWN, TOOLSET_EXISTS, or the error of `changing`. */
  change<T>(name: string, changing: Changing<T>, by: Changer): Promise<Result<T, Refusal>> {
    return this.#change(() => {
      const there = this.find(name);
      if (there === undefined) return err(this.unknown(name));
      const changed = changing(there);
      if (!changed.ok) return changed;
      const { value } = changed.value;
      // Models only add notes, which does not count as an operator's edit.
      const author = this.#author(by);
      const toolset = applyOperatorChange(there, changed.value.toolset, author.by);
      const edit = buildChangeEdit(this.#records, there, { toolset, author });
      return edit.ok ? ok({ value, edit: edit.value }) : edit;
    });
  }

  /**
   * Returns the number of sessions that had equipped it; they have none afterwards. Errors: TOOLSET_UNKNOWN, the
   * objection, or TOOLSET_EQUIPPED.
   */
  remove(
    name: string,
    by: Changer,
    { objection = () => undefined, unlessEquippedBesides }: RemoveOptions = {},
  ): Promise<Result<number, Refusal>> {
    return this.#change(() => {
      const there = this.find(name);
      if (there === undefined) return err(this.unknown(name));
      const refusal = objection(there);
      if (refusal !== undefined) return err(refusal);
      const edit = buildRemovalEdit(this.#records, there, {
        author: this.#author(by),
        by: unlessEquippedBesides,
      });
      return ok({ value: 0, edit, afterCommit: ({ sessions }) => sessions ?? 0 });
    });
  }

  /** Undefined unequips. TOOLSET_UNKNOWN */
  equip(name: string | undefined, by: Changer): Promise<Result<undefined, Refusal>> {
    return this.#change(() => {
      if (name !== undefined && this.find(name) === undefined) return err(this.unknown(name));
      if (name === undefined && this.equipped === undefined)
        return ok({ value: undefined, edit: { ...NOTHING, expected: [EQUIPPED] } });
      return ok({ value: undefined, edit: buildEquipEdit(this.#records, name, this.#author(by)) });
    });
  }

  /** Equips a toolset for one session, or unequips. TOOLSET_UNKNOWN */
  equipSession(session: SessionToolset): Promise<Result<undefined, Refusal>> {
    return this.#change(() => {
      const { toolset } = session;
      if (toolset !== undefined && this.find(toolset) === undefined) return err(this.unknown(toolset));
      return ok({ value: undefined, edit: buildSessionEquipEdit(session, this.#nowMs()) });
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

  #author(by: Changer): ChangeAuthor {
    const atMs = this.#nowMs();
    return typeof by === 'string' ? { by, atMs } : { by: by.model, atMs, peer: 'model' };
  }

  #change<T>(attempt: () => Result<Attempt<T>, Refusal>): Promise<Result<T, Refusal>> {
    return this.#records.change(() => {
      const attempted = attempt();
      if (!attempted.ok) return attempted;
      const { edit, ...rest } = attempted.value;
      return ok({ ...rest, ...edit });
    });
  }
}

interface Attempt<T> {
  readonly value: T;
  readonly edit: ToolsetEdit;
  readonly afterCommit?: (committed: Committed) => T;
}

interface CreateOptions {
  readonly by: Changer;
  readonly equip?: boolean | undefined;
  readonly session?: SessionToolset | undefined;
}

interface RemoveOptions {
  /** Gets exactly the toolset that is removed. */
  readonly objection?: (toolset: Toolset) => Refusal | undefined;
  /** Refuses if sessions of clients other than this one have equipped it. Undefined: never refuses. */
  readonly unlessEquippedBesides?: string;
}

/** ARGUMENTS_INVALID if a name or a description is invalid. `field`: the argument with the name. */
export function findToolsetFault(
  { name, description }: Pick<ToolsetChanges, 'name' | 'description'>,
  field = 'name',
): Refusal | undefined {
  return (
    toArgumentRefusal(field, name === undefined ? undefined : findToolsetNameFault(name)) ??
    toArgumentRefusal('description', findDescriptionFault(description ?? ''))
  );
}
