import { extname } from 'node:path';
import { Thread } from '@assay-mcp/kit/platform/thread';
import type { FileOutline, OutlineJob } from './outline-file.ts';

const SCRIPT = new URL(`./outline-worker${extname(import.meta.url)}`, import.meta.url);
const YOUNG_MIB = 16;
/** Parsing ends by itself after 5 s at most; this ends a thread that hangs. */
const MAX_MS = 15_000;
/** The grammars in it take memory. */
const IDLE_MS = 30_000;
/** One look-up parses up to eight files. */
const MAX_WAITING = 128;

/** Undefined: the file could not be parsed, because of too many calls at once, or because it breaks the parser. */
export type OutlineOutcome = FileOutline | undefined;

/** Parses single files in a thread of its own, started when needed. */
export class Outliner {
  #thread: Thread | undefined;
  #idle: NodeJS.Timeout | undefined;
  #waiting = 0;

  async outline(job: OutlineJob): Promise<OutlineOutcome> {
    if (this.#waiting >= MAX_WAITING) return undefined;
    this.#waiting += 1;
    clearTimeout(this.#idle);
    const thread = (this.#thread ??= this.#start());
    const limit = setTimeout(() => void this.#end(thread), MAX_MS);
    try {
      const outcome = await thread.call('outline', [job]);
      return outcome.kind === 'answered' ? (outcome.value as FileOutline) : undefined; // Given by `outline-worker`.
    } finally {
      clearTimeout(limit);
      this.#waiting -= 1;
      if (this.#waiting === 0) this.#idle = setTimeout(() => void this.close(), IDLE_MS).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    if (this.#thread !== undefined) await this.#end(this.#thread);
  }

  async #end(thread: Thread): Promise<void> {
    if (this.#thread === thread) this.#thread = undefined;
    await thread.end();
  }

  #start(): Thread {
    const thread: Thread = new Thread({
      ...{ script: SCRIPT, given: undefined, youngMiB: YOUNG_MIB },
      onMessage: () => undefined,
      onLost: () => {
        if (this.#thread === thread) this.#thread = undefined;
      },
    });
    return thread;
  }
}
