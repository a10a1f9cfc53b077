import { FIXED_LIMITS, type FixedLimits } from './fixed-limits.ts';
import type { Refusal } from './refusal.ts';

/** A body of unknown length reserves memory in steps of this many bytes. */
const STEP_BYTES = 1024 * 1024;
/** The part of the budget that one subject may hold with more than one body. */
const MAX_SHARE = 3 / 4;
const MEMORY_PART = 1 / 8;
/** The largest body of the REST API always fits. */
const MIN_BYTES = 16 * 1024 * 1024;
/** When to retry. There is room again as soon as some request is answered. */
const WAIT_SECONDS = 5;

export interface BodyLimits extends Partial<Pick<FixedLimits, 'bodiesBytes'>> {
  readonly 'limits.bodyBytes': number;
}

/** The size of the budget in bytes. A body of the maximum size always fits into it. */
export function computeBodyBudget(limits: BodyLimits, memoryBytes: number): number {
  const { 'limits.bodyBytes': bodyBytes, bodiesBytes = FIXED_LIMITS.bodiesBytes } = limits;
  return Math.max(MIN_BYTES, bodyBytes, Math.min(bodiesBytes, Math.floor(memoryBytes * MEMORY_PART)));
}

/** The bodies of one subject. */
interface Share {
  readonly subject: string;
  bytes: number;
  bodies: number;
  /** In order of arrival. */
  readonly unfinished: BodyReservation[];
}

/**
 * The memory for request bodies of all subjects, from the arrival of a body until its request is answered. When it is
 * full, the subject with the largest share loses its youngest unfinished body, unless the one that needs room would
 * then have as much. One subject never gets all of it, so there is room for a call of another.
 */
export class BodyBudget {
  readonly limitBytes: number;
  /** The number of bodies that have not arrived in full; their reservations count it. */
  unfinished = 0;
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.limitBytes = limitBytes;
  }

  /** The refusal for a body without room. */
  get refusal(): Refusal {
    return { code: 'BODIES_FULL', limitBytes: this.limitBytes, waitSeconds: WAIT_SECONDS };
  }

  /** The number of bytes reserved. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Reserves memory for a body: its declared length if there is one, else a first step. Undefined if there is no room.
   * `onEvicted` is called when the body has to give way, at most once; its memory counts as released then.
   */
  reserve(
    subject: string,
    body: { readonly declaredBytes: number | undefined; readonly maxBytes: number },
    onEvicted: () => void,
  ): BodyReservation | undefined {
    const share = this.#shares.get(subject) ?? { subject, bytes: 0, bodies: 0, unfinished: [] };
    const reservation = new BodyReservation({ budget: this, share, maxBytes: body.maxBytes, onEvicted });
    if (!this.grow(reservation, body.declaredBytes ?? Math.min(STEP_BYTES, body.maxBytes))) return undefined;
    this.#shares.set(subject, share);
    share.bodies += 1;
    share.unfinished.push(reservation);
    this.unfinished += 1;
    return reservation;
  }

  /** Adds bytes to a reservation. False if there is no room, or if this body itself had to give way. */
  grow(reservation: BodyReservation, bytes: number): boolean {
    const { share } = reservation;
    while (!this.#fits(reservation, bytes)) {
      const victim = this.#victimFor(reservation, bytes);
      victim?.evict();
      if (victim === undefined || victim === reservation) return false;
    }
    reservation.bytes += bytes;
    share.bytes += bytes;
    this.#bytes += bytes;
    return true;
  }

  /** Returns the memory of a body; called by its reservation. */
  forget(reservation: BodyReservation): void {
    const { share, bytes } = reservation;
    share.bytes -= bytes;
    this.#bytes -= bytes;
    share.bodies -= 1;
    if (share.bodies === 0) this.#shares.delete(share.subject);
  }

  #fits(reservation: BodyReservation, bytes: number): boolean {
    return this.#bytes + bytes <= this.limitBytes && this.#fitsShare(reservation, bytes);
  }

  #fitsShare({ share, bytes: ownBytes }: BodyReservation, bytes: number): boolean {
    return share.bytes === ownBytes || share.bytes + bytes <= this.limitBytes * MAX_SHARE;
  }

  /** The body that gives way. Undefined if none may: then a new body is refused. */
  #victimFor(reservation: BodyReservation, bytes: number): BodyReservation | undefined {
    const { share } = reservation;
    const wantedBytes = share.bytes + bytes;
    let largest: Share | undefined;
    if (this.#fitsShare(reservation, bytes))
      for (const other of this.#shares.values())
        if (other.unfinished.length > 0 && other.bytes > (largest?.bytes ?? wantedBytes)) largest = other;
    // A body that is still growing must not wait: its subject gives up something itself.
    return (largest ?? (reservation.bytes > 0 ? share : undefined))?.unfinished.at(-1);
  }
}

interface ReservationOptions {
  readonly budget: BodyBudget;
  readonly share: Share;
  readonly maxBytes: number;
  readonly onEvicted: () => void;
}

/** The memory reserved for one body. */
export class BodyReservation {
  readonly share: Share;
  bytes = 0;
  readonly #options: ReservationOptions;
  #isReleased = false;

  constructor(options: ReservationOptions) {
    this.#options = options;
    this.share = options.share;
  }

  /** Reserves more if that is needed for this many bytes, at most `maxBytes`. False if the body has to give way. */
  holds(arrivedBytes: number): boolean {
    if (arrivedBytes <= this.bytes) return true;
    if (this.#isReleased) return false;
    const { budget, maxBytes } = this.#options;
    const steps = Math.ceil((arrivedBytes - this.bytes) / STEP_BYTES);
    return budget.grow(this, Math.min(steps * STEP_BYTES, maxBytes - this.bytes));
  }

  /** The body has arrived in full: it no longer gives way. */
  finish(): void {
    const { unfinished } = this.share;
    const at = unfinished.lastIndexOf(this);
    if (at < 0) return;
    unfinished.splice(at, 1);
    this.#options.budget.unfinished -= 1;
  }

  evict(): void {
    this.release();
    this.#options.onEvicted();
  }

  /** The body is no longer in memory. */
  release(): void {
    if (this.#isReleased) return;
    this.#isReleased = true;
    this.finish();
    this.#options.budget.forget(this);
  }
}
