import { Client, Pool, type Dispatcher } from 'undici';

/** Maximum time in ms an idle connection is reused if its server does not say how long it keeps one: many keep 5 s. */
const REUSE_MS = 4_000;
/** The same if the server says so: proxies between may keep a connection for less, and not say when they drop it. */
const MAX_REUSE_MS = 30_000;
/** A connection closed earlier than this was not closed for being idle. */
const MIN_IDLE_LIMIT_MS = 100;

/** The handler of a request, which tells the connection that carries it what happens. */
export interface ConnectionUser extends Dispatcher.DispatchHandler {
  connection: Connection | undefined;
}

/** One connection of a pool at a time, with the time for which it was idle. Carries one request at a time. */
export class Connection extends Client {
  readonly #onIdleLimit: (limitMs: number) => void;
  /** When the last request ended, by `performance.now`. Undefined if the connection has carried none. */
  #idleSinceMs: number | undefined;
  /** Time for which the connection was idle before the current request. Undefined if it is new, or carries none. */
  #idleMs: number | undefined;
  #isBusy = false;

  constructor(origin: URL, options: Client.Options, onIdleLimit: (limitMs: number) => void) {
    super(origin, options);
    this.#onIdleLimit = onIdleLimit;
    this.on('disconnect', (_origin, _targets, error) => this.#disconnected(error));
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    (handler as ConnectionUser).connection = this;
    return super.dispatch(options, handler);
  }

  /** Whether the connection carried another request before the current one. */
  get isReused(): boolean {
    return this.#idleMs !== undefined;
  }

  /** The request is about to be written. */
  begin(): void {
    this.#isBusy = true;
    this.#idleMs = this.#idleSinceMs === undefined ? undefined : performance.now() - this.#idleSinceMs;
  }

  /** The response is complete. */
  rest(): void {
    this.#isBusy = false;
    this.#idleMs = undefined;
    this.#idleSinceMs = performance.now();
  }

  /** The request failed. `isAnswered`: its response had begun. */
  failed(isAnswered: boolean): void {
    if (!isAnswered && this.#idleMs !== undefined) this.#onIdleLimit(this.#idleMs);
    this.#isBusy = false;
    this.#idleMs = undefined;
    this.#idleSinceMs = undefined;
  }

  #disconnected({ code }: Error & { readonly code?: string }): void {
    const isClosedByPeer = code === 'UND_ERR_SOCKET' || code === 'ECONNRESET';
    if (!this.#isBusy && isClosedByPeer && this.#idleSinceMs !== undefined)
      this.#onIdleLimit(performance.now() - this.#idleSinceMs);
    this.#idleSinceMs = undefined;
  }
}

/**
 * Connections to one origin. A server closes an idle connection without asking, and a request that is on its way at that
 * moment is lost, so a connection is reused only well within the time for which its server is known to keep one.
 */
export class CallPool {
  readonly #origin: string;
  readonly #options: Pool.Options;
  #reuseMs = MAX_REUSE_MS;
  #pool: Pool;
  /** Pools of longer reuse whose requests are not all answered. */
  readonly #former = new Set<Pool>();

  constructor(origin: string, options: Pool.Options) {
    this.#origin = origin;
    this.#options = options;
    this.#pool = this.#createPool();
  }

  dispatch(options: Dispatcher.DispatchOptions, user: ConnectionUser): boolean {
    return this.#pool.dispatch(options, user);
  }

  async destroy(): Promise<void> {
    await Promise.all([this.#pool, ...this.#former].map((pool) => pool.destroy()));
  }

  #createPool(): Pool {
    return new Pool(this.#origin, {
      ...this.#options,
      keepAliveTimeout: Math.min(REUSE_MS, this.#reuseMs),
      keepAliveMaxTimeout: this.#reuseMs,
      factory: (origin, given) => new Connection(origin, given, (limitMs) => this.#keepBelow(limitMs)),
    });
  }

  /** The server closed a connection that had been idle this long. */
  #keepBelow(limitMs: number): void {
    const reuseMs = Math.round(limitMs / 2);
    if (limitMs < MIN_IDLE_LIMIT_MS || reuseMs >= this.#reuseMs) return;
    this.#reuseMs = reuseMs;
    const former = this.#pool;
    this.#pool = this.#createPool();
    this.#former.add(former);
    const forget = (): boolean => this.#former.delete(former);
    // It rejects if the pool is destroyed meanwhile.
    void former.close().then(forget, forget);
  }
}
