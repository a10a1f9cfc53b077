import { shortHash } from './digest.ts';
import type { ServerSpec, Transport } from './server-spec.ts';
import { sourceKind } from './sources/source-kinds.ts';

/**
 * Which server it is, beside its name: a hash of what decides which code runs, or of its URL, as these may hold secrets.
 * A server that is swapped under its name inherits nothing. Headers, limits and all other environment are no part of it.
 */
export function identityOf({ transport }: Pick<ServerSpec, 'transport'>): string {
  return hashOf(sourceKind(transport).identity(transport));
}

/**
 * Who runs it: a hash of what decides which code runs, or of its origin. What operators say of a server and its tools holds
 * for this, so that another path or a new key in its URL costs none of it.
 */
export function originIdentityOf({ transport }: Pick<ServerSpec, 'transport'>): string {
  return hashOf(sourceKind(transport).origin(transport));
}

const HASH_DIGITS = 16;

function hashOf(parts: readonly string[]): string {
  return shortHash(JSON.stringify(parts), HASH_DIGITS);
}

/** Whether two entries agree in everything that an operator can write. */
export function isSameServer(one: ServerSpec, other: ServerSpec): boolean {
  return (
    one.name === other.name &&
    one.timeoutMs === other.timeoutMs &&
    one.prefix === other.prefix &&
    one.isolation === other.isolation &&
    one.trust === other.trust &&
    one.isFromConfig === other.isFromConfig &&
    isAlike(one.transport, other.transport)
  );
}

/** Whether both are reached in the same way, so that a connection to one serves the other. */
export function isSameTransport(one: ServerSpec, other: ServerSpec): boolean {
  // The open link follows the change, so that the calls of all other tools go on.
  if (sourceKind(one.transport).isCustom && sourceKind(other.transport).isCustom) return true;
  // What the config file may connect to is not permitted to a registered server.
  return one.isFromConfig === other.isFromConfig && isAlike(one.transport, other.transport);
}

function isAlike(one: Transport, other: Transport): boolean {
  if (one === other) return true;
  const [before, after] = [one, other].map((transport) =>
    JSON.stringify([transport.kind, sourceKind(transport).comparable(transport)]),
  );
  return before === after;
}
