import { sha256 } from '@assay-mcp/kit/digest';
import type { Refusal } from '../../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { formatRefusal } from '../../../core/sentences.ts';
import type { Log } from '../../ports/log.ts';
import type { SessionToolset, SessionToolsetStore } from '../../ports/session-toolsets.ts';
import type { Store } from '../../ports/store.ts';
import type { Toolsets } from './toolsets.ts';

export interface SessionToolsetsOptions {
  /** Opens the store, or returns the open one. */
  readonly open: () => Promise<Result<SessionToolsetStore & Pick<Store, 'onChange'>, Refusal>>;
  readonly toolsets: Pick<Toolsets, 'catchUpWith'>;
  /** A session's toolset is kept for this many ms after it was last used. */
  readonly idleMs: number;
  readonly nowMs: () => number;
  readonly log: Log;
}

/** A view of a client. */
export interface SessionFollower {
  /** Whether the client is connected, so that its session is in use even without requests. */
  readonly isListening: () => boolean;
  /**
   * Called after the client has equipped or unequipped a toolset, through any process. `isFirst`: it had done so before it
   * was known here.
   */
  readonly changed: (isFirst?: boolean) => void;
}

interface Followed {
  /** Undefined if the session follows the toolset that is equipped for all. */
  row: SessionToolset | undefined;
  isKnown: boolean;
  isUsed: boolean;
  reading: Promise<Result<undefined, Refusal>> | undefined;
  /** The read that is new enough to replace the row. */
  fromRead: number;
  readonly followers: Set<SessionFollower>;
}

/** Interval in ms at which the use of sessions is written. */
const SAVE_MS = 60_000;

/** What the clients of this process have equipped for themselves, kept up to date with every process on the store. */
export class SessionToolsets {
  readonly #options: SessionToolsetsOptions;
  /** By `SessionToolset.client`. */
  readonly #clients = new Map<string, Followed>();
  readonly #ended = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #saving: Promise<void> | undefined;
  #isSaveQueued = false;
  /** Number of reads that have begun. */
  #reads = 0;
  #isReading = false;
  #isReadQueued = false;
  #endListening: (() => void) | undefined;

  constructor(options: SessionToolsetsOptions) {
    this.#options = options;
  }

