import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../../core/refusal.ts';
import type { Log } from '../../gateway/ports/log.ts';

/** A client that keeps trying is logged once per period. */
const PERIOD_MS = 60_000;
/** Maximum number of clients remembered. Beyond it, all others share one log line per period. */
const MAX_CLIENTS = 100;
const MAX_CHARACTERS = 80;

/**
 * Logs clients that were refused because they sent no valid token, so that the operator sees why a client shows no
 * tools.
 */
export class TokenNotices {
  readonly #log: Log;
  readonly #mentionedMs = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  note({ headers, socket }: IncomingMessage, path: string, { code }: Refusal): void {
    if (code !== 'TOKEN_REQUIRED') return;
    const client = (headers['user-agent'] ?? '').slice(0, MAX_CHARACTERS);
    const address = socket.remoteAddress ?? '';
    const nowMs = performance.now();
    const key = this.#keyOf(`${address} ${client}`);
    const lastMs = this.#mentionedMs.get(key);
    if (lastMs !== undefined && nowMs - lastMs < PERIOD_MS) return;
    this.#mentionedMs.set(key, nowMs);
    const what = headers.authorization === undefined ? 'no token' : 'an invalid token';
    this.#log.warn(
      `a client was refused, as it sent ${what}; \`assay token create NAME\` makes one for its "Authorization" header`,
      { client, address, path: path.slice(0, MAX_CHARACTERS) },
    );
  }

  #keyOf(key: string): string {
    return this.#mentionedMs.size < MAX_CLIENTS || this.#mentionedMs.has(key) ? key : '';
  }
}
