import { open } from 'node:fs/promises';
import { LineSplitter } from '@assay-mcp/kit/platform/lines';
import type { NetworkRequest, TracedEvent } from './observation.ts';
import { TRACE_BYTES } from './setup-script.ts';
import { StraceLines, type SystemCall } from './strace-lines.ts';
import { TracedEvents, type TraceContext } from './traced-events.ts';

export interface Trace {
  readonly events: readonly TracedEvent[];
  readonly network: readonly NetworkRequest[];
  /** Files that had been mapped into memory before, so that they can be written. */
  readonly mapped: readonly string[];
  readonly isComplete: boolean;
}

const MAX_EVENTS = 50_000;
const MAX_LINE_BYTES = 256 * 1024;
const CHUNK_BYTES = 1024 * 1024;
/** The first program executed is bubblewrap, the next is the server; calls before that do not count. */
const EXECUTIONS_OF_SETUP = 1;

/** Reads what strace has written since the last read. strace writes each call before the program continues. */
export class TraceReader {
  readonly #traced: TracedEvents;
  readonly #lines: StraceLines;
  readonly #splitter: LineSplitter;
  #offset = 0;
  #executions = 0;
  #events: TracedEvent[] = [];
  #network: NetworkRequest[] = [];
  /** Files whose content has been written since the last read; one event for each is enough. */
  readonly #written = new Set<string>();
  #isComplete = true;

  /** `executions`: number of programs executed during set-up besides bubblewrap. */
  constructor(context: TraceContext, executions = 0) {
    this.#executions = -executions;
    this.#traced = new TracedEvents(context);
    this.#lines = new StraceLines(
      (call) => this.#add(call),
      (pid) => this.#traced.exited(pid),
    );
    this.#splitter = new LineSplitter(MAX_LINE_BYTES, {
      line: (line) => this.#lines.line(line.toString('latin1')),
      tooLong: () => (this.#isComplete = false),
    });
  }

  async read(path: string): Promise<Trace> {
    const { mapped } = this.#traced;
    await this.#readFile(path);
    const isComplete =
      this.#isComplete &&
      this.#lines.unreadable === 0 &&
      this.#traced.unnamed === 0 &&
      this.#offset < TRACE_BYTES - MAX_LINE_BYTES;
    const trace = {
      events: this.#events.map((event) => this.#traced.marked(event)).toSorted((a, b) => a.atMs - b.atMs),
      network: this.#network.toSorted((a, b) => a.atMs - b.atMs),
      mapped,
      isComplete,
    };
    this.#events = [];
    this.#network = [];
    this.#written.clear();
    return trace;
  }

  async #readFile(path: string): Promise<void> {
    const file = await open(path).catch(() => undefined);
    if (file === undefined) return;
    try {
      const buffer = Buffer.alloc(CHUNK_BYTES);
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, buffer.length, this.#offset);
        if (bytesRead === 0) return;
        this.#offset += bytesRead;
        this.#splitter.push(Buffer.from(buffer.subarray(0, bytesRead)));
      }
    } finally {
      await file.close();
    }
  }

  #add(call: SystemCall): void {
    const isExecution = call.name.startsWith('execve') && call.result.startsWith('0');
    if (isExecution) this.#executions += 1;
    if (this.#executions <= EXECUTIONS_OF_SETUP) return;
    const { event, requests } = this.#traced.read(call);
    if (event?.kind === 'content' && event.error === undefined) {
      const written = `${event.isNumber === true} ${event.path}`;
      if (this.#written.has(written)) return;
      this.#written.add(written);
    }
    if (this.#events.length + this.#network.length >= MAX_EVENTS) {
      this.#isComplete = false;
      return;
    }
    if (event !== undefined) this.#events.push(event);
    this.#network.push(...requests);
  }
}
