import { dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { err } from '../../../core/result.ts';
import { Child } from '../../../platform/child.ts';
import { LineSplitter } from '../../../platform/lines.ts';
import type { FilterFault, FilterTask } from './filter.ts';
import type { FilterResult, FromFilterWorker } from './filter-worker.ts';

export interface FilterLimits {
  /** Longest time for one task. */
  readonly taskMs: number;
  /** Most memory of the heap. */
  readonly heapMiB: number;
}

/** The build puts it beside the program. */
const SCRIPT = fileURLToPath(new URL(`./filter-worker${extname(import.meta.url)}`, import.meta.url));

const CLOSED: FilterFault = { code: 'process_ended', cause: 'was ended, as Assay ends' };

/** A process that is not ready by then is given up. */
const START_LIMIT_MS = 30_000;

/**
 * Evaluates one filter after the other in a process of its own. A thread would not do: a single allocation beyond the heap
 * limit of a thread ends the whole program (docs/adr/0044).
 */
export class FilterProcess {
  /** Once it is gone. */
  readonly ended: Promise<void>;
  readonly #limits: FilterLimits;
  readonly #child: Child;
  #task: { readonly line: Buffer; readonly settle: (result: FilterResult) => void } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReady = false;
  #fault: FilterFault | undefined;
  #hasEnded = false;
  #ranOutOfHeap = false;

  constructor(limits: FilterLimits) {
    this.#limits = limits;
    this.#child = new Child({
      command: process.execPath,
      args: [`--max-old-space-size=${limits.heapMiB}`, '--disable-warning=ExperimentalWarning', SCRIPT],
      cwd: dirname(SCRIPT),
      env: {},
      inherits: 'language',
    });
    const lines = new LineSplitter(Number.POSITIVE_INFINITY, {
      line: (line) => this.#hear(JSON.parse(line.toString()) as FromFilterWorker), // our own script wrote it
      tooLong: () => undefined,
    });
    this.#child.onOutput((chunk) => lines.push(chunk));
    this.#child.onErrorOutput((chunk) => {
      this.#ranOutOfHeap ||= chunk.includes('JavaScript heap out of memory');
    });
    this.#startTimer(START_LIMIT_MS, { code: 'process_ended', cause: 'did not start in time' });
    this.ended = this.#child.ended.then((cause) => this.#end(cause));
  }

  /** It takes a task when the one before is done. */
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

  #hear(message: FromFilterWorker): void {
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
