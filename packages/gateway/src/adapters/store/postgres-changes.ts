import { randomUUID } from 'node:crypto';
import { Socket } from 'node:net';
import pg from 'pg';
import type { Refusal } from '../../core/refusal.ts';
import type { Log } from '../../gateway/ports/log.ts';
import { waitAtMost, pause } from '@assay-mcp/kit/platform/pause';
import { isPart, type StoreListeners } from './store-listeners.ts';
import { computeBackoffMs } from '@assay-mcp/kit/backoff';

/** First and longest wait in ms before reconnecting. */
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 10_000;
/** Maximum wait in ms for a connection to close cleanly. */
const CLOSE_MS = 1_000;
/** How often the listener is checked, and how long a notification may take, in ms. */
const ECHO_EVERY_MS = 5_000;
const ECHO_WITHIN_MS = 3_000;
/** Interval in ms of reading the store while notifications do not arrive. */
const POLL_MS = 1_000;
/** Interval in ms of reading the revision of the records: what is stopped must not wait for a missing echo. */
const LOOK_MS = 500;

export interface PostgresChangesOptions {
  readonly config: pg.ClientConfig;
  readonly listeners: StoreListeners;
  readonly log: Log;
  /** Sends a notification through the pool, as a write does. */
  readonly notify: (payload: string) => Promise<unknown>;
  /** Reads the newest revision of the records. */
  readonly readRevision: () => Promise<number>;
}

type Outage = Extract<Refusal, { readonly code: 'STORE_NOT_FOLLOWED' }>['notifications'];

type State =
  /** Before the first echo; not a fault yet. */
  | { readonly kind: 'starting' }
  | { readonly kind: 'following' }
  | { readonly kind: 'polling'; readonly outage: Outage };

/**
 * Follows changes by any process. They arrive as notifications on a connection of its own. A connection can stay open
 * and deliver nothing (a stalled network, a pooler in transaction mode), so this process also notifies itself through
 * the pool and expects that echo on the listener. Until an echo has arrived, and whenever one is missing, it reconnects
 * and meanwhile reports all parts as changed at short intervals, so that they are read again. Records decide which calls
 * are stopped, so their revision is also read twice a second, whatever the notifications seem to do.
 */
export class PostgresChanges {
  readonly #options: PostgresChangesOptions;
  readonly #id: string = randomUUID();
  #echoes = 0;
  #onEcho: ((payload: string) => void) | undefined;
  #stop: AbortController | undefined;
  #state: State = { kind: 'starting' };
  #heardMs = -Infinity;
  #isPolling = false;
  #isLooking = false;
  #revision: number | undefined;
  #over: Promise<void> = Promise.resolve();

  constructor(options: PostgresChangesOptions) {
    this.#options = options;
  }

  /** Whether this process receives notifications of its own writes. */
  get isFollowing(): boolean {
    return this.#state.kind === 'following';
  }

  /** `performance.now()` up to which all changes by any process have been reported to the listeners. */
  get heardMs(): number {
    return this.#heardMs;
  }

