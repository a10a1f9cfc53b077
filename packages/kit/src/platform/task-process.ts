import { dirname } from 'node:path';
import type { Child, ChildOptions, ProcessEnd } from './child.ts';
import { LineSplitter } from './lines.ts';

/** One line of JSON each. A process first says that it is ready, then answers one task after another. */
export type FromTaskProcess =
  { readonly kind: 'ready' } | { readonly kind: 'done'; readonly result: unknown };

/** Why a task has no result. */
export type TaskFault =
  | { readonly code: 'too_slow'; readonly limitMs: number }
  | { readonly code: 'out_of_memory' | 'not_ready' | 'closed' }
  | { readonly code: 'process_ended'; readonly end: ProcessEnd };

export type TaskOutcome =
  { readonly kind: 'done'; readonly result: unknown } | { readonly kind: 'fault'; readonly fault: TaskFault };

/** How to start a script of Assay in a process of its own with a limited heap. */
export function getTaskProcessOptions(script: string, heapMiB: number): ChildOptions {
  return {
    command: process.execPath,
    args: [`--max-old-space-size=${heapMiB}`, '--disable-warning=ExperimentalWarning', script],
    cwd: dirname(script),
    env: {},
    inherits: 'language',
  };
}

/** A process that is not ready by then is killed. */
const START_LIMIT_MS = 30_000;

/**
 * Does tasks one after the other in its own process, which a fault ends. A thread would not do: a single allocation
 * beyond a thread's heap limit ends the whole program (docs/adr/0044).
 */
export class TaskProcess {
  /** Resolves when the process has ended. */
  readonly ended: Promise<void>;
  readonly #child: Child;
  #task: Task | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isReady = false;
  #fault: TaskFault | undefined;
  #hasEnded = false;
  #ranOutOfHeap = false;

  /** `maxLineBytes`: a process that sends a longer line is killed. */
  constructor(child: Child, maxLineBytes: number = Number.POSITIVE_INFINITY) {
    this.#child = child;
    const lines = new LineSplitter(maxLineBytes, {
      line: (line) => this.#handle(JSON.parse(line.toString()) as FromTaskProcess), // our own script wrote it
      tooLong: () => child.signal('SIGKILL'),
    });
    child.onOutput((chunk) => lines.push(chunk));
    child.onErrorOutput((chunk) => {
      this.#ranOutOfHeap ||= chunk.includes('out of memory');
    });
    this.#startTimer(START_LIMIT_MS, { code: 'not_ready' });
    this.ended = child.ended.then((end) => this.#end(end));
  }

  /** Whether it can take a task. */
  get isIdle(): boolean {
    return this.#task === undefined && this.#fault === undefined && !this.#hasEnded;
  }

  /** Sends the pieces of a task. `limitMs`: the process is killed if it takes longer, not counting its start. */
  run(pieces: readonly Buffer[], limitMs: number): Promise<TaskOutcome> {
    return new Promise((settle) => {
      this.#task = { pieces, limitMs, settle };
      if (this.#isReady) this.#send(this.#task);
    });
  }

  close(): Promise<void> {
    if (this.#task !== undefined) this.#kill({ code: 'closed' });
    this.#fault ??= { code: 'closed' };
    return this.#child.end();
  }

  /** Only the first `ready` counts: what a task reads may have taken the process over, to get more time by others. */
  #handle(message: FromTaskProcess): void {
    if (message.kind === 'ready' && !this.#isReady) {
      clearTimeout(this.#timer);
      this.#isReady = true;
      if (this.#task !== undefined) this.#send(this.#task);
    } else if (message.kind === 'done' && this.#task !== undefined) {
      clearTimeout(this.#timer);
      this.#settle({ kind: 'done', result: message.result });
    }
  }

  #send({ pieces, limitMs }: Task): void {
    this.#startTimer(limitMs, { code: 'too_slow', limitMs });
    this.#child.write(pieces);
  }

  #startTimer(limitMs: number, fault: TaskFault): void {
    this.#timer = setTimeout(() => this.#kill(fault), limitMs);
  }

  #kill(fault: TaskFault): void {
    this.#fault ??= fault;
    this.#child.signal('SIGKILL');
  }

  async #end(end: ProcessEnd): Promise<void> {
    clearTimeout(this.#timer);
    this.#hasEnded = true;
    await this.#child.errorOutputRead;
    if (this.#ranOutOfHeap) this.#fault ??= { code: 'out_of_memory' };
    this.#settle({ kind: 'fault', fault: this.#fault ?? { code: 'process_ended', end } });
  }

  #settle(outcome: TaskOutcome): void {
    const task = this.#task;
    this.#task = undefined;
    task?.settle(outcome);
  }
}

interface Task {
  readonly pieces: readonly Buffer[];
  readonly limitMs: number;
  readonly settle: (outcome: TaskOutcome) => void;
}
