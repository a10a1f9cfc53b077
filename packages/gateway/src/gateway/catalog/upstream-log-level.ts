import { setTimeout as sleep } from 'node:timers/promises';
import { DEFAULT_LEVEL, chooseWiderLevel } from '../../core/log-levels.ts';
import { buildOwnRequest } from '@assay-mcp/protocol/message';
import { buildOwnUpstreamRequest, type Link } from '../ports/link.ts';

/** Maximum time in ms that a call waits for its server to learn the log level. */
const LIMIT_MS = 1_000;
const ANSWER_LIMIT_MS = 60_000;

/** The log level requested from a legacy server over one link. A modern server is told with each request. */
export class UpstreamLogLevel {
  readonly #isShared: boolean;
  #level: string | undefined;

  /** On a shared link no client may reduce what others receive, including clients that set no level. */
  constructor(isShared: boolean) {
    this.#isShared = isShared;
  }

  /** Resolves when the server was told. Undefined if nothing changed. */
  request(level: string, link: Link | undefined): Promise<void> | undefined {
    const wanted = this.#isShared ? chooseWiderLevel(level, this.#level ?? DEFAULT_LEVEL) : level;
    if (wanted === this.#level) return undefined;
    this.#level = wanted;
    return link && this.renew(link);
  }

  /** Sets the level again on a new link. */
  async renew(link: Link): Promise<void> {
    const level = this.#level;
    if (level === undefined || link.era === 'modern' || link.capabilities['logging'] === undefined) return;
    const asked = link.send(
      buildOwnUpstreamRequest(buildOwnRequest('logging/setLevel', { level }), ANSWER_LIMIT_MS),
    );
    await Promise.race([asked, sleep(LIMIT_MS, undefined, { ref: false })]);
  }
}
