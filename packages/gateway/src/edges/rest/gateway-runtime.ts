import * as z from 'zod';
import { GATEWAY, GATEWAY_LOGS, type GatewayLogLine } from '../../api/server.ts';
import { ok } from '@assay-mcp/kit/result';
import type { RecentLine } from '../../gateway/ports/recent-lines.ts';
import { restartServer } from '../../gateway/services/servers/restart-server.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

/** Routes about the running server of a gateway, in the process that answers. */
export function gatewayRuntimeRoutes(deps: AdminDeps): readonly Route[] {
  return [logsRoute(deps), restartRoute(deps)];
}

const MAX_LINES = 200;

function logsRoute({ servers, recentLines }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/gateways/{id}/logs',
      id: 'listGatewayLogs',
      summary: 'Get the last lines that a gateway wrote to stderr and that Assay logged about it',
      about:
        'At most 200 lines of 1,000 characters, oldest first, since the responding process started. Secrets known to Assay are masked.',
      // Servers may write anything to stderr, including data of their calls.
      scope: 'admin',
      query: z.object({ after: z.coerce.number().int().min(0).optional() }),
      answer: {
        about: 'The lines, or with `after` only those after the line with this id.',
        schema: GATEWAY_LOGS,
        example: {
          lines: [
            {
              id: 7,
              at: '2026-11-22T09:30:00.000Z',
              level: 'info',
              from: 'stderr',
              text: 'Secure MCP Filesystem Server running on stdio',
            },
          ],
        },
      },
      refusals: ['SERVER_UNKNOWN'],
    },
    ({ param, query }) => {
      const found = servers.find(param('id'));
      if (!found.ok) return found;
      const lines = recentLines.of(found.value.name).filter(({ id }) => id > (query.after ?? 0));
      return ok({ kind: 'list', body: { lines: lines.slice(-MAX_LINES).map(lineView) } });
    },
  );
}

function lineView({ id, atMs, level, from, text }: RecentLine): GatewayLogLine {
  return { id, at: new Date(atMs).toISOString(), level, from, text };
}

function restartRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'post',
      path: '/gateways/{id}/restart',
      id: 'restartGateway',
      summary: 'Restart a gateway',
      about:
        'Restarts it in the responding process. Its calls in flight fail. Responds when the gateway is ready, or after 10 s.',
      answer: { about: 'The updated gateway.', schema: GATEWAY },
      refusals: ['SERVER_UNKNOWN', 'SERVER_UNAVAILABLE'],
    },
    async ({ param, identity }) => {
      const restarted = await restartServer(deps, param('id'), identity.subject);
      return restarted.ok ? ok({ kind: 'one', body: restarted.value }) : restarted;
    },
  );
}