  /** Returns the client's id in the store. Several views may follow one client. */
  follow(identity: string, follower: SessionFollower): string {
    const client = sha256(identity);
    const known = this.#clients.get(client);
    if (known !== undefined) known.followers.add(follower);
    else
      this.#clients.set(client, {
        ...{ row: undefined, isKnown: false, isUsed: false, reading: undefined, fromRead: 0 },
        followers: new Set([follower]),
      });
    return client;
  }

  unfollow(client: string, follower: SessionFollower): void {
    const known = this.#clients.get(client);
    known?.followers.delete(follower);
    if (known?.followers.size === 0) this.#clients.delete(client);
  }

  /** Removes what an ended session has equipped. */
  end(client: string): void {
    if (this.#clients.get(client)?.row === undefined) return;
    this.#ended.add(client);
    void this.#save();
  }

  isKnown(client: string): boolean {
    return this.#clients.get(client)?.isKnown === true;
  }

  /** Resolves when it is known what the client has equipped. STORE_UNAVAILABLE */
  ready(client: string): Promise<Result<undefined, Refusal>> {
    const followed = this.#clients.get(client);
    if (followed === undefined || followed.isKnown) return Promise.resolve(ok(undefined));
    followed.reading ??= this.#read([client]).finally(() => (followed.reading = undefined));
    return followed.reading;
  }

  /** What the client has equipped. Undefined if it follows the toolset that is equipped for all. */
  of(client: string): SessionToolset | undefined {
    return this.#clients.get(client)?.row;
  }

  /** Notes a request of the client. */
  use(client: string): void {
    const followed = this.#clients.get(client);
    if (followed?.row === undefined) return;
    if (followed.row.expiresMs <= this.#options.nowMs()) this.#put(followed, undefined);
    else followed.isUsed = true;
  }

  /** The row with which a client equips a toolset, or none if undefined. */
  next(client: string, subject: string, toolset: string | undefined): SessionToolset {
    const equippings = (this.of(client)?.equippings ?? 0) + 1;
    return { client, subject, toolset, equippings, expiresMs: this.#expiresMs };
  }

  /** Takes a row that this process has written. */
  put(row: SessionToolset): void {
    const followed = this.#clients.get(row.client);
    if (followed === undefined) return;
    // A read that is under way may have missed it.
    followed.fromRead = this.#reads + 1;
    followed.isKnown = true;
    this.#saveAtIntervals();
    this.#put(followed, row);
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#endListening?.();
    await this.#save();
  }

  get #expiresMs(): number {
    // The last requests may not be stored yet.
    return this.#options.nowMs() + this.#options.idleMs + 2 * SAVE_MS;
  }

  async #store(): ReturnType<SessionToolsetsOptions['open']> {
    const store = await this.#options.open();
    if (store.ok)
      this.#endListening ??= store.value.onChange((parts) => {
        if (parts.includes('session_toolsets')) void this.#readAll();
      });
    return store;
  }

  /** Any number of announcements that arrive during a read cause one more. */
  async #readAll(): Promise<void> {
    this.#isReadQueued = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isReadQueued) {
      this.#isReadQueued = false;
      const known = [...this.#clients].filter(([, { isKnown }]) => isKnown).map(([client]) => client);
      const read = known.length === 0 ? ok(undefined) : await this.#read(known);
      if (!read.ok)
        this.#options.log.warn('equipped toolsets could not be read', { cause: formatRefusal(read.error) });
    }
    this.#isReading = false;
  }

  async #read(clients: readonly string[]): Promise<Result<undefined, Refusal>> {
    const store = await this.#store();
    if (!store.ok) return store;
    this.#reads += 1;
    const read = this.#reads;
    const found = await store.value.sessionToolsets(clients, this.#options.nowMs());
    if (!found.ok) return found;
    const rows = new Map(found.value.map((row) => [row.client, row]));
    const caughtUp = await this.#options.toolsets.catchUpWith(found.value.map(({ toolset }) => toolset));
    if (!caughtUp.ok) return caughtUp;
    if (rows.size > 0) this.#saveAtIntervals();
    for (const client of clients) {
      const followed = this.#clients.get(client);
      if (followed === undefined || followed.fromRead > read) continue;
      const isFirst = !followed.isKnown;
      followed.fromRead = read;
      followed.isKnown = true;
      this.#put(followed, rows.get(client), isFirst);
    }
    return ok(undefined);
  }

  #put(followed: Followed, row: SessionToolset | undefined, isFirst = false): void {
    const before = followed.row;
    followed.row = row;
    if (before?.equippings === row?.equippings && before?.toolset === row?.toolset) return;
    for (const { changed } of [...followed.followers]) changed(isFirst);
  }

  #saveAtIntervals(): void {
    this.#timer ??= setInterval(() => void this.#save(), SAVE_MS).unref();
  }

  /** Saves run one after another. */
  #save(): Promise<void> {
    if (this.#isSaveQueued) return this.#saving ?? Promise.resolve();
    this.#isSaveQueued = true;
    this.#saving = (this.#saving ?? Promise.resolve()).then(() => {
      this.#isSaveQueued = false;
      return this.#write();
    });
    return this.#saving;
  }

  async #write(): Promise<void> {
    const inUse = [...this.#clients].filter(
      ([, { row, isUsed, followers }]) =>
        row !== undefined && (isUsed || [...followers].some((one) => one.isListening())),
    );
    const ended = [...this.#ended];
    if (inUse.length + ended.length === 0) return;
    const expiresMs = this.#expiresMs;
    const used = new Map(inUse.map(([client]) => [client, expiresMs]));
    for (const [, followed] of inUse) followed.isUsed = false;
    const store = await this.#store();
    const saved = store.ok
      ? await store.value.useSessionToolsets({ used, ended, nowMs: this.#options.nowMs() })
      : store;
    if (saved.ok) for (const client of ended) this.#ended.delete(client);
    else {
      for (const [, followed] of inUse) followed.isUsed = true;
      this.#options.log.warn('the use of equipped toolsets could not be stored', {
        cause: formatRefusal(saved.error),
      });
    }
  }
}
