import { setTimeout as sleep } from 'node:timers/promises';
import type { Memory } from '../ports/link.ts';
import type { Server } from './server.ts';

/** Maximum time in ms that the first lists wait for servers that are still starting. */
const FIRST_LIST_WAIT_MS = 5_000;

/**
 * Resolves when the first lists may be returned: when all servers have settled, after 5 s at the latest. Remembers
 * servers that were too late, so that the first lists after the next start do not wait for them again.
 */
export async function waitForFirstLists(servers: readonly Server[], memory: Memory): Promise<void> {
  const settled = Promise.all(servers.map((server) => server.settled()));
  await Promise.race([settled, sleep(FIRST_LIST_WAIT_MS, undefined, { ref: false })]);
  for (const { spec, state, lists } of servers)
    if ((state.state === 'starting' || state.state === 'up') && !lists.isKnown('tools'))
      memory.rememberAbsence(spec);
}
