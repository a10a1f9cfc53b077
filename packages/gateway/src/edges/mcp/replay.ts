import { Chain, type Link } from '../../core/chain.ts';

/** Estimated overhead of an event in bytes. It also limits the number of empty events. */
const EVENT_COST = 256;

/** An event kept for redelivery. */
export interface KeptEvent {
  /** As sent, including its id. */
  readonly bytes: Buffer;
  readonly replay: Replay;
  /** Called when the event is evicted to make room. */
  readonly onEvicted: () => void;
  inReplay: Link<KeptEvent> | undefined;
  inAll: Link<KeptEvent> | undefined;
}

/** The total limit is that of this many sessions. If there are more, they share it. */
const SESSIONS_WORTH = 16;

/** The events kept for one subject, across its sessions. */
interface SubjectEvents {
  readonly events: Chain<KeptEvent>;
  bytes: number;
}

/** The events kept for all sessions. When it is full, the subject with the most bytes loses its oldest event. */
export class ReplaySpace {
  readonly maxPerSession: number;
  readonly #maxBytes: number;
  readonly #bySubject = new Map<string, SubjectEvents>();
  #bytes = 0;

  constructor(maxPerSession: number) {
    this.maxPerSession = maxPerSession;
    this.#maxBytes = maxPerSession * SESSIONS_WORTH;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** A replay for another session of this subject. */
  open(subject: string): Replay {
    return new Replay(this, subject);
  }

  add(event: KeptEvent): void {
    const { subject } = event.replay;
    const kept = this.#bySubject.get(subject) ?? { events: new Chain<KeptEvent>(), bytes: 0 };
    this.#bySubject.set(subject, kept);
    event.inAll = kept.events.add(event);
    kept.bytes += costOf(event);
    this.#bytes += costOf(event);
    while (this.#bytes > this.#maxBytes) {
      const oldest = this.#largest()?.events.oldest;
      if (oldest === undefined) break;
      oldest.replay.evict(oldest);
    }
  }

  remove(event: KeptEvent): void {
    const { subject } = event.replay;
    const kept = this.#bySubject.get(subject);
    if (event.inAll === undefined || kept === undefined) return;
    kept.events.remove(event.inAll);
    event.inAll = undefined;
    kept.bytes -= costOf(event);
    this.#bytes -= costOf(event);
    if (kept.events.oldest === undefined) this.#bySubject.delete(subject);
  }

  #largest(): SubjectEvents | undefined {
    let largest: SubjectEvents | undefined;
    for (const kept of this.#bySubject.values()) if (kept.bytes > (largest?.bytes ?? 0)) largest = kept;
    return largest;
  }
}

/** The events kept for one session. When it is full, the oldest is evicted. */
export class Replay {
  readonly subject: string;
  readonly #space: ReplaySpace;
  readonly #events = new Chain<KeptEvent>();
  #bytes = 0;
  #isClosed = false;

  /** Use `ReplaySpace.open`. */
  constructor(space: ReplaySpace, subject: string) {
    this.#space = space;
    this.subject = subject;
  }

  /** Whether an event of this length fits at all. */
  hasRoomFor(length: number): boolean {
    return !this.#isClosed && length + EVENT_COST <= this.#space.maxPerSession;
  }

  /** Call only if `hasRoomFor` is true. May evict older events. */
  keep(bytes: Buffer, onEvicted: () => void): KeptEvent {
    const event: KeptEvent = { bytes, replay: this, onEvicted, inReplay: undefined, inAll: undefined };
    event.inReplay = this.#events.add(event);
    this.#bytes += costOf(event);
    this.#space.add(event);
    while (this.#bytes > this.#space.maxPerSession && this.#events.oldest !== undefined)
      this.evict(this.#events.oldest);
    return event;
  }

  evict(event: KeptEvent): void {
    this.drop(event);
    event.onEvicted();
  }

  /** Removes an event that is no longer needed. */
  drop(event: KeptEvent): void {
    if (event.inReplay === undefined) return;
    this.#events.remove(event.inReplay);
    event.inReplay = undefined;
    this.#bytes -= costOf(event);
    this.#space.remove(event);
  }

  /** The session has ended: drops all events and accepts no more. */
  close(): void {
    this.#isClosed = true;
    while (this.#events.oldest !== undefined) this.drop(this.#events.oldest);
  }
}

function costOf({ bytes }: KeptEvent): number {
  return bytes.length + EVENT_COST;
}

/** A copy to keep: a buffer from a server is a slice of a larger chunk and would keep all of it alive. */
export function copyPieces(pieces: readonly Buffer[]): Buffer {
  const copy = Buffer.allocUnsafeSlow(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) at += piece.copy(copy, at);
  return copy;
}
