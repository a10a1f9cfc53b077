import { queryOptions, useQuery, type QueryClient } from '@tanstack/react-query';
import type { SessionUser } from '../../../gateway/src/api/session.ts';
import { ApiError, read, write } from './api.ts';
import { forgetDrafts, keepDrafts } from './drafts.ts';

/** Null if nobody is signed in. */
export const sessionQuery = queryOptions({
  queryKey: ['session'],
  queryFn: async ({ signal }): Promise<SessionUser | null> => {
    try {
      const session = await read<SessionUser>('/admin/session', signal);
      keepDrafts(session.subject);
      return session;
    } catch (error) {
      if (error instanceof ApiError && error.status === 401) return null;
      throw error;
    }
  },
  staleTime: Infinity,
  // The user may have signed in with a link in another tab, to have the scope `execute` too.
  refetchOnWindowFocus: ({ state }) => (state.data?.scopes.includes('execute') === true ? false : 'always'),
});

export async function signIn(
  client: QueryClient,
  proof: { readonly code: string } | { readonly token: string },
): Promise<void> {
  const session = await write<SessionUser>('POST', '/admin/sign-in', proof);
  keepDrafts(session.subject);
  forgetAll(client);
  // A response to a request from before the sign-in would still say that nobody is signed in.
  await client.cancelQueries({ queryKey: sessionQuery.queryKey });
  client.setQueryData(sessionQuery.queryKey, session);
}

export async function signOut(client: QueryClient, everywhere: boolean): Promise<void> {
  await write('POST', '/admin/sign-out', { everywhere });
  forgetDrafts();
  clearSession(client);
}

/** Removes all loaded data from the page; unsaved input is kept for the same user. */
export function clearSession(client: QueryClient): void {
  client.setQueryData(sessionQuery.queryKey, null);
  forgetAll(client);
}

function forgetAll(client: QueryClient): void {
  client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'session' });
}

/** Whether changes are allowed. */
export function useIsAdmin(): boolean {
  return useQuery(sessionQuery).data?.scopes.includes('admin') === true;
}

const NONE: SessionUser['scopes'] = [];

export function useScopes(): SessionUser['scopes'] {
  return useQuery(sessionQuery).data?.scopes ?? NONE;
}

/** Whether commands may be added. */
export function useMayExecute(): boolean {
  return useQuery(sessionQuery).data?.scopes.includes('execute') === true;
}

/** Removes the code of a sign-in link from the URL, so that it is not in the history, and returns it. */
export function takeCode(): string | undefined {
  const { pathname, hash } = window.location;
  if (!pathname.endsWith('/sign-in')) return undefined;
  window.history.replaceState(null, '', '/admin');
  return /^#code=([\w.]+)$/.exec(hash)?.[1];
}
