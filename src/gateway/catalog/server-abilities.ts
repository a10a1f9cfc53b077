import type { Cancellation } from '../../core/cancellation.ts';
import { getPublicPrefix } from '../../core/names.ts';
import type { Refusal } from '../../core/refusal.ts';
import { declares } from '../../protocol/capabilities.ts';
import type { ListKind } from '../ports/link.ts';
import type { Server } from './server.ts';
import { getStateCause } from './wait-refusal.ts';

/** Whether a server has a capability, or a member of it. True if it has never declared any. */
export function mayHave({ capabilities }: Server, capability: string, member?: string): boolean {
  if (capabilities === undefined) return true;
  return member === undefined
    ? capabilities[capability] !== undefined
    : declares(capabilities, capability, member);
}

/** False for a server that is down and never listed anything: an empty list would be wrong. */
export function isListable({ state, capabilities }: Server): boolean {
  return capabilities !== undefined || !('nextMs' in state);
}

interface Servers {
  readonly servers: readonly Server[];
  readonly isAggregated: boolean;
}

/** The servers that never listed anything of a kind and may have a tool or prompt of this name. */
export function findUnseenServers(
  { servers, isAggregated }: Servers,
  kind: ListKind,
  name: string,
): readonly Server[] {
  return servers.filter(
    ({ spec, inventory }) =>
      inventory[kind].length === 0 &&
      (!isAggregated || (spec.prefix && name.startsWith(getPublicPrefix(spec.name)))),
  );
}

/** Waits while servers start for the first time and have not listed anything, each at most for its time limit. */
export async function waitForStart(
  servers: readonly Server[],
  kind: ListKind,
  cancellation: Cancellation,
): Promise<void> {
  const waiting = servers.map((server) =>
    cancellation.within(server.spec.timeoutMs, (giveUp) => server.settled(kind, giveUp)),
  );
  await Promise.all(waiting);
}

/** A server that is down and never listed anything may have what was requested; it is tried again. */
export function findUnseenRefusal(among: Servers, kind: ListKind, name: string): Refusal | undefined {
  const server = findUnseenServers(among, kind, name).find(({ link }) => link === undefined);
  if (server === undefined) return undefined;
  server.wake();
  return { code: 'SERVER_UNAVAILABLE', server: server.spec.name, cause: getStateCause(server.state) };
}
