import { channel } from 'node:diagnostics_channel';
import { EventEmitter } from 'node:events';
import { syncBuiltinESMExports } from 'node:module';
import threads, { type Worker, type WorkerOptions } from 'node:worker_threads';

/*
 * Imported before the program in each test process that starts gateways. Starting a thread and loading the store into
 * it is two thirds of the cost of starting a gateway, so a thread whose store was closed serves the next one.
 */
const HOST = new URL('../fixtures/thread-host.ts', import.meta.url);
const STORE = /\/sqlite-worker\.[jt]s$/;
/** More would only waste memory. */
const MAX_IDLE = 4;

interface Idle {
  readonly kind: string;
  readonly worker: Worker;
}

const RealWorker = threads.Worker;
const idle: Idle[] = [];

class ReusedWorker extends EventEmitter {
  readonly #kind: string;
  readonly #worker: Worker;
  #closing: unknown;
  #isClosed = false;

  constructor(script: URL, options: WorkerOptions) {
    super();
    this.#kind = JSON.stringify([script.href, options.resourceLimits]);
    const found = idle.findIndex(({ kind }) => kind === this.#kind);
    const reused = found < 0 ? undefined : idle.splice(found, 1)[0]?.worker;
    this.#worker = reused ?? new RealWorker(HOST, { ...options, workerData: undefined });
    // As Node does for a new worker.
    if (reused !== undefined) channel('worker_threads').publish({ worker: reused });
    this.#worker.postMessage({ script: script.href, given: options.workerData });
    this.#worker.on('message', (message: { readonly id?: unknown }) => {
      if (this.#closing !== undefined && message.id === this.#closing) this.#isClosed = true;
      this.emit('message', message);
    });
    this.#worker.on('error', (error) => this.emit('error', error));
    this.#worker.on('exit', (code) => this.emit('exit', code));
  }

  postMessage(message: { readonly id: unknown; readonly method: string }): void {
    if (message.method === 'close') this.#closing = message.id;
    this.#worker.postMessage(message);
  }

  ref(): void {
    this.#worker.ref();
  }

  unref(): void {
    this.#worker.unref();
  }

  /** A thread that has not closed its store is terminated as usual. */
  async terminate(): Promise<number> {
    if (!this.#isClosed || idle.length >= MAX_IDLE) return this.#worker.terminate();
    this.#worker.unref();
    this.#worker.emit('exit', 1);
    for (const event of ['message', 'error', 'exit']) this.#worker.removeAllListeners(event);
    idle.push({ kind: this.#kind, worker: this.#worker });
    return 1;
  }
}

threads.Worker = new Proxy(RealWorker, {
  construct: (target, [script, options]: [URL | string, WorkerOptions?]) =>
    script instanceof URL && STORE.test(script.pathname)
      ? new ReusedWorker(script, options ?? {})
      : new target(script, options),
});
syncBuiltinESMExports();
