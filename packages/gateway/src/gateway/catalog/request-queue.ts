import type { Cause } from '../../core/cause.ts';
import type { Cancellation } from '@assay-mcp/kit/cancellation';
import { chooseEviction } from '../../core/fair-share.ts';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Settings } from '../../core/settings.ts';

export type RequestQueueLimits = Pick<Settings, 'limits.requestsPerServer' | 'limits.queuePerServer'> &
  Partial<Pick<FixedLimits, 'backlogBytes'>>;

export interface RequestQueueOptions {
  readonly server: string;
  readonly limits: RequestQueueLimits;
  /** Bytes sent to the server that it has not read yet. */
  readonly unreadBytes: () => number;
}

/** A request that has to wait. */
export interface Wait {
  readonly subject: string;
  readonly bytes: number;
  /** Maximum wait in ms. */
  readonly timeoutMs: number;
  readonly cancellation: Cancellation;
}

interface Waiter {
  readonly subject: string;
  readonly bytes: number;
  /** Ends the wait, with a refusal or with undefined if the request is admitted. */
  readonly end: (refusal: Refusal | undefined) => void;
}

/** A server with this many unread bytes is not reading; requests wait here, where they can still be cancelled. */
const MAX_UNSENT_BYTES = 4 * 1024 * 1024;

/** One in this many places is reserved for subjects with fewer requests at the server than another. */
const PLACES_PER_KEPT = 8;
/** Number of idle subjects to remember: filling and emptying a Map for each call costs more (docs/adr/0004). */
const MAX_IDLE_SUBJECTS = 64;

/**
 * Limits the requests at one server and queues the rest, FIFO per subject and round-robin across subjects. Beyond that
 * it refuses with SERVER_BUSY (docs/adr/0014). The last free places go only to subjects with fewer requests at the
 * server than another, so that none fills it alone. While the server does not read, no request is admitted.
 */
export class RequestQueue {
  readonly #options: RequestQueueOptions;
  readonly #maxBytes: number;
  readonly #maxUnsent: number;
  #inFlight = 0;
  /** Requests in flight, by subject. */
  readonly #held = new Map<string, number>();
  /** By subject, in round-robin order. */
  readonly #queues = new Map<string, Set<Waiter>>();
  #waiting = 0;
  #waitingBytes = 0;
  /** Bytes of requests just admitted, which the server's link does not count yet. */
  #admittedBytes = 0;
  #isSettling = false;
  #stopped: Refusal | undefined;

  constructor(options: RequestQueueOptions) {
    this.#options = options;
    this.#maxBytes = options.limits.backlogBytes ?? FIXED_LIMITS.backlogBytes;
    this.#maxUnsent = Math.min(MAX_UNSENT_BYTES, this.#maxBytes / 2);
  }

  /** Requests that the server is working on. */
  get inFlight(): number {
    return this.#inFlight;
  }

  /** Requests in the queue. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Admits the request at once, or returns false. An admitted caller must call `leave` once. */
  enter(subject: string): boolean {
    const maxHeld = this.#maxHeld();
    // When the last places are reserved, the waiting subjects may not be entitled to them.
    if (this.#waiting > 0 && (maxHeld === Infinity || this.#queues.has(subject))) return false;
    if (this.#isFull() || this.#heldBy(subject) >= maxHeld) return false;
    this.#admit(subject);
    return true;
  }

  /** Waits for admission. Undefined: admitted, and the caller must call `leave` once. */
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
    if (held === 0 && this.#held.size > MAX_IDLE_SUBJECTS) this.#held.delete(subject);
    else this.#held.set(subject, held);
    if (this.#waiting > 0) this.advance();
  }

  /** Admits waiting requests. Call it when the server may have begun to read again. */
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

  /** Refuses all waiting and all later requests. */
  stop(refusal: Refusal): void {
    this.#stopped ??= refusal;
    for (const waiters of [...this.#queues.values()]) for (const waiter of waiters) waiter.end(refusal);
  }

  /** Requests admitted before have been written by now. */
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

  /** A subject with this many requests at the server is admitted no more. Infinity while unreserved places are free. */
  #maxHeld(): number {
    const max = this.#options.limits['limits.requestsPerServer'];
    if (max - this.#inFlight > max / PLACES_PER_KEPT) return Infinity;
    let maxHeld = 0;
    for (const held of this.#held.values()) if (held > maxHeld) maxHeld = held;
    return maxHeld;
  }

  #isFull(): boolean {
    const { limits, unreadBytes } = this.#options;
    return (
      this.#inFlight >= limits['limits.requestsPerServer'] ||
      unreadBytes() + this.#admittedBytes >= this.#maxUnsent
    );
  }

  /** A request that waits alone may be of any size; otherwise one above the limit could never run. */
  #tooMany(subject: string, bytes: number): Refusal | undefined {
    const { limits, unreadBytes } = this.#options;
    const { 'limits.queuePerServer': maxWaiting } = limits;
    const tooMany: Cause = { code: 'QUEUE_FULL', waiting: this.#waiting };
    const tooLarge: Cause = { code: 'QUEUE_TOO_LARGE' };
    if (this.#waiting >= maxWaiting && !this.#evictFor(subject, tooMany)) return this.#busy(tooMany);
    while (this.#waiting > 0 && unreadBytes() + this.#waitingBytes + bytes > this.#maxBytes)
      if (!this.#evictFor(subject, tooLarge)) return this.#busy(tooLarge);
    return undefined;
  }

  /** Evicts the oldest request of the subject with far more waiting requests. False if there is no such subject. */
  #evictFor(asking: string, cause: Cause): boolean {
    const counts = new Map([...this.#queues].map(([subject, { size }]) => [subject, size]));
    const { subject, mayEvictInUse: mayBeInUse } = chooseEviction(counts, asking);
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

  /**
   * The oldest request of the first eligible subject, which then moves to the end of the round. Undefined if none is
   * eligible.
   */
  #next(): Waiter | undefined {
    const maxHeld = this.#maxHeld();
    for (const [subject, waiters] of this.#queues) {
      if (this.#heldBy(subject) >= maxHeld) continue;
      this.#queues.delete(subject);
      this.#queues.set(subject, waiters);
      const [oldest] = waiters;
      return oldest;
    }
    return undefined;
  }

  #whyLate(waitedMs: number): Cause {
    return this.#options.unreadBytes() >= this.#maxUnsent
      ? { code: 'INPUT_NOT_READ', waitedMs }
      : { code: 'REQUESTS_IN_FLIGHT', inFlight: this.#inFlight, waitedMs };
  }

  #busy(cause: Cause): Refusal {
    return { code: 'SERVER_BUSY', server: this.#options.server, cause };
  }
}

const CANCELLED: Refusal = { code: 'CANCELLED' };
