import { extname } from 'node:path';
import { formatRefusal } from '../../core/sentences.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err } from '@assay-mcp/kit/result';
import type { Log } from '../../gateway/ports/log.ts';
import type { StorePart } from '../../gateway/ports/store.ts';
import { releaseMemory, Thread, type CallOutcome } from '@assay-mcp/kit/platform/thread';
import { watchFiles } from './file-mark.ts';
import type { Known, StoreChange } from './sqlite-changes.ts';
import type { OpenedFile, SqliteCalls, SqliteGiven } from './sqlite-worker.ts';
import { OPERATIONS } from './store-operations.ts';

/** The thread's short-lived values are rows in transit. */
const YOUNG_MIB = 4;
/** Wait in ms before restarting a thread for listeners. */
const RESTART_MS = 1_000;
/** When an idle thread of a store closes its file and ends. */
export interface RestTimes {
  /** Time in ms without a call. */
  readonly idleMs: number;
  /** Time in ms without a write by any process; at least the resolution of the file system's clock. */
  readonly freshMs: number;
  /** Wait in ms after a failed attempt. */
  readonly retryMs: number;
}

const REST: RestTimes = { idleMs: 5_000, freshMs: 2_000, retryMs: 2_500 };

const SCRIPT = new URL(`./sqlite-worker${extname(import.meta.url)}`, import.meta.url);

export type Given<M extends keyof SqliteCalls> = Awaited<ReturnType<SqliteCalls[M]>>;

/** The calls that change nothing in the file. */
const READS: ReadonlySet<string> = new Set([
  ...['open', 'listen', 'stopListening', 'rest', 'close'],
  ...Object.keys(OPERATIONS).filter((call) => OPERATIONS[call as keyof typeof OPERATIONS] === 'read'),
]);

/** A write that the thread had received may be in the file. */
function refuseLost(
  method: keyof SqliteCalls,
  { cause, wasSent }: Extract<CallOutcome, { kind: 'lost' }>,
): Refusal {
  const code = wasSent && !READS.has(method) ? 'WRITE_UNCONFIRMED' : 'STORE_UNAVAILABLE';
  return { code, reason: cause };
}

export interface SqliteThreadOptions {
  readonly home: string;
  readonly log: Log;
  readonly rest: RestTimes | undefined;
  /** Reports changes to the listeners. */
  readonly notify: (parts: readonly StorePart[]) => void;
  /** Reports that anything may have changed, after a time without looking. */
  readonly notifyAll: () => void;
}

/**
 * Runs the store's thread only while it is needed, because it takes a lot of memory. It starts with a call; when idle,
 * it closes the file and ends. While it is ended and there are listeners, the files are watched from outside, and the
 * thread restarts when they change. A lost thread is restarted by the next call, or soon if there are listeners. A file
 * found to be damaged or from a newer Assay stays refused: a new one in its place would silently be empty.
 */
export class SqliteThread {
  readonly #options: SqliteThreadOptions;
  readonly #restTimes: RestTimes;
  #thread: Thread | undefined;
  /** Calls not answered yet. */
  #owed = 0;
  #idle: NodeJS.Timeout | undefined;
  #isListening = false;
  /** The state last reported to the listeners. */
  #known: Known | undefined;
  /** Set when a thread was lost or could not open the file; cleared when a thread opens it again. */
  #isBlind = false;
  /** Why this process no longer uses the file. */
  #refusal: Refusal | undefined;
  /** Id of the file opened first; only that one is opened again. */
  #file: string | undefined;
  /** Why the open file cannot be used now. */
  #moved: Refusal | undefined;
  /** Why the file could not be opened again. */
  #openFault: Refusal | undefined;
  /** Problems logged since the file was last opened. */
  readonly #told = new Set<string>();
  /** Pending while the thread finds out whether it can end; calls wait for that, in order. */
  #settling: Promise<void> | undefined;
  #held: (() => void)[] = [];
  /** Resolves when the last idle thread has ended. */
  #ending: Promise<void> | undefined;
  #endWatching: (() => void) | undefined;
  #isClosing = false;

  constructor(options: SqliteThreadOptions) {
    this.#options = options;
    this.#restTimes = options.rest ?? REST;
  }

