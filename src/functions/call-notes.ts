import { NOTES_PER_SECOND } from '../core/sources/function-messages.ts';
import type { Host } from './host.ts';
import { nowMs } from './kept.ts';

export interface Progress {
  readonly progress: number;
  readonly total: number | undefined;
  readonly message: string | undefined;
}

/** What one call tells beside its result, so often a second at most: of progress the last, of logs the first. */
export class CallNotes {
  readonly #id: number;
  readonly #host: Host;
  readonly #progressPace = new Pace();
  readonly #logPace = new Pace();
  #heldBack: Progress | undefined;
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(id: number, host: Host) {
    this.#id = id;
    this.#host = host;
  }

  progress(progress: Progress): void {
    this.#heldBack = progress;
    if (this.#progressPace.isDue()) this.#tellProgress();
    else this.#timer ??= setTimeout(() => this.#tellProgress(), SPAN_MS / NOTES_PER_SECOND).unref();
  }

  /** The data is made only where it is told. */
  log(level: string, data: () => unknown): void {
    if (!this.#logPace.isDue()) {
      this.#leftOut += 1;
      return;
    }
    this.#tellLeftOut();
    this.#host.tell({ kind: 'log', id: this.#id, level, data: data() });
  }

  /** Nothing more comes: tells what is left. */
  end(): void {
    this.#tellProgress();
    this.#tellLeftOut();
  }

  #tellProgress(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const last = this.#heldBack;
    this.#heldBack = undefined;
    if (last !== undefined) this.#host.tell({ kind: 'progress', id: this.#id, ...last });
  }

  #tellLeftOut(): void {
    const count = this.#leftOut;
    this.#leftOut = 0;
    if (count === 0) return;
    const data = `${count} notes were left out: a call tells ${NOTES_PER_SECOND} a second at most`;
    this.#host.tell({ kind: 'log', id: this.#id, level: 'warning', data });
  }
}

const SPAN_MS = 1_000;

/** Lets so many through at once, and as many in each second after. */
class Pace {
  #free = NOTES_PER_SECOND;
  #sinceMs: number = nowMs();

  isDue(): boolean {
    const now = nowMs();
    const regained = ((now - this.#sinceMs) / SPAN_MS) * NOTES_PER_SECOND;
    this.#free = Math.min(NOTES_PER_SECOND, this.#free + regained);
    this.#sinceMs = now;
    if (this.#free < 1) return false;
    this.#free -= 1;
    return true;
  }
}
