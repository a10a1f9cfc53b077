import { type Cause, toCauseJson, mapTexts } from '../../core/cause.ts';
import type { Log } from '../ports/log.ts';

interface OutageLogOptions {
  readonly server: string;
  readonly log: Log;
  readonly nowMs: () => number;
}

/** A cause that comes back after a recovery is logged again after this many ms. */
const REPEAT_AFTER_MS = 600_000;
/** An outage this long, in ms, is logged even if its cause was logged before. */
const LONG_OUTAGE_MS = 60_000;
/**
 * Maximum number of causes of one server that are logged as warnings until it recovers, or within `REPEAT_AFTER_MS`.
 */
const MAX_CAUSES = 8;

/**
 * Logs the failures of one server, or of one of its lists: each new cause once as a warning, repetitions at debug, and
 * the recovery once. A server that keeps failing therefore adds a few lines, however often it is retried.
 */
export class OutageLog {
  readonly #options: OutageLogOptions;
  /** When each cause was last logged as a warning. */
  readonly #loggedMs = new Map<string, number>();
  /** The current outage. */
  #sinceMs: number | undefined;
  #failures = 0;
  /** Whether the current outage was logged, so that its end is too. */
  #isLogged = false;

  constructor(options: OutageLogOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#sinceMs !== undefined;
  }

  failed(message: string, cause: Cause, fields: Readonly<Record<string, unknown>> = {}): void {
    const { server, log, nowMs } = this.#options;
    const now = nowMs();
    this.#sinceMs ??= now;
    this.#failures += 1;
    const all = { server, ...toCauseJson(cause), ...fields, failures: this.#failures };
    const key = causeKey(cause);
    const isKnown = this.#loggedMs.has(key) || this.#loggedMs.size >= MAX_CAUSES;
    const isLong = now - this.#sinceMs >= LONG_OUTAGE_MS;
    if (isKnown && (this.#isLogged || !isLong)) {
      log.debug(message, all);
      return;
    }
    this.#loggedMs.set(key, now);
    this.#isLogged = true;
    log.warn(message, all);
  }

  /** The server is up, or its list was read. */
  recovered(message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    const { server, log, nowMs } = this.#options;
    const now = nowMs();
    const outage = this.#sinceMs === undefined ? {} : { afterMs: Math.round(now - this.#sinceMs) };
    const isNews = this.#isLogged || this.#sinceMs === undefined;
    log[isNews ? 'info' : 'debug'](message, { server, ...fields, ...outage });
    this.#sinceMs = undefined;
    this.#failures = 0;
    this.#isLogged = false;
    for (const [key, loggedMs] of this.#loggedMs)
      if (now - loggedMs > REPEAT_AFTER_MS) this.#loggedMs.delete(key);
  }
}

/** Two failures have the same cause if they differ only in numbers within texts, such as times, ports and process ids. */
function causeKey(cause: Cause): string {
  const masked = mapTexts(cause, (text) => text.replace(/\b(?:0x)?[\da-f]*\d[\da-f-]*\b/gi, '#'));
  return JSON.stringify(masked);
}
