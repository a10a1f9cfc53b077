import type { IncomingMessage } from 'node:http';
import { OncePerPeriod } from '../../core/once-per-period.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Log } from '../../gateway/ports/log.ts';

const MAX_CHARACTERS = 80;

/**
 * Logs clients that were refused because they sent no valid token, so that the operator sees why a client shows no
 * tools.
 */
export class TokenNotices {
  readonly #log: Log;
  readonly #clients = new OncePerPeriod(60_000, 100);

  constructor(log: Log) {
    this.#log = log;
  }

  note({ headers, socket }: IncomingMessage, path: string, { code }: Refusal): void {
    if (code !== 'TOKEN_REQUIRED') return;
    const client = (headers['user-agent'] ?? '').slice(0, MAX_CHARACTERS);
    const address = socket.remoteAddress ?? '';
    if (this.#clients.admit(`${address} ${client}`, performance.now()) === undefined) return;
    const what = headers.authorization === undefined ? 'no token' : 'an invalid token';
    this.#log.warn(
      `a client was refused, as it sent ${what}; \`assay token create NAME\` makes one for its "Authorization" header`,
      { client, address, path: path.slice(0, MAX_CHARACTERS) },
    );
  }
}