  get fault(): Refusal | undefined {
    return this.#state.kind === 'polling'
      ? { code: 'STORE_NOT_FOLLOWED', notifications: this.#state.outage }
      : undefined;
  }

  /** After `stop`, resolves when its connection is closed. */
  get over(): Promise<void> {
    return this.#over;
  }

  start(): void {
    this.stop();
    this.#stop = new AbortController();
    this.#state = { kind: 'starting' };
    this.#over = this.#run(this.#stop.signal);
  }

  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    const polling = setInterval(() => void this.#poll(signal), POLL_MS).unref();
    const looking = setInterval(() => void this.#look(signal), LOOK_MS).unref();
    let failures = 0;
    const isStopped = (): boolean => signal.aborted;
    while (!isStopped()) {
      const wasHeard = this.#heardMs;
      const outage = await this.#follow(signal);
      if (isStopped()) break;
      this.#lose(outage);
      void this.#poll(signal);
      failures = this.#heardMs > wasHeard ? 1 : failures + 1;
      await pause(computeBackoffMs(failures, { firstMs: FIRST_WAIT_MS, maxMs: MAX_WAIT_MS }), signal);
    }
    clearInterval(polling);
    clearInterval(looking);
  }

  /** Listens on a new connection until it is lost or an echo is missing; returns which. */
  async #follow(signal: AbortSignal): Promise<Outage> {
    const socket = new Socket();
    const client = new pg.Client({ ...this.#options.config, stream: () => socket });
    client.on('notification', ({ payload = '' }) => {
      const [part, key] = payload.split(' ');
      if (isPart(part) && !signal.aborted) this.#options.listeners.notify([part], key);
      this.#onEcho?.(payload);
    });
    const lost = endOf(client, signal);
    try {
      if (!(await beginsListening(client))) return 'unreachable';
      while (!lost.isOver) {
        const sentMs = performance.now();
        const outcome = await Promise.race([this.#hearsEcho(), lost.promise.then(() => 'lost' as const)]);
        if (outcome !== 'heard' || signal.aborted) return outcome === 'heard' ? 'lost' : outcome;
        this.#heardMs = sentMs;
        if (!this.isFollowing) this.#begin();
        await Promise.race([pause(ECHO_EVERY_MS, lost.signal), lost.promise]);
      }
      return 'lost';
    } finally {
      await waitAtMost(
        client.end().catch(() => undefined),
        CLOSE_MS,
      );
      // A stalled peer never confirms the end.
      socket.destroy();
    }
  }

  /** Whether a notification that is sent now through the pool arrives on the listener in time. */
  async #hearsEcho(): Promise<'heard' | 'silent' | 'unreachable'> {
    const payload = `echo ${this.#id} ${++this.#echoes}`;
    const echo = Promise.withResolvers<'heard'>();
    this.#onEcho = (heard) => (heard === payload ? echo.resolve('heard') : undefined);
    const outcome = this.#options.notify(payload).then(
      () => echo.promise,
      () => 'unreachable' as const,
    );
    return (await waitAtMost(outcome, ECHO_WITHIN_MS)) ?? 'silent';
  }

  #begin(): void {
    if (this.#state.kind === 'polling')
      this.#options.log.info('store: change notifications of the database arrive again');
    this.#state = { kind: 'following' };
    // What happened before this connection listened was not announced on it.
    this.#options.listeners.notifyAll();
  }

  #lose(outage: Outage): void {
    const before = this.#state;
    this.#state = { kind: 'polling', outage };
    if (before.kind === 'polling' && before.outage === outage) return;
    this.#options.log.warn('store: changes by other processes are polled, not announced', {
      cause: CAUSES[outage],
      pollMs: POLL_MS,
    });
  }

  async #look(signal: AbortSignal): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const revision = await this.#options.readRevision();
      // Also the first time: a change before that may not have been announced.
      const isNew = this.#revision !== revision;
      this.#revision = revision;
      if (isNew && !signal.aborted) this.#options.listeners.notify(['records']);
    } catch {
      // The database is away, as for `#poll`.
    } finally {
      this.#isLooking = false;
    }
  }

  /** While the database does not answer, there is nothing new to read. */
  async #poll(signal: AbortSignal): Promise<void> {
    if (this.isFollowing || this.#isPolling) return;
    this.#isPolling = true;
    try {
      await this.#options.notify(`poll ${this.#id}`);
      if (!signal.aborted) this.#options.listeners.notifyAll();
    } catch {
      // Readers learn from their own reads, or from `heardMs`, that the database is away.
    } finally {
      this.#isPolling = false;
    }
  }
}

const CAUSES: Readonly<Record<Outage, string>> = {
  silent: 'the listening connection is open, but notifications do not arrive on it',
  lost: 'the listening connection was lost',
  unreachable: 'the database cannot be reached',
};

/** False if the database cannot be reached; the next store call reports why. */
async function beginsListening(client: pg.Client): Promise<boolean> {
  try {
    await client.connect();
    await client.query('listen assay');
    return true;
  } catch {
    return false;
  }
}

interface Ending {
  readonly promise: Promise<void>;
  /** Aborts at the same time. */
  readonly signal: AbortSignal;
  readonly isOver: boolean;
}

/** Ends when the connection is lost or the signal aborts. */
function endOf(client: pg.Client, signal: AbortSignal): Ending {
  const over = new AbortController();
  const promise = new Promise<void>((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      over.abort();
      resolve();
    };
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    client.once('end', end);
    client.on('error', end);
  });
  return {
    promise,
    signal: over.signal,
    get isOver(): boolean {
      return over.signal.aborted;
    },
  };
}
