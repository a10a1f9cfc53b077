import type { Cause } from '../../core/cause.ts';
import type { Cancellation } from '../../core/cancellation.ts';
import { whoMakesRoom } from '../../core/fair-share.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Settings } from '../../core/settings.ts';

export type RequestQueueLimits = Pick<
  Settings,
  'limits.requestsPerServer' | 'limits.queuePerServer' | 'limits.backlogBytes'
>;

export interface RequestQueueOptions {
  readonly server: string;
  readonly limits: RequestQueueLimits;
  /** Bytes that were sent to the server and that it has not taken. */
  readonly untaken: () => number;
}

/** One request that has to wait. */
export interface Wait {
  readonly subject: string;
  readonly bytes: number;
  /** Longest wait in ms. */
  readonly timeoutMs: number;
  readonly cancellation: Cancellation;
}

interface Waiter {
  readonly subject: string;
  readonly bytes: number;
  /** Ends the wait: with a refusal, or without one, where it may go in. */
  readonly end: (refusal: Refusal | undefined) => void;
}

/** A server that leaves so many bytes does not read; what is for it waits here, where it can still be withdrawn. */
const MOST_UNTAKEN_BYTES = 4 * 1024 * 1024;

/** One in so many places at a server is kept for subjects that have fewer requests there than another. */
const PLACES_PER_KEPT = 8;
/** As many subjects without requests are remembered: a Map that is filled and emptied for each call costs more (docs/adr/0004). */
const MOST_IDLE_SUBJECTS = 64;

/**
 * In front of one server: lets so many requests in at a time, keeps so many more waiting, each subject's in the order in
 * which they came and subjects by turns, and refuses the rest with SERVER_BUSY (docs/adr/0014). The last free places go only
 * to subjects that have fewer requests at the server than another, so that none fills it alone. While the server does not
 * read, nobody gets in.
 */
export class RequestQueue {
  readonly #options: RequestQueueOptions;
  readonly #mostUntaken: number;
  #inFlight = 0;
  /** Requests that the server works on, by subject. */
  readonly #held = new Map<string, number>();
  /** By subject, in the order in which subjects have their turns. */
  readonly #queues = new Map<string, Set<Waiter>>();
  #waiting = 0;
  #waitingBytes = 0;
  /** Bytes of those just let in, which the server's link does not count yet. */
  #admittedBytes = 0;
  #isSettling = false;
  #stopped: Refusal | undefined;

  constructor(options: RequestQueueOptions) {
    this.#options = options;
    this.#mostUntaken = Math.min(MOST_UNTAKEN_BYTES, options.limits['limits.backlogBytes'] / 2);
  }

