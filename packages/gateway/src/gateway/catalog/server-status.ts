import type { ListFaultView, ServerStatus } from '../../api/status.ts';
import { isReady } from '../../core/supervision.ts';
import { toCauseJson } from '../../core/cause.ts';
import { withoutUndefined } from '@assay-mcp/kit/json-object';
import type { Catalog } from './catalog.ts';
import type { ListFault } from './server-lists.ts';
import type { Server } from './server.ts';

/** All servers of the config in order, then the entries that cannot be started. */
export function listServerStatuses({ servers, rejected }: Catalog): readonly ServerStatus[] {
  const nowMs = performance.now();
  const refused = rejected.map(
    ({ name, cause }) => ({ name, state: 'refused', ...toCauseJson(cause) }) as const,
  );
  return [...servers.map((server) => serverStatus(server, nowMs)), ...refused];
}

/**
 * Why clients miss something of a server: it is down, or some of its lists could not be read. Undefined if nothing is
 * missing.
 */
export function findMissingReason({ name, state, cause, listFaults = [] }: ServerStatus): string | undefined {
  if (!isReady({ state })) return `server ${name} is ${state}: ${cause ?? 'it has not answered yet'}`;
  if (listFaults.length === 0) return undefined;
  return `server ${name} is ${state}, but ${listFaults.map(({ cause: why }) => why).join('; ')}`;
}

function serverStatus(
  { spec, state: serverState, link, inventory, lists }: Server,
  nowMs: number,
): ServerStatus {
  const named = { name: spec.name, state: serverState.state };
  switch (serverState.state) {
    case 'idle':
      return withoutUndefined({
        ...named,
        keptState: serverState.lost,
        tools: lists.isKnown('tools') ? inventory.tools.length : undefined,
      });
    case 'up':
      return withoutUndefined({
        ...named,
        era: link?.era,
        revision: link?.version,
        tools: lists.isKnown('tools') ? inventory.tools.length : undefined,
        listFaults: lists.faults.length > 0 ? lists.faults.map(faultView) : undefined,
      });
    case 'starting':
      return named;
    case 'stopped':
      return { ...named, ...toCauseJson(serverState.cause) };
    case 'restarting':
    case 'backoff':
    case 'refused':
    case 'unauthorized': {
      const { cause, failures, nextMs } = serverState;
      return {
        ...named,
        ...toCauseJson(cause),
        failures,
        nextTryMs: Math.max(Math.round(nextMs - nowMs), 0),
      };
    }
  }
}

function faultView({ list, cause }: ListFault): ListFaultView {
  return { list, ...toCauseJson(cause) };
}
