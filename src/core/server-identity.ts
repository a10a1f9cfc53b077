import { shortHash } from './digest.ts';
import type { ServerSpec } from './server-spec.ts';

const HASH_DIGITS = 16;

/**
 * Which server it is, beside its name: a hash of its command with arguments, or of its URL, as these may hold secrets.
 * A server that is swapped under its name inherits nothing. Environment, headers and limits are no part of it.
 */
export function identityOf({ transport }: ServerSpec): string {
  const what = transport.kind === 'stdio' ? [transport.command, ...transport.args] : [transport.url.href];
  return shortHash(JSON.stringify(what), HASH_DIGITS);
}

/**
 * Who runs it: a hash of its command with arguments, or of its origin. What operators say of a server and its tools holds
 * for this, so that another path or a new key in its URL costs none of it.
 */
export function originIdentityOf({ transport }: ServerSpec): string {
  const what = transport.kind === 'stdio' ? [transport.command, ...transport.args] : [transport.url.origin];
  return shortHash(JSON.stringify(what), HASH_DIGITS);
}
