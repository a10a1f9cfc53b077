import type { KeptState } from '../../core/supervision.ts';

/** Maximum number of open tasks that are told apart. A client that opens more replaces its oldest. */
const MAX_TASKS = 1_000;

/** What one server is used for: it is not stopped while it is in use, nor soon after. */
export class ServerUse {
  /** When it was last used, by `performance.now`. */
  lastUsedMs: number = performance.now();
  /** Whether a tool ran since the last start that is not known to be read-only. */
  hasRunTool = false;
  #inUse = 0;
  /** Until when the server keeps each open task, by `performance.now`. */
  readonly #tasks = new Map<string, number>();

  /** Whether a request of a client is being answered, or a task is open. */
  get isInUse(): boolean {
    return this.#inUse > 0 || this.#hasTasks();
  }

  /** A request begins to need the server. The caller must call `end` once. */
  begin(): void {
    this.#inUse += 1;
  }

  end(): void {
    this.#inUse -= 1;
    this.lastUsedMs = performance.now();
  }

  /** A new process knows nothing of earlier calls and tasks. */
  restarted(): void {
    this.lastUsedMs = performance.now();
    this.hasRunTool = false;
    this.#tasks.clear();
  }

  /** The server has this task, for `ttlMs` at most. Undefined: until it ends. */
  taskOpened(id: string, ttlMs: number | undefined): void {
    const [oldest] = this.#tasks.keys();
    if (oldest !== undefined && this.#tasks.size >= MAX_TASKS && !this.#tasks.has(id))
      this.#tasks.delete(oldest);
    this.#tasks.set(id, ttlMs === undefined ? Infinity : performance.now() + ttlMs);
  }

  taskEnded(id: string): void {
    this.#tasks.delete(id);
  }

  #hasTasks(): boolean {
    if (this.#tasks.size === 0) return false;
    const nowMs = performance.now();
    for (const [id, untilMs] of this.#tasks) if (untilMs <= nowMs) this.#tasks.delete(id);
    return this.#tasks.size > 0;
  }

  /** Why its process may keep state in memory. `isObserved`: a verification has seen it. */
  keptState(isObserved: boolean): KeptState | undefined {
    if (isObserved) return 'observed';
    return this.hasRunTool ? 'possible' : undefined;
  }
}
