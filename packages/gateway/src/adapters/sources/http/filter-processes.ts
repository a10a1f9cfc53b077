import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Cancellation, Cancelled } from '@assay-mcp/kit/cancellation';
import { formatCause } from '../../../core/cause.ts';
import { err } from '@assay-mcp/kit/result';
import type { Launcher } from '@assay-mcp/kit/platform/launcher';
import { type TaskFault, TaskProcess, getTaskProcessOptions } from '@assay-mcp/kit/platform/task-process';
import type { FilterResult } from './filter-worker.ts';
import type { FilterFault, FilterTask } from './filter.ts';

/** Evaluates JMESPath expressions in other processes, within limits of time and memory. */
export interface FilterRunner {
  /** Rejects with Cancelled. */
  run(task: FilterTask, cancellation: Cancellation): Promise<FilterResult>;
  close(): Promise<void>;
}

interface Waiting {
  readonly task: FilterTask;
  readonly settle: (result: FilterResult) => void;
}

interface FilterRunnerLimits extends FilterLimits {
  /** Maximum total characters of answers that wait for a process. */
  readonly waitingCharacters: number;
}

const LIMITS: FilterRunnerLimits = { taskMs: 5_000, heapMiB: 512, waitingCharacters: 256 * 1024 * 1024 };
const MAX_PROCESSES = 2;
/** Idle processes end after this time. */
const IDLE_MS = 10_000;

/**
 * Starts processes on demand and ends them when idle. Each expression runs in at most one process, so that a slow one
 * leaves the other process to the rest.
 */
export class FilterProcesses implements FilterRunner {
  readonly #limits: FilterRunnerLimits;
  readonly #processes = new Set<TaskProcess>();
  readonly #launcher: Launcher;
  readonly #waiting = new Set<Waiting>();
  readonly #running = new Set<string>();
  #waitingCharacters = 0;
  #idle: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(launcher: Launcher, limits: Partial<FilterRunnerLimits> = {}) {
    this.#launcher = launcher;
    this.#limits = { ...LIMITS, ...limits };
  }

  run(task: FilterTask, cancellation: Cancellation): Promise<FilterResult> {
    if (this.#isClosed) return Promise.resolve(err({ code: 'process_ended', cause: 'was ended' }));
    if (this.#waitingCharacters + task.text.length > this.#limits.waitingCharacters)
      return Promise.resolve(err({ code: 'queue_full' }));
    return new Promise((resolve, reject) => {
      const cancel = (): void => {
        this.#leave(waiting);
        reject(new Cancelled());
      };
      const settle = (result: FilterResult): void => {
        cancellation.removeListener(cancel);
        resolve(result);
      };
      const waiting: Waiting = { task, settle };
      if (cancellation.isCancelled) return cancel();
      cancellation.addListener(cancel);
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

  #start(): TaskProcess | undefined {
    if (this.#processes.size >= MAX_PROCESSES) return undefined;
    const started = new TaskProcess(
      this.#launcher.launch(getTaskProcessOptions(SCRIPT, this.#limits.heapMiB)),
    );
    this.#processes.add(started);
    void started.ended.then(() => {
      this.#processes.delete(started);
      if (!this.#isClosed) this.#assign();
    });
    return started;
  }

  async #evaluate({ task, settle }: Waiting, process: TaskProcess): Promise<void> {
    this.#running.add(task.expression);
    const outcome = await process.run([Buffer.from(`${JSON.stringify(task)}\n`)], this.#limits.taskMs);
    settle(
      outcome.kind === 'done'
        ? (outcome.result as FilterResult) // our own script wrote it
        : err(filterFaultOf(outcome.fault, this.#limits)),
    );
    this.#running.delete(task.expression);
    if (!this.#isClosed) this.#assign();
  }

  #endIdle(): void {
    for (const one of this.#processes) void one.close();
  }
}

interface FilterLimits {
  /** Time limit of one task. */
  readonly taskMs: number;
  /** Maximum heap size. */
  readonly heapMiB: number;
}

/** The build places it next to the program. */
const SCRIPT = fileURLToPath(new URL(`./filter-worker${extname(import.meta.url)}`, import.meta.url));

function filterFaultOf(fault: TaskFault, { heapMiB }: FilterLimits): FilterFault {
  switch (fault.code) {
    case 'too_slow':
      return fault;
    case 'out_of_memory':
      return { code: 'out_of_memory', limitMiB: heapMiB };
    case 'not_ready':
      return { code: 'process_ended', cause: 'did not start in time' };
    case 'closed':
      return { code: 'process_ended', cause: 'was ended, as Assay ends' };
    case 'process_ended':
      return { code: 'process_ended', cause: formatCause(fault.end) };
  }
}