  /** Requests that the server works on. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Requests that wait for their turn. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Goes in at once; false where that cannot be. Who is in calls `leave`, once. */
  enter(subject: string): boolean {
    const mostHeld = this.#mostHeld();
    // Where the last places are kept, those that wait may be subjects that get none of them.
    if (this.#waiting > 0 && (mostHeld === Infinity || this.#queues.has(subject))) return false;
    if (this.#isFull() || this.#heldBy(subject) >= mostHeld) return false;
    this.#admit(subject);
    return true;
  }

  /** Waits for its turn. Undefined: it is in, and calls `leave`, once. */
  wait({ subject, bytes, timeoutMs, cancellation }: Wait): Promise<Refusal | undefined> {
    const refusal = cancellation.isCancelled ? CANCELLED : (this.#stopped ?? this.#tooMany(subject, bytes));
    if (refusal !== undefined) return Promise.resolve(refusal);
    return new Promise((resolve) => {
      const waiter: Waiter = {
        subject,
        bytes,
        end: (refused) => {
          clearTimeout(timer);
          cancellation.removeListener(cancelled);
          this.#remove(waiter);
          this.#waitingBytes -= bytes;
          resolve(refused);
        },
      };
      const timer = setTimeout(() => waiter.end(this.#busy(this.#whyLate(timeoutMs))), timeoutMs);
      const cancelled = (): void => waiter.end(CANCELLED);
      cancellation.addListener(cancelled);
      this.#add(waiter);
      this.#waitingBytes += bytes;
    });
  }

  leave(subject: string): void {
    this.#inFlight -= 1;
    const held = this.#heldBy(subject) - 1;
    if (held === 0 && this.#held.size > MOST_IDLE_SUBJECTS) this.#held.delete(subject);
    else this.#held.set(subject, held);
    if (this.#waiting > 0) this.advance();
  }

  /** Lets in who may; to be called when the server may have begun to read again. */
  advance(): void {
    while (this.#waiting > 0 && !this.#isFull()) {
      const waiter = this.#next();
      if (waiter === undefined) break;
      this.#admit(waiter.subject);
      this.#admittedBytes += waiter.bytes;
      waiter.end(undefined);
    }
    if (this.#admittedBytes > 0 && !this.#isSettling) setImmediate(() => this.#settled());
    this.#isSettling = this.#admittedBytes > 0;
  }

  /** All that waits is told why, and so is whoever comes later. */
  stop(refusal: Refusal): void {
    this.#stopped ??= refusal;
    for (const waiters of [...this.#queues.values()]) for (const waiter of waiters) waiter.end(refusal);
  }

  /** Who was let in has written by now. */
  #settled(): void {
    this.#isSettling = false;
    this.#admittedBytes = 0;
    this.advance();
  }

  #admit(subject: string): void {
    this.#inFlight += 1;
    this.#held.set(subject, this.#heldBy(subject) + 1);
  }

  #heldBy(subject: string): number {
    return this.#held.get(subject) ?? 0;
  }

  /** A subject with so many requests at the server gets no more in; Infinity while there are places for everybody. */
  #mostHeld(): number {
    const most = this.#options.limits['limits.requestsPerServer'];
    if (most - this.#inFlight > most / PLACES_PER_KEPT) return Infinity;
    let mostHeld = 0;
    for (const held of this.#held.values()) if (held > mostHeld) mostHeld = held;
    return mostHeld;
  }

  #isFull(): boolean {
    const { limits, untaken } = this.#options;
    return (
      this.#inFlight >= limits['limits.requestsPerServer'] ||
      untaken() + this.#admittedBytes >= this.#mostUntaken
    );
  }

  /** A request that is alone in waiting may be of any size, or none above the limit could ever be carried out. */
  #tooMany(subject: string, bytes: number): Refusal | undefined {
    const { limits, untaken } = this.#options;
    const { 'limits.queuePerServer': mostWaiting, 'limits.backlogBytes': mostBytes } = limits;
    const tooMany: Cause = { code: 'QUEUE_FULL', waiting: this.#waiting };
    const tooLarge: Cause = { code: 'QUEUE_TOO_LARGE' };
    if (this.#waiting >= mostWaiting && !this.#makeRoomFor(subject, tooMany)) return this.#busy(tooMany);
    while (this.#waiting > 0 && untaken() + this.#waitingBytes + bytes > mostBytes)
      if (!this.#makeRoomFor(subject, tooLarge)) return this.#busy(tooLarge);
    return undefined;
  }

  /** The subject with far more requests that wait loses its oldest; false where there is none. */
  #makeRoomFor(asking: string, cause: Cause): boolean {
    const counts = new Map([...this.#queues].map(([subject, { size }]) => [subject, size]));
    const { subject, mayBeInUse } = whoMakesRoom(counts, asking);
    const [oldest] = mayBeInUse ? (this.#queues.get(subject) ?? []) : [];
    oldest?.end(this.#busy(cause));
    return oldest !== undefined;
  }

  #add(waiter: Waiter): void {
    const waiters = this.#queues.get(waiter.subject) ?? new Set<Waiter>();
    this.#queues.set(waiter.subject, waiters);
    waiters.add(waiter);
    this.#waiting += 1;
  }

  #remove(waiter: Waiter): void {
    const waiters = this.#queues.get(waiter.subject);
    if (waiters?.delete(waiter) !== true) return;
    this.#waiting -= 1;
    if (waiters.size === 0) this.#queues.delete(waiter.subject);
  }

  /** The oldest of the first subject in turn that may have another place, which then has the last turn; undefined: none may. */
  #next(): Waiter | undefined {
    const mostHeld = this.#mostHeld();
    for (const [subject, waiters] of this.#queues) {
      if (this.#heldBy(subject) >= mostHeld) continue;
      this.#queues.delete(subject);
      this.#queues.set(subject, waiters);
      const [oldest] = waiters;
      return oldest;
    }
    return undefined;
  }

  #whyLate(waitedMs: number): Cause {
    return this.#options.untaken() >= this.#mostUntaken
      ? { code: 'INPUT_NOT_READ', waitedMs }
      : { code: 'REQUESTS_IN_FLIGHT', inFlight: this.#inFlight, waitedMs };
  }

  #busy(cause: Cause): Refusal {
    return { code: 'SERVER_BUSY', server: this.#options.server, cause };
  }
}

const CANCELLED: Refusal = { code: 'CANCELLED' };