  async call<M extends keyof SqliteCalls>(method: M, ...args: Parameters<SqliteCalls[M]>): Promise<Given<M>> {
    const done = await this.#post(method, args);
    const given = done.kind === 'answered' ? done.value : err(refuseLost(method, done));
    return given as Given<M>; // the thread returns the method's result, and every method may be refused
  }

  listen(): void {
    this.#isListening = true;
    this.#leave(this.call('listen', undefined));
  }

  stopListening(): void {
    this.#stopWatching();
    this.#isListening = false;
    this.#known = undefined;
    if (this.#thread !== undefined) this.#leave(this.call('stopListening'));
  }

  /** Closes after earlier calls have completed. Make no calls afterwards. */
  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#idle);
    this.#stopWatching();
    this.#isListening = false;
    await this.#settling;
    const thread = this.#thread;
    await thread?.call('close', []);
    await thread?.end();
    await this.#ending;
  }

  #post(method: keyof SqliteCalls, args: readonly unknown[]): Promise<CallOutcome> {
    if (this.#settling !== undefined)
      return new Promise((resolve) => this.#held.push(() => resolve(this.#post(method, args))));
    if (this.#refusal !== undefined) return Promise.resolve({ kind: 'answered', value: err(this.#refusal) });
    return this.#ask((this.#thread ??= this.#start()), method, args);
  }

  async #ask(thread: Thread, method: keyof SqliteCalls, args: readonly unknown[]): Promise<CallOutcome> {
    clearTimeout(this.#idle);
    this.#owed++;
    try {
      const done = await thread.call(method, args);
      if (done.kind === 'answered') this.#look(thread, done.value as Given<keyof SqliteCalls>);
      return done;
    } finally {
      this.#owed--;
      if (this.#owed === 0) this.#restIn(this.#restTimes.idleMs);
    }
  }

  /** Why the file cannot be used now: STORE_MOVED while it is not found under its name, or why it cannot be opened. */
  get fault(): Refusal | undefined {
    return this.#moved ?? this.#refusal ?? this.#openFault;
  }

  #look(thread: Thread, given: Given<keyof SqliteCalls>): void {
    if (given.ok) return;
    const refusal = given.error;
    // A thread that was replaced says nothing about the files that the new one has open.
    if (refusal.code !== 'STORE_MOVED' || (this.#thread !== undefined && this.#thread !== thread)) return;
    this.#takeMoved(refusal);
    if (refusal.what !== 'log' || this.#thread !== thread) return;
    // Closing moves the lost log's content into the database; the next call opens it with a new log.
    this.#thread = undefined;
    this.#isBlind = true;
    this.#ending = thread.call('close', []).then(() => thread.end());
    this.#reviveLater();
  }

  #takeMoved(refusal: Refusal | undefined): void {
    const before = this.#moved;
    this.#moved = refusal;
    if (refusal !== undefined && before === undefined)
      this.#options.log.error('store: its file is not the one that is open', {
        cause: formatRefusal(refusal),
      });
    if (refusal === undefined && before !== undefined)
      this.#options.log.info('store: its file is there again');
  }

  #start(): Thread {
    this.#stopWatching();
    const thread = new Thread({
      script: SCRIPT,
      given: {
        home: this.#options.home,
        file: this.#file,
        freshMs: this.#restTimes.freshMs,
      } satisfies SqliteGiven,
      youngMiB: YOUNG_MIB,
      onMessage: (message) => this.#handle(message as StoreChange), // the only message that `SqliteChanges` sends
      onLost: (cause, error) => this.#lose(thread, cause, error),
    });
    this.#leave(this.#check(thread));
    return thread;
  }

  #handle({ changed, known }: StoreChange): void {
    if (!this.#isListening) return;
    this.#known = known;
    if (changed.length > 0) this.#options.notify(changed);
  }

  async #check(thread: Thread): Promise<void> {
    if (this.#isListening) this.#leave(this.#ask(thread, 'listen', [this.#known]));
    const done = await this.#ask(thread, 'open', []);
    if (done.kind === 'lost') return;
    const opened = done.value as Given<'open'>;
    if (opened.ok) {
      this.#file ??= opened.value.file;
      this.#openFault = undefined;
      this.#tellSetAside(opened.value);
      this.#told.clear();
      this.#takeMoved(undefined);
      if (this.#isBlind) this.#options.notifyAll();
      this.#isBlind = false;
      return;
    }
    this.#refuse(thread, opened.error);
    // This thread gets no new calls; once it answers again, all earlier calls have been answered.
    await thread.call('open', []);
    await thread.end();
  }

  #tellSetAside({ keptAs }: OpenedFile): void {
    if (keptAs !== undefined)
      this.#options.log.error(
        'store: an earlier build of Assay created assay.db, whose data this one cannot read. The file was set aside, and a new, empty store was created. To keep its data, run `assay export` with the earlier build on the old file and `assay import` with this one',
        { keptAs },
      );
  }

