import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { answerCalls, type ThreadSide } from '@assay-mcp/kit/platform/thread';
import { markFiles } from './file-mark.ts';
import { createSqlStore, type StoreCalls } from './sql-store.ts';
import { SqliteChanges, type Known } from './sqlite-changes.ts';
import { checkpointLog, openSqliteFile, type OpenSqlite } from './sqlite-file.ts';

/** `file`: the id of the open file. */
export type OpenedFile = Pick<OpenSqlite, 'file' | 'keptAs'>;

/** All methods of the store's thread. */
export interface SqliteCalls extends StoreCalls {
  open(): Promise<Result<OpenedFile, Refusal>>;
  listen(known: Known | undefined): Promise<Result<undefined, Refusal>>;
  stopListening(): Promise<Result<undefined, Refusal>>;
  /**
   * Closes the file and returns its mark, which stays the same until the next write. Undefined if it cannot close yet.
   * STORE_MOVED
   */
  rest(): Promise<Result<string | undefined, Refusal>>;
  close(): Promise<Result<undefined, Refusal>>;
}

/** Startup arguments of the thread. */
export interface SqliteGiven {
  readonly home: string;
  /** Id of the file that the process opened before; only that one is opened, and none is created. */
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
    // Only `SqliteStore` calls `Thread`, with the method's own arguments.
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
  const { database, dialect, file, files, keptAs } = opened.value;
  const changes = new SqliteChanges(
    opened.value,
    (look) => side.send(look),
    (work) => side.inTurn(work),
  );
  const { calls } = createSqlStore(dialect, (parts) => changes.wrote(parts));
  const close = (): void => {
    changes.stop();
    database.close();
  };
  return ok({
    ...calls,
    open: () => Promise.resolve(ok({ file, keptAs })),
    listen: (known) => changes.listen(known).then(() => DONE),
    stopListening() {
      changes.stop();
      return Promise.resolve(DONE);
    },
    async rest() {
      // The mark must come before the look: the look sees every commit before the mark, and every later commit changes
      // the mark. Closing does not change it, as the log is empty by then. If the file system's clock is coarse, a
      // second write right after the first may leave the mark unchanged, so the file must have been quiet for a while.
      const moved = files.fault();
      // A moved file stays open: it is still readable, and it is the only complete copy.
      if (moved !== undefined) return err(moved);
      // A commit that another process is writing is in the mark before it can be seen.
      if (!checkpointLog(opened.value)) return ok(undefined);
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
