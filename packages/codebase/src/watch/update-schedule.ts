/** Editors save in several steps, and git writes many files, so an update begins after this many ms without changes. */
const QUIET_MS = 200;
/** An update begins at the latest this many ms after the first change, however many follow. */
const MAX_WAIT_MS = 10_000;
/**
 * The pause after an update is this many times as long as the update took, and as long again for each update of the last
 * minute, up to a maximum. This limits what a file costs that a program writes all the time.
 */
const PAUSE_FACTOR = 1;
const RECENT_MS = 60_000;
const MAX_PAUSE_MS = 10_000;
/** Time in ms until another attempt after a run of another process or a call, and after a failure. */
const RETRY_BUSY_MS = 1_000;
const RETRY_FAILED_MS = 30_000;
/** Each further failure doubles the time, up to this power of two. */
const MAX_DOUBLINGS = 4;

/** `busy`: another run goes first. */
export type UpdateEnd = 'done' | 'busy' | 'failed';

/** Decides when the next update of a repository begins. All times are in ms of one monotonic clock. */
export class UpdateSchedule {
  #firstMs: number | undefined;
  #lastMs = 0;
  #notBeforeMs = 0;
  /** When the updates of the last minute ended. */
  #recentMs: readonly number[] = [];
  #failures = 0;

  /** A change was seen. */
  note(nowMs: number): void {
    this.#firstMs ??= nowMs;
    this.#lastMs = nowMs;
  }

  /** When the next update begins; undefined if none is due. */
  get dueMs(): number | undefined {
    if (this.#firstMs === undefined) return undefined;
    const quietMs = Math.min(this.#lastMs + QUIET_MS, this.#firstMs + MAX_WAIT_MS);
    return Math.max(quietMs, this.#notBeforeMs);
  }

  /** An update begins. It covers all changes until now. */
  begin(): void {
    this.#firstMs = undefined;
  }

  end(how: UpdateEnd, { startedMs, nowMs }: { readonly startedMs: number; readonly nowMs: number }): void {
    if (how === 'done') {
      const recentMs = this.#recentMs.filter((endMs) => endMs > nowMs - RECENT_MS);
      const pauseMs = (nowMs - startedMs) * (PAUSE_FACTOR + recentMs.length);
      this.#notBeforeMs = nowMs + Math.min(pauseMs, MAX_PAUSE_MS);
      this.#recentMs = [...recentMs, nowMs];
      this.#failures = 0;
      return;
    }
    const failedMs = RETRY_FAILED_MS * 2 ** Math.min(this.#failures, MAX_DOUBLINGS);
    this.#notBeforeMs = nowMs + (how === 'busy' ? RETRY_BUSY_MS : failedMs);
    if (how === 'failed') this.#failures += 1;
    this.note(nowMs);
  }
}
