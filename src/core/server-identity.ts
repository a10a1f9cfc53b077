import { shortHash } from './digest.ts';
import type { ServerSpec, Transport } from './server-spec.ts';

const HASH_DIGITS = 16;

/**
 * Which server it is, beside its name: a hash of its command with arguments, or of its URL, as these may hold secrets.
 * A server that is swapped under its name inherits nothing. Environment, headers and limits are no part of it.
 */
export function identityOf({ transport }: Pick<ServerSpec, 'transport'>): string {
  if (transport.kind === 'openapi') return hashOf([transport.kind, transport.document]);
  return hashOf(transport.kind === 'http' ? [transport.url.href] : whatRuns(transport));
}

/**
 * Who runs it: a hash of its command with arguments, or of its origin. What operators say of a server and its tools holds
 * for this, so that another path or a new key in its URL costs none of it.
 */
export function originIdentityOf({ transport }: Pick<ServerSpec, 'transport'>): string {
  if (transport.kind === 'openapi')
    return hashOf([transport.kind, URL.parse(transport.document)?.origin ?? transport.document]);
  return hashOf(transport.kind === 'http' ? [transport.url.origin] : whatRuns(transport));
}

function whatRuns(transport: Extract<Transport, { readonly kind: 'stdio' | 'local' }>): readonly string[] {
  // What operators make themselves has no other owner, whatever becomes of it.
  return transport.kind === 'stdio' ? [transport.command, ...transport.args] : [transport.kind];
}

function hashOf(what: readonly string[]): string {
  return shortHash(JSON.stringify(what), HASH_DIGITS);
}
