import { findErrorLine } from '../../core/stderr-error.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Child } from '../../platform/child.ts';
import { LineSplitter } from '../../platform/lines.ts';
import { waitAtMost } from '../../platform/pause.ts';

/** Lines kept of one process; a stack trace or a usage text fits. */
const MAX_LINES = 100;
/** Bytes kept of one line. */
const MAX_LINE_BYTES = 500;
/** Longer lines are dropped. */
const LINE_LIMIT = 64 * 1024;
/** Time in ms to read what an exited process left in its pipe. */
const DRAIN_MS = 1_000;

/** Reads the stderr of a server: logs each line at debug, and keeps the last ones for the cause of a failure. */
export class StderrTail {
  readonly #lines: string[] = [];
  readonly #child: Child;
  #next = 0;

  constructor(child: Child, { server, log }: { readonly server: string; readonly log: Log }) {
    this.#child = child;
    const splitter = new LineSplitter(LINE_LIMIT, {
      line: (line) => {
        log.debug('server stderr', { server, stream: 'stderr', text: line.toString() });
        this.#keep(line.toString('utf8', 0, MAX_LINE_BYTES));
      },
      tooLong: () => log.debug('server stderr has a line that is too long', { server }),
    });
    child.onErrorOutput((chunk) => splitter.push(chunk));
    void child.errorOutputRead.then(() => splitter.end());
  }

  /** Resolves when all of an exited process was read, or it takes too long. */
  async read(): Promise<void> {
    await waitAtMost(this.#child.errorOutputRead, DRAIN_MS);
  }

  /** What the process wrote about its failure so far. */
  get errorLine(): string | undefined {
    return findErrorLine([...this.#lines.slice(this.#next), ...this.#lines.slice(0, this.#next)]);
  }

  #keep(line: string): void {
    this.#lines[this.#next] = line;
    this.#next = (this.#next + 1) % MAX_LINES;
  }
}
