import type { ProgressToken, ServerContext } from '@modelcontextprotocol/server';

/** The progress of a long call, in the tool's own units, such as files. */
export interface ToolProgress {
  readonly done: number;
  /** Absent while it is unknown. */
  readonly total?: number | undefined;
  readonly message: string;
}

export type ReportProgress = (progress: ToolProgress) => void;

/** Clients give up on calls that are silent for long, so the last state is repeated at this interval in ms. */
const REPEAT_MS = 900;
/** Minimum time in ms between two notifications, so that a fast run does not flood the client. */
const MIN_INTERVAL_MS = 200;
/** `progress` must increase with each notification, even if nothing was done (2025-11-25, basic/utilities/progress). */
const LEAST_STEP = 0.001;

/** Sends a call's progress to a client that gave a token: at most five times a second, and at least once. */
export class ProgressReporter {
  readonly #token: ProgressToken | undefined;
  readonly #notify: ServerContext['mcpReq']['notify'];
  #latest: ToolProgress | undefined;
  #sentAtMs = -Infinity;
  #sent = -1;
  #timer: NodeJS.Timeout | undefined;

  constructor(token: ProgressToken | undefined, notify: ServerContext['mcpReq']['notify']) {
    this.#token = token;
    this.#notify = notify;
  }

  readonly report: ReportProgress = (progress) => {
    if (this.#token === undefined) return;
    this.#latest = progress;
    this.#timer ??= setInterval(() => this.#send(), REPEAT_MS);
    if (performance.now() - this.#sentAtMs >= MIN_INTERVAL_MS) this.#send();
  };

  stop(): void {
    clearInterval(this.#timer);
  }

  #send(): void {
    if (this.#latest === undefined || this.#token === undefined) return;
    const { done, total, message } = this.#latest;
    const progress = Math.max(done, this.#sent + LEAST_STEP);
    this.#sent = progress;
    this.#sentAtMs = performance.now();
    const params = {
      progressToken: this.#token,
      progress,
      ...(total !== undefined && total >= progress && { total }),
      message,
    };
    // The client may be gone; the call learns that from its signal.
    this.#notify({ method: 'notifications/progress', params }).catch(() => undefined);
  }
}
