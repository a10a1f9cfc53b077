import { MAX_TIMER_MS } from '@assay-mcp/kit/timer';

export interface HeartbeatOptions {
  /** A silence shorter than this, in ms, is never too long. */
  readonly minSilenceMs: number;
  readonly onSilent: () => void;
}

/** A server is expected to go on with its heartbeat once it sent this many. */
const MIN_BEATS = 4;
const FACTOR = 3;
/** A comment, or an event that is no message, fits easily. */
const MAX_BEAT_BYTES = 256;

/**
 * Notices that the regular heartbeat of an event stream has stopped, as behind a proxy that keeps the connection open and
 * delivers nothing. A server without one may be silent for as long as it likes.
 */
export class StreamHeartbeat {
  readonly #options: HeartbeatOptions;
  #beats = 0;
  #lastMs: number | undefined;
  #longestGapMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  /** A part of the stream has arrived. */
  note(chunk: Buffer): void {
    const nowMs = performance.now();
    if (this.#lastMs !== undefined) this.#longestGapMs = Math.max(this.#longestGapMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    // Several may arrive together; each ends with an empty line.
    if (chunk.length <= MAX_BEAT_BYTES && !chunk.includes('"jsonrpc"'))
      this.#beats += Math.max(1, chunk.toString('latin1').split('\n\n').length - 1);
    if (this.#beats >= MIN_BEATS) this.#timer ??= this.#arm(this.#limitMs);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#beats = -Infinity;
  }

  get #limitMs(): number {
    return Math.max(this.#options.minSilenceMs, FACTOR * this.#longestGapMs);
  }

  /** One timer for many parts: it starts again for what is left. */
  #arm(waitMs: number): NodeJS.Timeout {
    return setTimeout(
      () => {
        const leftMs = (this.#lastMs ?? 0) + this.#limitMs - performance.now();
        if (leftMs > 0) this.#timer = this.#arm(leftMs);
        else this.#options.onSilent();
      },
      Math.min(waitMs, MAX_TIMER_MS),
    ).unref();
  }
}
