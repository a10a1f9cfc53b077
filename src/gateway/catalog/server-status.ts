import { type CauseCode, toCauseJson } from '../../core/cause.ts';
import type { ServerState } from '../../core/supervision.ts';
import type { Catalog } from './catalog.ts';
import type { ListFault } from './server-lists.ts';
import type { Server } from './server.ts';

/** The status of one server, for operators and monitoring. */
export interface ServerStatus {
  readonly name: string;
  readonly state: ServerState['state'];
  /** The first cause of the downtime. */
  readonly cause?: string;
  readonly causeCode?: CauseCode;
  /** Consecutive failures. */
  readonly failures?: number;
  /** Time in ms until the next attempt; 0 during the attempt. */
  readonly nextTryMs?: number;
  readonly era?: string;
  readonly revision?: string;
  /** Absent if the tools were never read. */
  readonly tools?: number;
  /** The lists that could not be read, and why. They show an earlier reading, or nothing. */
  readonly listFaults?: readonly ListFaultView[];
}

/** A list that could not be read, as reported. */
export interface ListFaultView {
  readonly list: ListFault['list'];
  readonly cause: string;
  readonly causeCode: CauseCode;
}

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
  if (state !== 'up') return `server ${name} is ${state}: ${cause ?? 'it has not answered yet'}`;
  if (listFaults.length === 0) return undefined;
  return `server ${name} is up, but ${listFaults.map(({ cause: why }) => why).join('; ')}`;
}

function serverStatus(
  { spec, state: serverState, link, inventory, lists }: Server,
  nowMs: number,
): ServerStatus {
  const named = { name: spec.name, state: serverState.state };
  switch (serverState.state) {
    case 'up':
      return {
        ...named,
        ...(link && { era: link.era, revision: link.version }),
        ...(lists.isKnown('tools') && { tools: inventory.tools.length }),
        ...(lists.faults.length > 0 && { listFaults: lists.faults.map(faultView) }),
      };
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
