import type { LinkEvents } from '../../gateway/ports.ts';

/** The events of one attempt to open a link. Nothing is reported before the link stands, nor of one that never did. */
export class Attempt implements LinkEvents {
  readonly asked: LinkEvents['asked'];
  readonly said: LinkEvents['said'];
  readonly #events: LinkEvents;
  #stands = false;
  #cause: string | undefined;

  constructor(events: LinkEvents) {
    this.#events = events;
    this.asked = events.asked;
    this.said = events.said;
  }

  changed(kind: Parameters<LinkEvents['changed']>[0]): void {
    if (this.#stands) this.#events.changed(kind);
  }

  updated(...told: Parameters<LinkEvents['updated']>): void {
    if (this.#stands) this.#events.updated(...told);
  }

  missed(): void {
    if (this.#stands) this.#events.missed();
  }

  drained(): void {
    if (this.#stands) this.#events.drained();
  }

  ended(cause: string): void {
    this.#cause ??= cause;
    if (this.#stands) this.#events.ended(cause);
  }

  /** The link has been handed out. If it ended on the way, that is reported now. */
  succeeded(): void {
    this.#stands = true;
    if (this.#cause !== undefined) this.#events.ended(this.#cause);
  }
}
