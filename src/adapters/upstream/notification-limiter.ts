import type { Log } from '../../gateway/ports/link.ts';

export interface NotificationLimiterOptions {
  readonly server: string;
  readonly log: Log;
  /** Whether the server takes what it is sent. */
  readonly isTaken: () => boolean;
}

/**
 * What is said to a server beside requests: cancellations, and answers to what it asks. No request bounds how many there
 * are, so a server that does not take them gets no more until it does.
 */
export class NotificationLimiter {
  readonly #options: NotificationLimiterOptions;
  #isTold = false;

  constructor(options: NotificationLimiterOptions) {
    this.#options = options;
  }

  mayGo(): boolean {
    const { server, log, isTaken } = this.#options;
    if (isTaken()) return true;
    if (!this.#isTold)
      log.warn('notifications to a server that does not read are dropped', {
        server,
        code: 'INPUT_NOT_READ',
      });
    this.#isTold = true;
    return false;
  }
}
