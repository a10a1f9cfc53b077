import { type Session, SESSION_LIST, type SessionList } from '../../api/session.ts';
import { ok } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

/** Routes about browsers that are signed in to the admin pages. */
export function sessionRoutes({ gate: { sessions } }: AdminDeps): readonly Route[] {
  return [
    route(
      {
        method: 'get',
        path: '/sessions',
        id: 'listSessions',
        summary: 'List the browsers signed in to the admin pages, most recently used first',
        scope: 'admin',
        answer: { about: 'The complete list.', schema: SESSION_LIST },
      },
      async ({ identity }) => {
        const listed = await sessions.list();
        const body: SessionList = {
          sessions: listed.map(({ createdMs, usedMs, ...session }): Session => ({
            ...session,
            createdAt: new Date(createdMs).toISOString(),
            usedAt: new Date(usedMs).toISOString(),
            isCurrent: session.id === identity.sessionId,
          })),
        };
        return ok({ kind: 'list', body });
      },
    ),
    route(
      {
        method: 'delete',
        path: '/sessions/{id}',
        id: 'endSession',
        summary: 'Sign a browser out',
        about:
          'Its open pages return to the sign-in page. Does nothing if the browser has already signed out.',
        answer: { status: 204, about: 'The browser is signed out.' },
      },
      async ({ identity, param }) => {
        const ended = await sessions.end(identity, { id: param('id') });
        return ended.ok ? ok({ kind: 'none' }) : ended;
      },
    ),
  ];
}
