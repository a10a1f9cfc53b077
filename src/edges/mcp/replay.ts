import { Chain, type Link } from '../../core/chain.ts';

/** What an event costs beyond its bytes, by estimate. Events without bytes are bounded by it, too. */
const EVENT_COST = 256;

/** What is kept of one event, so that it can be said again. */
export interface KeptEvent {
  /** As it stands on the wire, its id included. */
  readonly bytes: Buffer;
  readonly replay: Replay;
  /** Called when it is given up to make room. */
  readonly onGivenUp: () => void;
  inReplay: Link<KeptEvent> | undefined;
  inAll: Link<KeptEvent> | undefined;
}

/** How many sessions may keep as much as one may; more share that. */
const SESSIONS_WORTH = 16;

/** What one subject keeps, in all its sessions. */
interface SubjectEvents {
  readonly events: Chain<KeptEvent>;
  bytes: number;
}

/** The events that all sessions of a door keep. When there is no more room the subject that keeps most gives up its oldest. */
export class ReplaySpace {
  readonly mostPerSession: number;
  readonly #mostBytes: number;
  readonly #bySubject = new Map<string, SubjectEvents>();
  #bytes = 0;

  constructor(mostPerSession: number) {
    this.mostPerSession = mostPerSession;
    this.#mostBytes = mostPerSession * SESSIONS_WORTH;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The replay of one session more of this subject. */
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
    while (this.#bytes > this.#mostBytes) {
      const oldest = this.#largest()?.events.oldest;
      if (oldest === undefined) break;
      oldest.replay.giveUp(oldest);
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

/** The events that one session keeps. When there is no more room its oldest is given up. */
export class Replay {
  readonly subject: string;
  readonly #space: ReplaySpace;
  readonly #events = new Chain<KeptEvent>();
  #bytes = 0;
  #isClosed = false;

  /** To be made by `ReplaySpace.open` alone. */
  constructor(space: ReplaySpace, subject: string) {
    this.#space = space;
    this.subject = subject;
  }

  /** Whether an event of so many bytes would find room at all. */
  hasRoomFor(length: number): boolean {
    return !this.#isClosed && length + EVENT_COST <= this.#space.mostPerSession;
  }

  /** To be asked for only where there is room. What is older may be given up for it. */
  keep(bytes: Buffer, onGivenUp: () => void): KeptEvent {
    const event: KeptEvent = { bytes, replay: this, onGivenUp, inReplay: undefined, inAll: undefined };
    event.inReplay = this.#events.add(event);
    this.#bytes += costOf(event);
    this.#space.add(event);
    while (this.#bytes > this.#space.mostPerSession && this.#events.oldest !== undefined)
      this.giveUp(this.#events.oldest);
    return event;
  }

  giveUp(event: KeptEvent): void {
    this.drop(event);
    event.onGivenUp();
  }

  /** Nobody will ask for it any more. */
  drop(event: KeptEvent): void {
    if (event.inReplay === undefined) return;
    this.#events.remove(event.inReplay);
    event.inReplay = undefined;
    this.#bytes -= costOf(event);
    this.#space.remove(event);
  }

  /** The session has ended: all is dropped, and nothing is kept from now on. */
  close(): void {
    this.#isClosed = true;
    while (this.#events.oldest !== undefined) this.drop(this.#events.oldest);
  }
}

function costOf({ bytes }: KeptEvent): number {
  return bytes.length + EVENT_COST;
}

/** To be kept: what came from a server is part of a larger chunk, which would be kept with it. */
export function ownCopy(pieces: readonly Buffer[]): Buffer {
  const copy = Buffer.allocUnsafeSlow(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) at += piece.copy(copy, at);
  return copy;
}