  /** A file that cannot be opened now is tried again by the next call, with a new thread. */
  #refuse(thread: Thread, refusal: Refusal): void {
    this.#isBlind = true;
    if (this.#thread === thread) this.#thread = undefined;
    // The first open returns the refusal to its caller, who reports it.
    if (refusal.code === 'STORE_MOVED') this.#takeMoved(refusal);
    else if (this.#file !== undefined) {
      this.#openFault = refusal;
      this.#logOnce(refusal.code, 'store: it cannot be opened again', { cause: formatRefusal(refusal) });
    }
    if (refusal.code === 'STORE_UNAVAILABLE' || refusal.code === 'STORE_MOVED') this.#reviveLater();
    else this.#refusal ??= refusal;
  }

  #lose(thread: Thread, cause: string, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#isBlind = true;
    this.#logOnce(cause, `store: ${cause}`, error instanceof Error ? { stack: error.stack } : {});
    this.#reviveLater();
  }

  /** Listeners make no calls that would restart the thread. */
  #reviveLater(): void {
    setTimeout(() => this.#wake(), RESTART_MS).unref();
  }

  #wake(): void {
    if (this.#isListening && this.#refusal === undefined) this.#thread ??= this.#start();
  }

  #restIn(waitMs: number): void {
    clearTimeout(this.#idle);
    if (this.#isClosing) return;
    this.#idle = setTimeout(() => {
      const thread = this.#thread;
      if (thread !== undefined) this.#settling = this.#rest(thread);
    }, waitMs).unref();
  }

  async #rest(thread: Thread): Promise<void> {
    try {
      const done = await thread.call('rest', []);
      const rested = done.kind === 'answered' ? (done.value as Given<'rest'>) : undefined;
      const mark = rested?.ok === true ? rested.value : undefined;
      if (rested !== undefined) this.#takeRested(thread, rested);
      if (this.#thread !== thread) return; // its log was lost, and it is ending
      if (mark === undefined) this.#restIn(this.#restTimes.retryMs);
      else {
        this.#thread = undefined;
        this.#ending = thread.end();
        // The store does not depend on it, so it must not wait for it or fail with it.
        void this.#ending.then(releaseMemory).catch(() => undefined);
        if (this.#isListening) this.#endWatching = watchFiles(this.#options.home, mark, () => this.#wake());
      }
    } catch (error) {
      // The state of the thread is unknown.
      this.#lose(thread, 'an internal error occurred in its thread', error);
      this.#ending = thread.end();
    } finally {
      this.#settling = undefined;
      for (const post of this.#held.splice(0)) post();
    }
  }

  #takeRested(thread: Thread, rested: Given<'rest'>): void {
    if (rested.ok) this.#takeMoved(undefined);
    else this.#look(thread, rested);
  }

  #stopWatching(): void {
    this.#endWatching?.();
    this.#endWatching = undefined;
  }

  /** For work that is not awaited: a bug in it is logged and affects nothing else. */
  #leave(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      const shown = error instanceof Error ? error.stack : String(error);
      this.#logOnce('INTERNAL', 'store: something failed inside Assay', { error: shown });
    });
  }

  #logOnce(what: string, message: string, fields: Readonly<Record<string, unknown>>): void {
    if (this.#told.has(what)) return;
    this.#told.add(what);
    this.#options.log.error(message, fields);
  }
}
