import { setImmediate as turn } from 'node:timers/promises';
import type { ListClock } from '../../src/gateway/catalog/list-pace.ts';

/** A manual clock. */
export class HandClock implements ListClock {
  #nowMs = 0;
  #workMs = 0;
  readonly #timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  readonly nowMs = (): number => this.#nowMs;
  readonly workMs = (): number => this.#workMs;
  readonly after = (ms: number, callback: () => void): (() => void) => {
    const timer = { atMs: this.#nowMs + ms, callback };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  work(ms: number): void {
    this.#workMs += ms;
    this.#nowMs += ms;
  }

  /** Time passes while the machine works for other processes. */
  stall(ms: number): void {
    this.#nowMs += ms;
  }

  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (;;) {
      await allDone();
      const [next] = [...this.#timers].sort((one, other) => one.atMs - other.atMs);
      if (next === undefined || next.atMs > endMs) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.callback();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
  }
}

/** Nothing here waits for I/O, so a few turns of the event loop finish all work. */
async function allDone(): Promise<void> {
  for (let turns = 0; turns < 20; turns += 1) await turn();
}
