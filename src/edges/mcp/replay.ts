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

/** The events that all sessions of a door keep. When there is no more room the oldest of all is given up. */
export class ReplaySpace {
  readonly mostPerSession: number;
  readonly #mostBytes: number;
  readonly #all = new Chain<KeptEvent>();
  #bytes = 0;

  constructor(mostPerSession: number) {
    this.mostPerSession = mostPerSession;
    this.#mostBytes = mostPerSession * SESSIONS_WORTH;
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(event: KeptEvent): void {
    event.inAll = this.#all.add(event);
    this.#bytes += costOf(event);
    while (this.#bytes > this.#mostBytes && this.#all.oldest !== undefined)
      this.#all.oldest.replay.giveUp(this.#all.oldest);
  }

  remove(event: KeptEvent): void {
    if (event.inAll === undefined) return;
    this.#all.remove(event.inAll);
    event.inAll = undefined;
    this.#bytes -= costOf(event);
  }
}

/** The events that one session keeps. When there is no more room its oldest is given up. */
export class Replay {
  readonly #space: ReplaySpace;
  readonly #events = new Chain<KeptEvent>();
  #bytes = 0;
  #isClosed = false;

  constructor(space: ReplaySpace) {
    this.#space = space;
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
