import type { LinkEvents } from '../../gateway/ports.ts';

/** The events of one attempt to open a link; an attempt that failed must not report the end of a link that never was. */
export class Attempt implements LinkEvents {
  readonly #events: LinkEvents;
  #isOver = false;

  constructor(events: LinkEvents) {
    this.#events = events;
  }

  changed(kind: Parameters<LinkEvents['changed']>[0]): void {
    if (!this.#isOver) this.#events.changed(kind);
  }

  ended(cause: string): void {
    if (!this.#isOver) this.#events.ended(cause);
  }

  /** From here on nothing is reported. */
  failed(): void {
    this.#isOver = true;
  }
}
