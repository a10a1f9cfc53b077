import { failPeer, guardCallback, type Peer } from './guarded.ts';
import { runLater } from '../turns.ts';

export interface InOrderOptions {
  /** Processes one item; returns a promise if that takes several turns. */
  readonly take: (item: Buffer) => Promise<void> | undefined;
  /** Pauses or resumes the source, depending on how much is queued. */
  readonly hold: (isHeld: boolean) => void;
  /** The sender. If `take` fails, it is ended and its other items are dropped. */
  readonly peer: Peer;
}

/** Number of bytes one peer may have processed at once, plus a cost per item. The rest waits for a later turn. */
const AT_ONCE = 128 * 1024;
const ITEM_BYTES = 256;
/** Number of queued bytes at which the source is paused. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Processes one peer's input in order, with a bounded share of each turn of the event loop. */
export class InOrder {
  readonly #options: InOrderOptions;
  #waiting: Buffer[] = [];
  /** Number of items in `#waiting` already processed. */
  #done = 0;
  #waitingBytes = 0;
  /** How much may still be processed at once. */
  #credit = AT_ONCE;
  /** Whether an item is in progress or the rest is scheduled. */
  #isBusy = false;
  #isHeld = false;
  #isStopped = false;
  #hasFailed = false;
  #whenIdle: (() => void)[] = [];
  readonly #next: () => void;

  constructor(options: InOrderOptions) {
    this.#options = options;
    this.#next = guardCallback(options.peer, () => this.#goOn());
  }

  push(item: Buffer): void {
    if (this.#hasFailed) return;
    if (!this.#isBusy && !this.#isStopped && this.#credit > 0 && this.#waiting.length === 0) {
      this.#take(item);
      return;
    }
    this.#waiting.push(item);
    this.#waitingBytes += costOf(item);
    if (!this.#isHeld && this.#waitingBytes > MAX_WAITING_BYTES) this.#hold(true);
    if (!this.#isBusy && !this.#isStopped) this.#putOff();
  }

  /** Pauses or resumes processing, for a consumer that is full or ready again. */
  hold(isHeld: boolean): void {
    this.#isStopped = isHeld;
    if (!isHeld && this.#waiting.length > 0 && !this.#isBusy) this.#putOff();
  }

  get isIdle(): boolean {
    return !this.#isBusy && this.#waiting.length === 0;
  }

  /** Calls back once the queue is empty, possibly at once. */
  whenIdle(listener: () => void): void {
    if (this.isIdle) listener();
    else this.#whenIdle.push(listener);
  }

  #take(item: Buffer): void {
    this.#credit -= costOf(item);
    try {
      const taking = this.#options.take(item);
      if (taking === undefined) return;
      this.#isBusy = true;
      taking.catch((error: unknown) => this.#failed(error)).finally(this.#next);
    } catch (error) {
      this.#failed(error);
    }
  }

  #failed(error: unknown): void {
    this.#hasFailed = true;
    this.#waiting = [];
    this.#done = 0;
    this.#waitingBytes = 0;
    failPeer(this.#options.peer, error);
  }

  #putOff(): void {
    this.#isBusy = true;
    runLater(this.#next);
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
    if (this.#isHeld && this.#waitingBytes < MAX_WAITING_BYTES / 2) this.#hold(false);
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
