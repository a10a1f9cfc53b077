/** A place in the queue of starts. */
export interface StartTurn {
  /** Lets it start before all that nobody waits for. */
  prioritize(): void;
  /** Frees its slot, or leaves the queue. */
  end(): void;
}

interface Entry {
  readonly onStart: () => void;
  isUrgent: boolean;
}

/** Starts that wait for a slot: urgent ones first, each group in order of arrival. */
export class StartQueue {
  readonly #slots: number;
  #waiting: Entry[] = [];
  readonly #started = new Set<Entry>();

  constructor(slots: number) {
    this.#slots = slots;
  }

  /** Calls `onStart` when it has a slot, which may be at once. */
  enter(onStart: () => void, isUrgent: boolean): StartTurn {
    const entry: Entry = { onStart, isUrgent };
    this.#waiting.push(entry);
    this.#advance();
    return {
      prioritize: () => {
        if (entry.isUrgent || this.#started.has(entry)) return;
        entry.isUrgent = true;
        // Behind those that were urgent before.
        this.#waiting = [...this.#waiting.filter((one) => one !== entry), entry];
      },
      end: () => {
        if (this.#started.delete(entry)) this.#advance();
        else this.#waiting = this.#waiting.filter((one) => one !== entry);
      },
    };
  }

  #advance(): void {
    while (this.#started.size < this.#slots) {
      const next = this.#waiting.find(({ isUrgent }) => isUrgent) ?? this.#waiting[0];
      if (next === undefined) return;
      this.#waiting = this.#waiting.filter((one) => one !== next);
      this.#started.add(next);
      next.onStart();
    }
  }
}
