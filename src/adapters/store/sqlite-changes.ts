import type { StorePart } from '../../gateway/ports.ts';
import { readRevisions } from './sqlite-dialect.ts';
import type { OpenSqlite } from './sqlite-file.ts';
import { refusalOf } from './driver-faults.ts';

const POLL_MS = 250;

/**
 * Sees what other processes change: SQLite counts the commits of others (`PRAGMA data_version`), which costs no access
 * to the disk to ask; when that moved, the revisions of the parts say which ones were written.
 */
export class SqliteChanges {
  readonly #open: OpenSqlite;
  readonly #tell: (parts: readonly StorePart[]) => void;
  readonly #inTurn: (work: () => Promise<void>) => Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #isAsking = false;
  #commits: unknown;
  #revisions: ReadonlyMap<StorePart, number> = new Map();

  /** `inTurn` does something between two transactions of this process. */
  constructor(
    open: OpenSqlite,
    tell: (parts: readonly StorePart[]) => void,
    inTurn: (work: () => Promise<void>) => Promise<void>,
  ) {
    this.#open = open;
    this.#tell = tell;
    this.#inTurn = inTurn;
  }

  async listen(): Promise<void> {
    if (this.#timer !== undefined) return;
    await this.#look();
    this.#timer = setInterval(() => this.#ask(), POLL_MS).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  /** This process wrote a part: known at once, and not told again by the next look. */
  async wrote(part: StorePart): Promise<void> {
    if (this.#timer === undefined) return;
    const others = (await this.#look()).filter((other) => other !== part);
    this.#tell([part, ...others]);
  }

  #ask(): void {
    if (this.#isAsking) return;
    this.#isAsking = true;
    void this.#inTurn(async () => {
      this.#isAsking = false;
      if (this.#timer === undefined || this.#commitsOfOthers() === this.#commits) return;
      const changed = await this.#look();
      if (changed.length > 0) this.#tell(changed);
    });
  }

  #commitsOfOthers(): unknown {
    return this.#open.database.pragma('data_version', { simple: true });
  }

  /** The parts that were written since the last look. One that fails is made up for by the next. */
  async #look(): Promise<readonly StorePart[]> {
    try {
      const commits = this.#commitsOfOthers();
      const before = this.#revisions;
      const now = await readRevisions(this.#open.db);
      this.#revisions = now;
      this.#commits = commits;
      return [...now].filter(([part, revision]) => before.get(part) !== revision).map(([part]) => part);
    } catch (error) {
      if (refusalOf(error) === undefined) throw error;
      return [];
    }
  }
}
