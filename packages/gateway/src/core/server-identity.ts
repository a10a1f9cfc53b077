import { computeShortHash } from '@assay-mcp/kit/digest';
import type { ServerSpec, Transport } from './server-spec.ts';
import { isSameFilter } from './tool-filter.ts';
import { getSourceKind } from './sources/source-kinds.ts';

/**
 * Identifies the server behind a name: a hash of what determines the code that runs, or of its URL (hashed, since these
 * may contain secrets). A swapped server inherits nothing. Headers, limits and other environment do not count.
 */
export function computeIdentity({ transport }: Pick<ServerSpec, 'transport'>): string {
  return hashOf(getSourceKind(transport).identity(transport));
}

/**
 * Identifies who runs the server: a hash of what determines the code that runs, or of its origin. Operators' settings
 * for a server and its tools are bound to it, so they survive another path or a new key in the URL.
 */
export function computeOriginIdentity({ transport }: Pick<ServerSpec, 'transport'>): string {
  return hashOf(getSourceKind(transport).origin(transport));
}

const HASH_DIGITS = 16;

function hashOf(parts: readonly string[]): string {
  return computeShortHash(JSON.stringify(parts), HASH_DIGITS);
}

/** Origin identity of the tools and modules that operators write. */
export const CUSTOM_SERVER_IDENTITY: string = computeOriginIdentity({
  transport: { kind: 'local', tools: [], modules: [] },
});

/** Whether two entries agree in everything that an operator can configure. */
export function isSameServer(one: ServerSpec, other: ServerSpec): boolean {
  return (
    one.name === other.name &&
    one.timeoutMs === other.timeoutMs &&
    one.prefix === other.prefix &&
    one.isolation === other.isolation &&
    one.keepAlive === other.keepAlive &&
    one.stopTimeoutMs === other.stopTimeoutMs &&
    one.trust === other.trust &&
    one.tags?.join('\n') === other.tags?.join('\n') &&
    JSON.stringify(one.resultLimits) === JSON.stringify(other.resultLimits) &&
    isSameFilter(one.toolFilter, other.toolFilter) &&
    one.isFromConfig === other.isFromConfig &&
    hasSameReferences(one, other) &&
    isAlike(one.transport, other.transport)
  );
}

/** Whether both use the same connection settings, so that a connection to one serves the other. */
export function isSameTransport(one: ServerSpec, other: ServerSpec): boolean {
  // An open link picks up such changes itself, so that calls of all other tools continue.
  if (getSourceKind(one.transport).isCustom && getSourceKind(other.transport).isCustom) return true;
  // The config file may connect to addresses that are not permitted for a registered server.
  return (
    one.isFromConfig === other.isFromConfig &&
    hasSameReferences(one, other) &&
    isAlike(one.transport, other.transport)
  );
}

/** A literal value may look like a reference. */
function hasSameReferences(one: ServerSpec, other: ServerSpec): boolean {
  return JSON.stringify(one.references) === JSON.stringify(other.references);
}

function isAlike(one: Transport, other: Transport): boolean {
  if (one === other) return true;
  const [before, after] = [one, other].map((transport) =>
    JSON.stringify([transport.kind, getSourceKind(transport).comparable(transport)]),
  );
  return before === after;
}
