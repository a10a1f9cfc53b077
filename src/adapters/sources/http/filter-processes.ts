import { err } from '../../../core/result.ts';
import type { FilterTask } from './filter.ts';
import { FilterProcess, type FilterLimits } from './filter-process.ts';
import type { FilterResult } from './filter-worker.ts';

/** Evaluates JMESPath expressions outside of this process, within bounds of time and memory. */
export interface FilterRunner {
  /** Rejects with the reason of the signal where that is aborted first. */
  run(task: FilterTask, signal: AbortSignal): Promise<FilterResult>;
  close(): Promise<void>;
}

interface Waiting {
  readonly task: FilterTask;
  readonly settle: (result: FilterResult) => void;
}

export interface FilterRunnerLimits extends FilterLimits {
  /** Characters of answers that wait for a process. */
  readonly waitingCharacters: number;
}

const LIMITS: FilterRunnerLimits = { taskMs: 5_000, heapMiB: 512, waitingCharacters: 256 * 1024 * 1024 };
const MOST_PROCESSES = 2;
/** A process without a task ends after so many ms. */
const IDLE_MS = 10_000;

/**
 * Starts a process with the first task and ends it when there are none. An expression is evaluated by one process at a
 * time, so that one which takes long leaves the other process to all others.
 */
export class FilterProcesses implements FilterRunner {
  readonly #limits: FilterRunnerLimits;
  readonly #processes = new Set<FilterProcess>();
  readonly #waiting = new Set<Waiting>();
  readonly #running = new Set<string>();
  #waitingCharacters = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(limits: Partial<FilterRunnerLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
  }

  run(task: FilterTask, signal: AbortSignal): Promise<FilterResult> {
    if (this.#isClosed) return Promise.resolve(err({ code: 'process_ended', cause: 'was ended' }));
    if (this.#waitingCharacters + task.text.length > this.#limits.waitingCharacters)
      return Promise.resolve(err({ code: 'queue_full' }));
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#leave(waiting);
        reject(signal.reason as Error); // what its owner says
      };
      const settle = (result: FilterResult): void => {
        signal.removeEventListener('abort', abort);
        resolve(result);
      };
      const waiting: Waiting = { task, settle };
      if (signal.aborted) return abort();
      signal.addEventListener('abort', abort, { once: true });
      this.#waiting.add(waiting);
      this.#waitingCharacters += task.text.length;
      this.#assign();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#idle);
    for (const waiting of [...this.#waiting]) {
      this.#leave(waiting);
      waiting.settle(err({ code: 'process_ended', cause: 'was ended' }));
    }
    await Promise.all([...this.#processes].map((one) => one.close()));
  }

  #leave(waiting: Waiting): void {
    if (this.#waiting.delete(waiting)) this.#waitingCharacters -= waiting.task.text.length;
  }

  #assign(): void {
    clearTimeout(this.#idle);
    for (const waiting of [...this.#waiting]) {
      if (this.#running.has(waiting.task.expression)) continue;
      const free = [...this.#processes].find(({ isIdle }) => isIdle) ?? this.#start();
      if (free === undefined) break;
      this.#leave(waiting);
      void this.#evaluate(waiting, free);
    }
    if (this.#running.size === 0 && this.#processes.size > 0)
      this.#idle = setTimeout(() => this.#endIdle(), IDLE_MS).unref();
  }

  #start(): FilterProcess | undefined {
    if (this.#processes.size >= MOST_PROCESSES) return undefined;
    const started = new FilterProcess(this.#limits);
    this.#processes.add(started);
    void started.ended.then(() => {
      this.#processes.delete(started);
      if (!this.#isClosed) this.#assign();
    });
    return started;
  }

  async #evaluate({ task, settle }: Waiting, process: FilterProcess): Promise<void> {
    this.#running.add(task.expression);
    settle(await process.run(task));
    this.#running.delete(task.expression);
    if (!this.#isClosed) this.#assign();
  }

  #endIdle(): void {
    for (const one of this.#processes) void one.close();
  }
}
