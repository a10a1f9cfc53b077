import { extname } from 'node:path';
import type { Refusal } from '../../core/errors.ts';
import { err, type Result } from '../../core/result.ts';
import type { Log, SeenServer, Store, StoredKey, StorePart, StoredToken } from '../../gateway/ports.ts';
import { Thread } from '../../platform/thread.ts';
import { Listeners } from './listeners.ts';
import type { SqliteCalls } from './sqlite-worker.ts';

/** Values of the store's thread that live shortly are rows on their way. */
const YOUNG_MIB = 4;
/** Wait in ms before a thread is started again for those who listen. */
const RESTART_MS = 1_000;

const SCRIPT = new URL(`./sqlite-worker${extname(import.meta.url)}`, import.meta.url);

type Given<M extends keyof SqliteCalls> = Awaited<ReturnType<SqliteCalls[M]>>;

/**
 * The store in `assay.db` of a home. SQLite waits for disks and locks where it stands, so all of it stands in a thread.
 * One that was lost is started again by the next call, and at once where somebody listens.
 */
export class SqliteStore implements Store {
  readonly #home: string;
  readonly #log: Log;
  readonly #listeners: Listeners;
  #thread: Thread | undefined;
  #hasStarted = false;
  #isClosed = false;

  constructor(home: string, log: Log) {
    this.#home = home;
    this.#log = log;
    this.#listeners = new Listeners({
      first: () => void this.#call('listen'),
      none: () => void this.#call('stopListening'),
    });
  }

  open(): Promise<Result<undefined, Refusal>> {
    return this.#call('open');
  }

  saveServer(server: SeenServer): Promise<Result<undefined, Refusal>> {
    return this.#call('saveServer', server);
  }

  servers(): Promise<Result<readonly Omit<SeenServer, 'definitions'>[], Refusal>> {
    return this.#call('servers');
  }

  server(name: string, identity: string): Promise<Result<SeenServer | undefined, Refusal>> {
    return this.#call('server', name, identity);
  }

  addToken(token: StoredToken): Promise<Result<undefined, Refusal>> {
    return this.#call('addToken', token);
  }

  tokens(): Promise<Result<readonly StoredToken[], Refusal>> {
    return this.#call('tokens');
  }

  revokeToken(idOrName: string, revokedMs: number): Promise<Result<StoredToken, Refusal>> {
    return this.#call('revokeToken', idOrName, revokedMs);
  }

  async keys(purpose: string): Promise<Result<readonly StoredKey[], Refusal>> {
    const found = await this.#call('keys', purpose);
    return found.ok ? { ok: true, value: found.value.map(withBuffer) } : found;
  }

  async ensureKey(key: StoredKey): Promise<Result<StoredKey, Refusal>> {
    const found = await this.#call('ensureKey', key);
    return found.ok ? { ok: true, value: withBuffer(found.value) } : found;
  }

  addKey(key: StoredKey): Promise<Result<undefined, Refusal>> {
    return this.#call('addKey', key);
  }

  settings(): Promise<Result<ReadonlyMap<string, unknown>, Refusal>> {
    return this.#call('settings');
  }

  saveSetting(key: string, value: unknown): Promise<Result<undefined, Refusal>> {
    return this.#call('saveSetting', key, value);
  }

  onChange(listener: (parts: readonly StorePart[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** What was asked for before is done. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#listeners.end();
    const thread = this.#thread;
    await thread?.call('close', []);
    await thread?.end();
  }

  async #call<M extends keyof SqliteCalls>(
    method: M,
    ...args: Parameters<SqliteCalls[M]>
  ): Promise<Given<M>> {
    const done = this.#isClosed
      ? ({ kind: 'lost', cause: 'it is closed' } as const)
      : await (this.#thread ??= this.#start()).call(method, args);
    const given =
      done.kind === 'answered' ? done.value : err({ code: 'STORE_UNAVAILABLE', reason: done.cause });
    return given as Given<M>; // the thread answers with what the method gave, and every method may be refused
  }

  #start(): Thread {
    const thread = new Thread({
      script: SCRIPT,
      given: this.#home,
      youngMiB: YOUNG_MIB,
      onWord: (word) => this.#listeners.tell(word as readonly StorePart[]), // `SqliteChanges` says nothing else
      onLost: (cause, error) => this.#lose(thread, cause, error),
    });
    void this.#check(thread, this.#hasStarted);
    this.#hasStarted = true;
    return thread;
  }

  /** A file that could not be opened is tried again by the next call, with a new thread. */
  async #check(thread: Thread, isRestart: boolean): Promise<void> {
    if (!this.#listeners.isEmpty) void thread.call('listen', []);
    const opened = await thread.call('open', []);
    if (opened.kind === 'lost') return;
    if ((opened.value as Given<'open'>).ok) {
      // Nobody looked for a while.
      if (isRestart) this.#listeners.tellAll();
      return;
    }
    if (this.#thread === thread) this.#thread = undefined;
    this.#reviveLater();
    // Nobody asks this one any more, and when it answers again all who did have their answer.
    await thread.call('open', []);
    await thread.end();
  }

  #lose(thread: Thread, cause: string, error: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#log.error(`store: ${cause}`, error instanceof Error ? { stack: error.stack } : {});
    this.#reviveLater();
  }

  /** Those who listen call nothing by themselves. */
  #reviveLater(): void {
    setTimeout(() => {
      if (!this.#listeners.isEmpty) this.#thread ??= this.#start();
    }, RESTART_MS).unref();
  }
}

/** A Buffer arrives from another thread as what it is made of. */
function withBuffer(key: StoredKey): StoredKey {
  return { ...key, bytes: Buffer.from(key.bytes) };
}
