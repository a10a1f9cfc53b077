import { queryOptions, useMutation, useQueryClient } from '@tanstack/react-query';
import type { SessionList } from '../../../gateway/src/api/session.ts';
import { read, write } from './api.ts';

/** Under `activity`, whose events include sign-ins and sign-outs. */
export const browsersQuery = queryOptions({
  queryKey: ['activity', 'browsers'],
  queryFn: async ({ signal }) => (await read<SessionList>('/sessions', signal)).sessions,
});

export function useSignOutBrowser() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => write<undefined>('DELETE', `/sessions/${encodeURIComponent(id)}`),
    onSettled: () => client.invalidateQueries(browsersQuery),
  });
}
