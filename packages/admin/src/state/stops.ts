import { queryOptions } from '@tanstack/react-query';
import type { StopInput, StopList, StopView } from '../../../gateway/src/api/stop.ts';
import { read, write } from './api.ts';

/** What is stopped, with what the end of each stop releases. */
export const stopsQuery = queryOptions({
  queryKey: ['stops'],
  queryFn: async ({ signal }) => (await read<StopList>('/stops', signal)).stops,
  // Events announce changes; this is for a store that cannot be followed.
  refetchInterval: 5_000,
});

export function createStop(input: StopInput): Promise<StopView> {
  return write('POST', '/stops', input);
}

export function endStop({ id }: Pick<StopView, 'id'>): Promise<undefined> {
  return write('DELETE', `/stops/${encodeURIComponent(id)}`);
}

/** What an operator can stop with one control. */
export type Stoppable =
  | { readonly kind: 'all_calls' }
  | { readonly kind: 'server'; readonly server: string }
  /** `tool`: the namespaced name. `id`: the tool's id. */
  | { readonly kind: 'tool'; readonly tool: string; readonly id: string };

export function matchesTarget(stop: StopView, what: Stoppable): boolean {
  if (stop.kind !== what.kind) return false;
  if (what.kind === 'all_calls') return true;
  return what.kind === 'server' ? stop.server === what.server : stop.tool === what.tool;
}

export function toStopInput(what: Stoppable, reason: string): StopInput {
  const because = reason.trim() === '' ? {} : { reason: reason.trim() };
  if (what.kind === 'all_calls') return { allCalls: true, ...because };
  return what.kind === 'server' ? { server: what.server, ...because } : { tool: what.id, ...because };
}
