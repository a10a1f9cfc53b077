import { parentPort, Worker, workerData } from 'node:worker_threads';
import { setFlagsFromString } from 'node:v8';
import { guardCallback, type Peer } from './guarded.ts';

/** The outcome of a call: its answer, or a phrase that says why there is none. */
export type CallOutcome =
  | { readonly kind: 'answered'; readonly value: unknown }
  /** If it was sent, it may have been carried out. */
  | { readonly kind: 'lost'; readonly cause: string; readonly wasSent: boolean };

export interface ThreadOptions {
  /** URL of the script, which calls `answerCalls`. */
  readonly script: URL;
  /** Passed by `answerCalls` to the script. */
  readonly given: unknown;
  /** Memory limit for short-lived values, in MiB. V8's default would allow as much as for a whole program. */
  readonly youngMiB: number;
  /** Receives messages that the script sends on its own. */
  readonly onMessage: (message: unknown) => void;
  /** Called once if the thread ends unexpectedly, with the error that ended it, if any. */
  readonly onLost: (cause: string, error: unknown) => void;
}

interface Call {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

type Message =
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'bug'; readonly id: number; readonly error: unknown }
  | { readonly kind: 'message'; readonly value: unknown };

interface Waiting {
  readonly resolve: (outcome: CallOutcome) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs one of Assay's scripts in its own thread. It keeps the process alive only while calls are pending. */
export class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, Waiting>();
  #lastId = 0;
  #isEnding = false;
  #cause: string | undefined;

  constructor({ script, given, youngMiB, onMessage, onLost }: ThreadOptions) {
    this.#worker = new Worker(script, {
      workerData: given,
      resourceLimits: { maxYoungGenerationSizeMb: youngMiB },
    });
    this.#worker.unref();
    let fault: unknown;
    const peer: Peer = { name: 'thread', end: () => void this.#worker.terminate() };
    this.#worker.on(
      'message',
      guardCallback(peer, (message: Message) => {
        if (message.kind === 'message') onMessage(message.value);
        else this.#settle(message);
      }),
    );
    this.#worker.on('error', (error) => {
      fault = error;
    });
    this.#worker.on(
      'exit',
      guardCallback(peer, (code: number) => {
        this.#cause =
          fault instanceof Error ? `its thread failed: ${fault.message}` : `its thread ended (${code})`;
        for (const { resolve } of this.#waiting.values())
          resolve({ kind: 'lost', cause: this.#cause, wasSent: true });
        this.#waiting.clear();
        if (!this.#isEnding) onLost(this.#cause, fault);
      }),
    );
  }

  /** Calls are answered one by one, in order. Errors thrown by the script are rethrown. */
  call(method: string, args: readonly unknown[]): Promise<CallOutcome> {
    if (this.#cause !== undefined)
      return Promise.resolve({ kind: 'lost', cause: this.#cause, wasSent: false });
    const id = ++this.#lastId;
    const call: Call = { id, method, args };
    this.#worker.postMessage(call);
    if (this.#waiting.size === 0) this.#worker.ref();
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }

  /** Terminates the thread at once; pending calls are lost. */
  async end(): Promise<void> {
    this.#isEnding = true;
    await this.#worker.terminate();
  }

  #settle(message: Extract<Message, { id: number }>): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (this.#waiting.size === 0) this.#worker.unref();
    if (message.kind === 'bug') waiting?.reject(message.error);
    else waiting?.resolve({ kind: 'answered', value: message.value });
  }
}

/**
 * Has V8 return unused memory to the system. It does that by itself in small steps when a process is idle, but it
 * computes the rate of allocations at collections, and an idle process makes none: it would take the rate of the start
 * or of the last calls for the present one. The collection of young objects takes 2 ms
 * (docs/adr/0098).
 */
export async function releaseMemory(): Promise<void> {
  const { runInNewContext } = await import('node:vm');
  setFlagsFromString('--expose-gc');
  const gc: unknown = runInNewContext('globalThis.gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof gc === 'function') (gc as NodeJS.GCFunction)({ type: 'minor' });
}

/** The script's side of the thread. */
export interface ThreadSide {
  send(message: unknown): void;
  /** Runs work between two calls. */
  inTurn(work: () => Promise<void>): Promise<void>;
}

export type Answer = (method: string, args: readonly unknown[]) => Promise<unknown>;

/** Answers the calls of the `Thread` that runs this script, one by one. */
export function answerCalls(open: (given: unknown, side: ThreadSide) => Answer): void {
  const port = parentPort;
  if (port === null) throw new Error('This script runs in a thread only.');
  const post = (message: Message): void => port.postMessage(message);
  let turn = Promise.resolve();
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const done = turn.then(work);
    turn = done.catch(() => undefined);
    return done;
  };
  const answer = open(workerData, { send: (value) => post({ kind: 'message', value }), inTurn });
  port.on('message', ({ id, method, args }: Call) => {
    void inTurn(async () => {
      try {
        post({ kind: 'answer', id, value: await answer(method, args) });
      } catch (error) {
        post({ kind: 'bug', id, error });
      }
    });
  });
}
