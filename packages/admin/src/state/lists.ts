import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import type { AuditPage } from '../../../gateway/src/api/audit-event.ts';
import type { GatewayList } from '../../../gateway/src/api/server.ts';
import { read } from './api.ts';

export const gatewaysQuery = queryOptions({
  queryKey: ['gateways'],
  queryFn: async ({ signal }) => (await read<GatewayList>('/gateways', signal)).gateways,
  // The state of a server changes without an event.
  refetchInterval: 5_000,
});

export const activityQuery = infiniteQueryOptions({
  queryKey: ['activity'],
  queryFn: ({ pageParam, signal }) => read<AuditPage>(`/activity?limit=50${pageParam}`, signal),
  initialPageParam: '',
  getNextPageParam: ({ nextCursor }) =>
    nextCursor === undefined ? undefined : `&cursor=${encodeURIComponent(nextCursor)}`,
});
