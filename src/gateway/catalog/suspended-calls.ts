import { countBySubject, whoMakesRoom } from '../../core/fair-share.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Settings } from '../../core/settings.ts';
import type { InterruptibleCall } from './interruptible-call.ts';

interface Parked {
  readonly call: InterruptibleCall;
  readonly subject: string;
  readonly timer: NodeJS.Timeout;
}

export type SuspendedCallLimits = Pick<Settings, 'limits.parkedCalls' | 'limits.questionMs'>;

/** What the handle of a parked call says: in which process it waits, and where there. */
export interface SuspendedCallId {
  readonly replica: string;
  readonly id: string;
}

/**
 * Calls of legacy servers that wait for a client to come again: the one thing that a request of the modern era finds by
 * memory. Each waits for so long; then its server is told that nobody answers.
 */
export class SuspendedCalls {
  /** Names this process among all that clients may reach. */
  readonly #replica: string;
  readonly #limits: SuspendedCallLimits;
  /** In the order in which they came. */
  readonly #parked = new Map<string, Parked>();
  #count = 0;

  constructor(replica: string, limits: SuspendedCallLimits) {
    this.#replica = replica;
    this.#limits = limits;
  }

  get size(): number {
    return this.#parked.size;
  }

  /** How long in ms a call is kept. */
  get keepsMs(): number {
    return this.#limits['limits.questionMs'];
  }

  /** Where all places are taken, the oldest call of the subject that has most makes room. Undefined where there is no place. */
  park(call: InterruptibleCall, subject: string): SuspendedCallId | undefined {
    const most = this.#limits['limits.parkedCalls'];
    if (most === 0) return undefined;
    if (this.#parked.size >= most) this.#makeRoomFor(subject);
    const id = String((this.#count += 1));
    const timer = setTimeout(() => this.#end(id, 'the client did not come again'), this.keepsMs).unref();
    this.#parked.set(id, { call, subject, timer });
    return { replica: this.#replica, id };
  }

  /** Takes a call out: each handle is good once. CALL_ELSEWHERE, CALL_EXPIRED. */
  take({ replica, id }: SuspendedCallId): Result<InterruptibleCall, Refusal> {
    if (replica !== this.#replica) return err({ code: 'CALL_ELSEWHERE' });
    const parked = this.#parked.get(id);
    if (parked === undefined) return err({ code: 'CALL_EXPIRED' });
    clearTimeout(parked.timer);
    this.#parked.delete(id);
    return ok(parked.call);
  }

  stop(): void {
    for (const id of [...this.#parked.keys()]) this.#end(id, 'Assay is shutting down');
  }

  #makeRoomFor(asking: string): void {
    const maker = whoMakesRoom(countBySubject(this.#parked.values()), asking);
    const oldest = [...this.#parked].find(([, { subject }]) => subject === maker.subject);
    if (oldest !== undefined) this.#end(oldest[0], 'too many calls wait for their clients');
  }

  #end(id: string, reason: string): void {
    const parked = this.#parked.get(id);
    if (parked === undefined) return;
    clearTimeout(parked.timer);
    this.#parked.delete(id);
    parked.call.end(reason);
  }
}
