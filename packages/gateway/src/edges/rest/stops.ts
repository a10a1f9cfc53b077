import { STOP, STOP_INPUT, STOP_LIST, type StopView } from '../../api/stop.ts';
import { ok } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

type Deps = Pick<AdminDeps, 'stops'>;

const EXAMPLE: StopView = {
  id: 'stop_1f3a5c7e9b0d2f4a6c8e',
  kind: 'server',
  server: 'linear',
  by: 'ada',
  at: '2026-11-29T09:30:00.000Z',
  reason: 'It deletes issues it should close.',
  releases: {
    tools: 2,
    names: ['linear.list_issues', 'linear.delete_issue'],
    destructiveCount: 1,
    destructive: ['linear.delete_issue'],
    unlisted: [],
  },
};

/** Routes of what operators stop: a tool, a server or all calls. */
export function stopRoutes(deps: Deps): readonly Route[] {
  return [listRoute(deps), createRoute(deps), endRoute(deps)];
}

function listRoute({ stops }: Deps): Route {
  return route(
    {
      method: 'get',
      path: '/stops',
      id: 'listStops',
      summary: 'List what is stopped, with the tools that can be called again once it is not',
      answer: { about: 'Oldest first.', schema: STOP_LIST, example: { stops: [EXAMPLE] } },
      refusals: ['RECORD_UNREADABLE'],
    },
    async () => {
      const listed = await stops.list();
      return listed.ok ? ok({ kind: 'list', body: listed.value }) : listed;
    },
  );
}

function createRoute({ stops }: Deps): Route {
  return route(
    {
      method: 'post',
      path: '/stops',
      id: 'createStop',
      summary: 'Stop a tool, a server or all calls',
      about:
        'Refuses calls from now on, on every replica within a second and after restarts, including those that wait for approval or in a queue. Calls that were sent are not cut. Tools stay listed. Stopping the same again returns the first stop.',
      body: {
        schema: STOP_INPUT,
        examples: {
          server: { server: 'linear', reason: 'It deletes issues it should close.' },
          tool: { tool: 'linear.delete_issue' },
          all: { allCalls: true },
        },
      },
      answer: { about: 'The stop.', schema: STOP, example: EXAMPLE },
      refusals: ['SERVER_UNKNOWN', 'TOOL_UNKNOWN', 'STOPS_LIMIT', 'RECORD_UNREADABLE', 'REVOCATION_UNSAVED'],
    },
    async ({ body, identity }) => {
      const stopped = await stops.stop(body, identity.subject);
      return stopped.ok ? ok({ kind: 'one', body: stopped.value }) : stopped;
    },
  );
}

function endRoute({ stops }: Deps): Route {
  return route(
    {
      method: 'delete',
      path: '/stops/{id}',
      id: 'endStop',
      summary: 'End a stop',
      about: 'Allows the tools in `releases` of the stop again. What another stop covers stays stopped.',
      answer: { status: 204, about: 'The stop has ended.' },
      refusals: ['STOP_UNKNOWN', 'RECORD_UNREADABLE'],
    },
    async ({ param, identity }) => {
      const ended = await stops.end(param('id'), identity.subject);
      return ended.ok ? ok({ kind: 'none' }) : ended;
    },
  );
}
