import type { StorePart } from '../../gateway/ports/store.ts';
import { readPragma } from '@assay-mcp/kit/platform/sqlite';
import { readRevisions } from './sqlite-dialect.ts';
import type { OpenSqlite } from './sqlite-file.ts';
import { toStoreRefusal } from './driver-faults.ts';

const POLL_MS = 250;

/** The state at the last look. The next look compares with it, possibly in another thread. */
export interface Known {
  readonly revisions: ReadonlyMap<StorePart, number>;
}

export interface StoreChange {
  readonly changed: readonly StorePart[];
  readonly known: Known;
}

/**
 * Detects changes by other processes. SQLite counts their commits (`PRAGMA data_version`), which is cheap: no disk
 * access. When the count changes, the revisions notify which parts were written.
 */
export class SqliteChanges {
  readonly #open: OpenSqlite;
  readonly #notify: (look: StoreChange) => void;
  readonly #inTurn: (work: () => Promise<void>) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #commits: unknown;
  #revisions: ReadonlyMap<StorePart, number> = new Map();

  /** `inTurn` runs work between two transactions of this process. */
  constructor(
    open: OpenSqlite,
    notify: (look: StoreChange) => void,
    inTurn: (work: () => Promise<void>) => Promise<void>,
  ) {
    this.#open = open;
    this.#notify = notify;
    this.#inTurn = inTurn;
  }

  /** Reports at once what changed since `known`; without `known`, nothing counts as changed. */
  async listen(known: Known | undefined): Promise<void> {
    if (this.#timer !== undefined) return;
    this.#timer = setInterval(() => this.#ask(), POLL_MS).unref();
    if (known !== undefined) this.#revisions = known.revisions;
    const changed = await this.#look();
    if (changed !== undefined) this.#say(known === undefined ? [] : changed);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** Reports this process's own writes at once; the next look does not report them again. */
  async wrote(parts: readonly StorePart[]): Promise<void> {
    if (this.#timer === undefined) return;
    const others = (await this.#look())?.filter((other) => !parts.includes(other)) ?? [];
    this.#say([...parts, ...others]);
  }

  /** Reports all changes so far. False if they cannot be read now. */
  async catchUp(): Promise<boolean> {
    if (this.#timer === undefined) return true;
    const changed = await this.#look();
    if (changed !== undefined) this.#say(changed);
    return changed !== undefined;
  }

  #ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#inTurn(async () => {
      this.#isAsking = false;
      if (this.#timer === undefined || this.#commitsOfOthers() === this.#commits) return;
      await this.catchUp();
    });
  }

  #say(changed: readonly StorePart[]): void {
    this.#notify({ changed, known: { revisions: this.#revisions } });
  }

  #commitsOfOthers(): unknown {
    return readPragma(this.#open.database, 'data_version');
  }

  /** The parts written since the last look. Undefined if it fails; the next look then includes them. */
  async #look(): Promise<readonly StorePart[] | undefined> {
    try {
      const commits = this.#commitsOfOthers();
      const before = this.#revisions;
      const now = await readRevisions(this.#open.db);
      this.#revisions = now;
      this.#commits = commits;
      const parts = new Set([...before.keys(), ...now.keys()]);
      return [...parts].filter((part) => before.get(part) !== now.get(part));
    } catch (error) {
      if (toStoreRefusal(error) === undefined) throw error;
      return undefined;
    }
  }
}
