import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { CallCounts, CallPage } from '../../../gateway/src/api/call.ts';
import { read } from './api.ts';

/** The filters of the list, which are in the URL. */
export interface CallFilter {
  readonly tool?: string;
  readonly subject?: string;
  readonly decision?: 'allow' | 'ask' | 'refuse';
  readonly outcome?: string;
  /** Only calls of the last this many hours. */
  readonly hours?: number;
}

/** The query of both the list and its export. */
export function toCallParameters({ hours, ...facts }: CallFilter, nowMs: number): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(facts)) parameters.set(name, value);
  if (hours !== undefined) parameters.set('since', new Date(nowMs - hours * 3_600_000).toISOString());
  return parameters;
}

/** Newest first. */
export const callsQuery = (filter: CallFilter) =>
  infiniteQueryOptions({
    queryKey: ['calls', filter],
    queryFn: ({ pageParam, signal }) => {
      const parameters = toCallParameters(filter, Date.now());
      parameters.set('limit', '50');
      if (pageParam !== '') parameters.set('cursor', pageParam);
      return read<CallPage>(`/activity/calls?${parameters.toString()}`, signal);
    },
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** Counted by the store, so not refreshed at each call. */
export const callCountsQuery = queryOptions({
  queryKey: ['call-counts'],
  queryFn: ({ signal }) => read<CallCounts>('/activity/calls/counts?hours=12', signal),
  refetchInterval: 15_000,
});
