import { later } from './turns.ts';

export interface InOrderOptions {
  /** Does what there is to do with one item; a promise where that takes several turns. */
  readonly take: (item: Buffer) => Promise<void> | undefined;
  /** Stops the source, or lets it go on: called when more waits than should, and when that is over. */
  readonly hold: (isHeld: boolean) => void;
}

/** What one peer may have done at once, in bytes; each item counts for some more. What is beyond waits for a later turn. */
const AT_ONCE = 128 * 1024;
const ITEM_BYTES = 256;
/** So much of one peer waits before its source is stopped. */
const MOST_WAITING = 1024 * 1024;

/** Takes what one peer sends in its order, and only so much in one turn of the event loop that others have theirs. */
export class InOrder {
  readonly #options: InOrderOptions;
  #waiting: Buffer[] = [];
  /** How many of these are done. */
  #done = 0;
  #waitingBytes = 0;
  /** How much may still be done at once. */
  #credit = AT_ONCE;
  /** Whether an item is under way, or the rest waits for its turn. */
  #isBusy = false;
  #isHeld = false;
  #isStopped = false;
  #whenIdle: (() => void)[] = [];

  constructor(options: InOrderOptions) {
    this.#options = options;
  }

  push(item: Buffer): void {
    if (!this.#isBusy && !this.#isStopped && this.#credit > 0 && this.#waiting.length === 0) {
      this.#take(item);
      return;
    }
    this.#waiting.push(item);
    this.#waitingBytes += costOf(item);
    if (!this.#isHeld && this.#waitingBytes > MOST_WAITING) this.#hold(true);
    if (!this.#isBusy && !this.#isStopped) this.#putOff();
  }

  /** Whoever goes on with what is taken here has enough of it for now, or has not any more. */
  hold(isHeld: boolean): void {
    this.#isStopped = isHeld;
    if (!isHeld && this.#waiting.length > 0 && !this.#isBusy) this.#putOff();
  }

  get isIdle(): boolean {
    return !this.#isBusy && this.#waiting.length === 0;
  }

  /** Calls back as soon as nothing waits any more, which may be at once. */
  whenIdle(listener: () => void): void {
    if (this.isIdle) listener();
    else this.#whenIdle.push(listener);
  }

  #take(item: Buffer): void {
    this.#credit -= costOf(item);
    const taking = this.#options.take(item);
    if (taking === undefined) return;
    this.#isBusy = true;
    void taking.finally(() => this.#goOn());
  }

  #putOff(): void {
    this.#isBusy = true;
    later(() => this.#goOn());
  }

  #goOn(): void {
    this.#isBusy = false;
    this.#credit = AT_ONCE;
    for (;;) {
      const item = this.#waiting[this.#done];
      if (item === undefined || this.#isBusyNow() || this.#isStopped || this.#credit <= 0) break;
      this.#done += 1;
      this.#waitingBytes -= costOf(item);
      this.#take(item);
    }
    if (this.#done * 2 > this.#waiting.length) {
      this.#waiting = this.#waiting.slice(this.#done);
      this.#done = 0;
    }
    if (this.#waiting.length > 0 && !this.#isBusyNow() && !this.#isStopped) this.#putOff();
    if (this.#isHeld && this.#waitingBytes < MOST_WAITING / 2) this.#hold(false);
    if (!this.isIdle) return;
    const listeners = this.#whenIdle;
    this.#whenIdle = [];
    for (const listener of listeners) listener();
  }

  #isBusyNow(): boolean {
    return this.#isBusy;
  }

  #hold(isHeld: boolean): void {
    this.#isHeld = isHeld;
    this.#options.hold(isHeld);
  }
}

function costOf({ length }: Buffer): number {
  return length + ITEM_BYTES;
}
