import { z } from '@hono/zod-openapi';
import { ok } from '../../core/result.ts';
import { SCOPES } from '../../core/subject.ts';
import type { AdminDeps } from './admin-deps.ts';
import type { SignedInBrowser, SignedInBrowsers } from '../../api/session.ts';
import { route, type Route } from './route.ts';

const SESSION = z
  .object({
    id: z.string(),
    subject: z.string().openapi({ description: 'The name of the token, or `operator`.' }),
    scopes: z.array(z.enum(SCOPES)),
    openedBy: z.enum(['link', 'token']),
    createdAt: z.iso.datetime(),
    usedAt: z.iso.datetime().openapi({ description: 'Time of the last use, within ten minutes.' }),
    isCurrent: z.boolean().openapi({ description: 'Whether it is the session of this request.' }),
  })
  .openapi('Session');

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
        answer: { about: 'The complete list.', schema: z.object({ sessions: z.array(SESSION) }) },
      },
      async ({ identity }) => {
        const listed = await sessions.list();
        const body: SignedInBrowsers = {
          sessions: listed.map(({ createdMs, usedMs, ...session }): SignedInBrowser => ({
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
