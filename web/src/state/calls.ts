import { infiniteQueryOptions } from '@tanstack/react-query';
import type { CallPage } from '../../../src/edges/rest/contract/calls.ts';
import { read } from './api.ts';

export type CallFilter = 'all' | 'ask' | 'refuse' | 'failed';

const QUERIES: Readonly<Record<CallFilter, string>> = {
  all: '',
  ask: '&decision=ask',
  refuse: '&decision=refuse',
  failed: '&outcome=error',
};

/** Newest first. */
export const callsQuery = (filter: CallFilter) =>
  infiniteQueryOptions({
    queryKey: ['calls', filter],
    queryFn: ({ pageParam, signal }) =>
      read<CallPage>(`/activity/calls?limit=50${QUERIES[filter]}${pageParam}`, signal),
    initialPageParam: '',
    getNextPageParam: ({ nextCursor }) =>
      nextCursor === undefined ? undefined : `&cursor=${encodeURIComponent(nextCursor)}`,
  });
