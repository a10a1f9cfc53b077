import { setTimeout as sleep } from 'node:timers/promises';
import { UNSAID_LEVEL, widerLevel } from '../../core/log-levels.ts';
import { ownRequest } from '../../protocol/message.ts';
import { ownUpstreamRequest, type Link } from '../ports/link.ts';

/** Longest time in ms that a call waits until its server has heard which log messages are wanted. */
const LIMIT_MS = 1_000;
const ANSWER_LIMIT_MS = 60_000;

/** From which level on a legacy server is asked for log messages over one link. A modern one is told with each request. */
export class UpstreamLogLevel {
  readonly #isShared: boolean;
  #level: string | undefined;

  /** On a link that several clients share none may narrow what another hears, nor what those want who said nothing. */
  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** Resolves when the server knows; undefined where it has nothing new to learn. */
  request(level: string, link: Link | undefined): Promise<void> | undefined {
    const wanted = this.#isShared ? widerLevel(level, this.#level ?? UNSAID_LEVEL) : level;
    if (wanted === this.#level) return undefined;
    this.#level = wanted;
    return link && this.renew(link);
  }

  /** Another link has come: its server has not heard of anything yet. */
  async renew(link: Link): Promise<void> {
    const level = this.#level;
    if (level === undefined || link.era === 'modern' || link.capabilities['logging'] === undefined) return;
    const asked = link.send(ownUpstreamRequest(ownRequest('logging/setLevel', { level }), ANSWER_LIMIT_MS));
    await Promise.race([asked, sleep(LIMIT_MS, undefined, { ref: false })]);
  }
}
