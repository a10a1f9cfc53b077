import type { Log } from '../../gateway/ports/log.ts';

export interface NotificationLimiterOptions {
  readonly server: string;
  readonly log: Log;
  /** Whether the server reads what it is sent. */
  readonly isTaken: () => boolean;
}

/**
 * Limits messages to a server that are not requests: cancellations and answers to server requests. Their number has no
 * other bound, so they are dropped while the server does not read.
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
