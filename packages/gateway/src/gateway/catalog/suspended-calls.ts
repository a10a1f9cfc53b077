import { countBySubject, chooseEviction } from '../../core/fair-share.ts';
import { FIXED_LIMITS, type FixedLimits } from '../../core/fixed-limits.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Settings } from '../../core/settings.ts';
import type { SuspendableCall } from './suspendable-call.ts';

interface SuspendedCall {
  readonly call: SuspendableCall;
  readonly subject: string;
  readonly timer: NodeJS.Timeout;
}

export type SuspendedCallLimits = Pick<Settings, 'limits.questionMs'> &
  Partial<Pick<FixedLimits, 'suspendedCalls'>>;

/** A suspended call, and the process that holds it. */
export interface SuspendedCallId {
  readonly replica: string;
  /** Random and single-use. */
  readonly nonce: string;
}

/**
 * Calls to legacy servers that wait for their client to return: the only state that a modern request depends on. Each
 * waits for a limited time; then it is cancelled.
 */
export class SuspendedCalls {
  /** Identifies this process among all replicas that clients may reach. */
  readonly #replica: string;
  readonly #limits: SuspendedCallLimits;
  /** In order of suspension. */
  readonly #suspended = new Map<string, SuspendedCall>();

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

  /** Suspends a call. At the limit, ends the oldest call of the subject with the most. Undefined if the limit is 0. */
  add(call: SuspendableCall, subject: string): SuspendedCallId | undefined {
    const { suspendedCalls: max = FIXED_LIMITS.suspendedCalls } = this.#limits;
    if (max === 0) return undefined;
    if (this.#suspended.size >= max) this.#evictFor(subject);
    const nonce = crypto.randomUUID();
    const timer = setTimeout(() => this.#end(nonce, 'the client did not come again'), this.keepsMs).unref();
    this.#suspended.set(nonce, { call, subject, timer });
    return { replica: this.#replica, nonce };
  }

  /** Removes and returns a call: each handle works once. Errors: CALL_ELSEWHERE, CALL_EXPIRED. */
  take({ replica, nonce }: SuspendedCallId): Result<SuspendableCall, Refusal> {
    if (replica !== this.#replica) return err({ code: 'CALL_ELSEWHERE' });
    const suspended = this.#suspended.get(nonce);
    if (suspended === undefined) return err({ code: 'CALL_EXPIRED' });
    clearTimeout(suspended.timer);
    this.#suspended.delete(nonce);
    return ok(suspended.call);
  }

  stop(): void {
    for (const nonce of [...this.#suspended.keys()]) this.#end(nonce, 'Assay is shutting down');
  }

  #evictFor(asking: string): void {
    const candidate = chooseEviction(countBySubject(this.#suspended.values()), asking);
    const oldest = [...this.#suspended].find(([, { subject }]) => subject === candidate.subject);
    if (oldest !== undefined) this.#end(oldest[0], 'too many calls wait for their clients');
  }

  #end(nonce: string, reason: string): void {
    const suspended = this.#suspended.get(nonce);
    if (suspended === undefined) return;
    clearTimeout(suspended.timer);
    this.#suspended.delete(nonce);
    suspended.call.end(reason);
  }
}
