import { dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Cancellation, Cancelled } from '../../../core/cancellation.ts';
import { causeText } from '../../../core/cause-text.ts';
import { err } from '../../../core/result.ts';
import type { Child } from '../../../platform/child.ts';
import type { Launcher } from '../../../platform/launcher.ts';
import { LineSplitter } from '../../../platform/lines.ts';
import type { FilterResult, FromFilterWorker } from './filter-worker.ts';
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
  readonly #processes = new Set<FilterProcess>();
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

  #start(): FilterProcess | undefined {
    if (this.#processes.size >= MAX_PROCESSES) return undefined;
    const started = new FilterProcess(this.#launcher, this.#limits);
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

interface FilterLimits {
  /** Time limit of one task. */
  readonly taskMs: number;
  /** Maximum heap size. */
  readonly heapMiB: number;
}

/** The build places it next to the program. */
const SCRIPT = fileURLToPath(new URL(`./filter-worker${extname(import.meta.url)}`, import.meta.url));

const CLOSED: FilterFault = { code: 'process_ended', cause: 'was ended, as Assay ends' };

/** A process that is not ready by then is killed. */
const START_LIMIT_MS = 30_000;

/**
 * Evaluates filters one after the other in its own process. A thread would not do: a single allocation beyond a
 * thread's heap limit ends the whole program (docs/adr/0044).
 */
class FilterProcess {
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #limits: FilterLimits;
  readonly #child: Child;
  #task: { readonly line: Buffer; readonly settle: (result: FilterResult) => void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReady = false;
  #fault: FilterFault | undefined;
  #hasEnded = false;
  #ranOutOfHeap = false;

  constructor(launcher: Launcher, limits: FilterLimits) {
    this.#limits = limits;
    this.#child = launcher.launch({
      command: process.execPath,
      args: [`--max-old-space-size=${limits.heapMiB}`, '--disable-warning=ExperimentalWarning', SCRIPT],
      cwd: dirname(SCRIPT),
      env: {},
      inherits: 'language',
    });
    const lines = new LineSplitter(Number.POSITIVE_INFINITY, {
      line: (line) => this.#handle(JSON.parse(line.toString()) as FromFilterWorker), // our own script wrote it
      tooLong: () => undefined,
    });
    this.#child.onOutput((chunk) => lines.push(chunk));
    this.#child.onErrorOutput((chunk) => {
      this.#ranOutOfHeap ||= chunk.includes('JavaScript heap out of memory');
    });
    this.#startTimer(START_LIMIT_MS, { code: 'process_ended', cause: 'did not start in time' });
    this.ended = this.#child.ended.then((end) => this.#end(causeText(end)));
  }

  /** Whether it can take a task. */
  get isIdle(): boolean {
    return this.#task === undefined && this.#fault === undefined && !this.#hasEnded;
  }

  run(task: FilterTask): Promise<FilterResult> {
    return new Promise((settle) => {
      this.#task = { line: Buffer.from(`${JSON.stringify(task)}\n`), settle };
      if (this.#isReady) this.#send();
    });
  }

  close(): Promise<void> {
    if (this.#task !== undefined) this.#kill(CLOSED);
    this.#fault ??= CLOSED;
    return this.#child.end();
  }

  #handle(message: FromFilterWorker): void {
    clearTimeout(this.#timer);
    this.#isReady = true;
    if (message.kind === 'done') this.#settle(message.result);
    else if (this.#task !== undefined) this.#send();
  }

  #send(): void {
    const { taskMs } = this.#limits;
    this.#startTimer(taskMs, { code: 'too_slow', limitMs: taskMs });
    if (this.#task !== undefined) this.#child.write([this.#task.line]);
  }

  #startTimer(limitMs: number, fault: FilterFault): void {
    this.#timer = setTimeout(() => this.#kill(fault), limitMs);
  }

  #kill(fault: FilterFault): void {
    this.#fault ??= fault;
    this.#child.signal('SIGKILL');
  }

  #end(cause: string): void {
    clearTimeout(this.#timer);
    this.#hasEnded = true;
    const { heapMiB } = this.#limits;
    if (this.#ranOutOfHeap) this.#fault ??= { code: 'out_of_memory', limitMiB: heapMiB };
    this.#settle(err(this.#fault ?? { code: 'process_ended', cause }));
  }

  #settle(result: FilterResult): void {
    const task = this.#task;
    this.#task = undefined;
    task?.settle(result);
  }
}
