import type { IncomingMessage } from 'node:http';
import { isAboutTokens } from '../../core/challenge.ts';
import { OncePerPeriod } from '../../core/once-per-period.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Log } from '../../gateway/ports/log.ts';
import type { Meter } from '../../gateway/ports/telemetry.ts';

const MAX_CHARACTERS = 80;

/**
 * Counts and logs clients that were refused because they sent no valid token, so that the operator sees why a client shows no
 * tools.
 */
export class TokenNotices {
  readonly #log: Log;
  readonly #meter: Meter;
  readonly #clients = new OncePerPeriod(60_000, 100);

  constructor({ log, meter }: { readonly log: Log; readonly meter: Meter }) {
    this.#log = log;
    this.#meter = meter;
  }

  /** Counts a refused request, unless it is a browser's that has not signed in yet. */
  count({ headers }: IncomingMessage, refusal: Refusal): void {
    if (headers.authorization !== undefined && isAboutTokens(refusal))
      this.#meter.refusedClient(refusal.code);
  }

  /** The same for an MCP endpoint, where a client without a token counts too. */
  note({ headers, socket }: IncomingMessage, path: string, refusal: Refusal): void {
    if (isAboutTokens(refusal)) this.#meter.refusedClient(refusal.code);
    if (refusal.code !== 'TOKEN_REQUIRED') return;
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
