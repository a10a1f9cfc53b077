import pg from 'pg';
import type { Log } from '../../gateway/ports/log.ts';
import { atMost, pause } from '../../platform/turns.ts';
import { isPart, type Listeners } from './listeners.ts';

/** First and longest wait in ms before reconnecting. */
const FIRST_WAIT_MS = 100;
const MAX_WAIT_MS = 10_000;
/** Maximum wait in ms for a connection to close cleanly. */
const CLOSE_MS = 1_000;

/**
 * Listens for changes by any process, on its own connection. Whenever it connects or reconnects, all parts are reported
 * as changed, since notifications may have been missed.
 */
export class PostgresChanges {
  readonly #config: pg.ClientConfig;
  readonly #listeners: Listeners;
  readonly #log: Log;
  #stop: AbortController | undefined;
  #isStanding = false;
  #over: Promise<void> = Promise.resolve();

  constructor(config: pg.ClientConfig, listeners: Listeners, log: Log) {
    this.#config = config;
    this.#listeners = listeners;
    this.#log = log;
  }

  /** Whether this process receives notifications of its own writes. */
  get isStanding(): boolean {
    return this.#isStanding;
  }

  /** After `stop`, resolves when its connection is closed. */
  get over(): Promise<void> {
    return this.#over;
  }

  start(): void {
    this.stop();
    this.#stop = new AbortController();
    this.#over = this.#run(this.#stop.signal);
  }

  stop(): void {
    this.#stop?.abort();
    this.#stop = undefined;
  }

  async #run(signal: AbortSignal): Promise<void> {
    let waitMs = FIRST_WAIT_MS;
    while (!signal.aborted) {
      if (await this.#listen(signal)) {
        waitMs = FIRST_WAIT_MS;
        this.#log.warn('store: the connection for change notifications was lost and is being reopened');
      }
      await pause(waitMs, signal);
      waitMs = Math.min(waitMs * 2, MAX_WAIT_MS);
    }
  }

  /** Resolves when the connection has ended: true if it was listening and was lost. */
  async #listen(signal: AbortSignal): Promise<boolean> {
    const client = new pg.Client(this.#config);
    client.on('notification', ({ payload }) => {
      if (isPart(payload) && !signal.aborted) this.#listeners.notify([payload]);
    });
    const over = endOf(client, signal);
    const stands = await beginsListening(client);
    if (stands && !signal.aborted) {
      this.#isStanding = true;
      this.#listeners.notifyAll();
      await over;
      this.#isStanding = false;
    }
    await atMost(
      client.end().catch(() => undefined),
      CLOSE_MS,
    );
    return stands && !signal.aborted;
  }
}

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

/** Resolves when the connection is lost or the signal aborts. */
function endOf(client: pg.Client, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      signal.removeEventListener('abort', end);
      resolve();
    };
    signal.addEventListener('abort', end);
    client.once('end', end);
    client.on('error', end);
  });
}
