import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { answerCalls, type ThreadSide } from '../../platform/thread.ts';
import { markFiles } from './file-mark.ts';
import { sqlStore, type StoreCalls } from './sql-store.ts';
import { SqliteChanges, type Known } from './sqlite-changes.ts';
import { emptyLog, openSqliteFile } from './sqlite-file.ts';

/** All that the thread of the store can be asked for. */
export interface SqliteCalls extends StoreCalls {
  /** Gives the id of the file that is open. */
  open(): Promise<Result<string, Refusal>>;
  listen(known: Known | undefined): Promise<Result<undefined, Refusal>>;
  stopListening(): Promise<Result<undefined, Refusal>>;
  /** Closes the file, and gives the mark that stays while nobody writes; undefined where that must wait. STORE_MOVED */
  rest(): Promise<Result<string | undefined, Refusal>>;
  close(): Promise<Result<undefined, Refusal>>;
}

/** What the thread is started with. */
export interface SqliteGiven {
  readonly home: string;
  /** The id of the file that the process opened before; no other one is opened, and none is made. */
  readonly file: string | undefined;
  readonly freshMs: number;
}

answerCalls((given, side) => {
  let opening: Promise<Result<SqliteCalls, Refusal>> | undefined;
  return async (method, args) => {
    const opened = await (opening ??= openCalls(given as SqliteGiven, side)); // as `SqliteThread` gives it
    if (!opened.ok) return opened;
    const calls = opened.value;
    if (!isCall(calls, method)) throw new Error(`The store has no method ${method}.`);
    // `Thread` is called by `SqliteStore` alone, whose arguments are those of the method.
    return (calls[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args);
  };
});

const DONE = ok(undefined);

function isCall(calls: SqliteCalls, method: string): method is keyof SqliteCalls {
  return Object.hasOwn(calls, method);
}

async function openCalls(
  { home, file: known, freshMs }: SqliteGiven,
  side: ThreadSide,
): Promise<Result<SqliteCalls, Refusal>> {
  const opened = await openSqliteFile(home, known);
  if (!opened.ok) return opened;
  const { database, dialect, file, files } = opened.value;
  const changes = new SqliteChanges(
    opened.value,
    (look) => side.say(look),
    (work) => side.inTurn(work),
  );
  const { calls } = sqlStore(dialect, (parts) => changes.wrote(parts));
  const close = (): void => {
    changes.stop();
    database.close();
  };
  return ok({
    ...calls,
    open: () => Promise.resolve(ok(file)),
    listen: (known) => changes.listen(known).then(() => DONE),
    stopListening() {
      changes.stop();
      return Promise.resolve(DONE);
    },
    async rest() {
      // First the mark, then the look: a commit before the mark is seen by the look, and one after it changes the mark.
      // The closing does not, as the log is empty by then. A file that was written just now might be written again
      // without a sign of it, if the clock of its system is coarse; so it has to be quiet before.
      const moved = files.fault();
      // What is open can still be read, and is the one place where all of it is.
      if (moved !== undefined) return err(moved);
      emptyLog(opened.value);
      const mark = await markFiles(home, freshMs);
      if (mark.isFresh || !(await changes.catchUp())) return ok(undefined);
      close();
      return ok(mark.text);
    },
    close() {
      close();
      return Promise.resolve(DONE);
    },
  });
}
