import { countBySubject, whoMakesRoom } from '../../core/fair-share.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Settings } from '../../core/settings.ts';
import type { SuspendableCall } from './suspendable-call.ts';

interface SuspendedCall {
  readonly call: SuspendableCall;
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
  readonly #suspended = new Map<string, SuspendedCall>();
  #count = 0;

  constructor(replica: string, limits: SuspendedCallLimits) {
    this.#replica = replica;
    this.#limits = limits;
  }

  get size(): number {
    return this.#suspended.size;
  }

  /** How long in ms a call is kept. */
  get keepsMs(): number {
    return this.#limits['limits.questionMs'];
  }

  /** Where all places are taken, the oldest call of the subject that has most makes room. Undefined where there is no place. */
  add(call: SuspendableCall, subject: string): SuspendedCallId | undefined {
    const most = this.#limits['limits.parkedCalls'];
    if (most === 0) return undefined;
    if (this.#suspended.size >= most) this.#makeRoomFor(subject);
    const id = String((this.#count += 1));
    const timer = setTimeout(() => this.#end(id, 'the client did not come again'), this.keepsMs).unref();
    this.#suspended.set(id, { call, subject, timer });
    return { replica: this.#replica, id };
  }

  /** Takes a call out: each handle is good once. CALL_ELSEWHERE, CALL_EXPIRED. */
  take({ replica, id }: SuspendedCallId): Result<SuspendableCall, Refusal> {
    if (replica !== this.#replica) return err({ code: 'CALL_ELSEWHERE' });
    const suspended = this.#suspended.get(id);
    if (suspended === undefined) return err({ code: 'CALL_EXPIRED' });
    clearTimeout(suspended.timer);
    this.#suspended.delete(id);
    return ok(suspended.call);
  }

  stop(): void {
    for (const id of [...this.#suspended.keys()]) this.#end(id, 'Assay is shutting down');
  }

  #makeRoomFor(asking: string): void {
    const maker = whoMakesRoom(countBySubject(this.#suspended.values()), asking);
    const oldest = [...this.#suspended].find(([, { subject }]) => subject === maker.subject);
    if (oldest !== undefined) this.#end(oldest[0], 'too many calls wait for their clients');
  }

  #end(id: string, reason: string): void {
    const suspended = this.#suspended.get(id);
    if (suspended === undefined) return;
    clearTimeout(suspended.timer);
    this.#suspended.delete(id);
    suspended.call.end(reason);
  }
}
