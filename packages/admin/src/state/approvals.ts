import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { Approval, ApprovalPage, ApprovalScope } from '../../../gateway/src/api/approval.ts';
import { read, write } from './api.ts';

/** Waiting calls, oldest first, so that new ones never move what a person is about to click. */
export const pendingQuery = queryOptions({
  queryKey: ['approvals', 'pending'],
  queryFn: async ({ signal }) => {
    const { approvals } = await read<ApprovalPage>('/approvals?state=pending&limit=200', signal);
    return approvals
      .filter(({ state }) => state === 'pending')
      .sort((one, other) => one.createdAt.localeCompare(other.createdAt) || one.id.localeCompare(other.id));
  },
  // Requests also expire, without an event.
  refetchInterval: 15_000,
});

/** The latest answers. */
export const answeredQuery = queryOptions({
  queryKey: ['approvals', 'answered'],
  queryFn: async ({ signal }) => {
    const { approvals } = await read<ApprovalPage>('/approvals?limit=50', signal);
    return approvals.filter(({ state }) => state !== 'pending').slice(0, 20);
  },
});

export const approvalQuery = (id: string) =>
  queryOptions({
    queryKey: ['approvals', 'one', id],
    queryFn: ({ signal }) => read<Approval>(`/approvals/${encodeURIComponent(id)}`, signal),
  });

export type Answer =
  | { readonly kind: 'approve'; readonly scope: ApprovalScope }
  | { readonly kind: 'deny'; readonly reason: string };

export function answer({ id }: Pick<Approval, 'id'>, given: Answer): Promise<Approval> {
  const path = `/approvals/${encodeURIComponent(id)}`;
  if (given.kind === 'approve') return write('POST', `${path}/approve`, { scope: given.scope });
  return write('POST', `${path}/deny`, given.reason === '' ? {} : { reason: given.reason });
}

export function revoke({ id }: Pick<Approval, 'id'>): Promise<void> {
  return write('DELETE', `/approvals/${encodeURIComponent(id)}`);
}

/** Removes an answered request at once; the server's list follows. */
export function forget(client: QueryClient, id: string): void {
  client.setQueryData(pendingQuery.queryKey, (list) => list?.filter((one) => one.id !== id));
  void client.invalidateQueries({ queryKey: ['approvals'] });
}
