import * as z from 'zod';
import { LINT_RULES } from '../../core/hints/lint.ts';
import { parseLintLevel } from '../../core/hints/lint-levels.ts';
import { ok } from '../../core/result.ts';
import { waitUntilSettled } from '../../gateway/services/servers/refreshed.ts';
import { buildGatewayStatus } from '../../gateway/services/gateway-status.ts';
import { buildCatalogReport } from '../../gateway/services/tools/catalog-report.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';
import { hideHintEvidence } from './without-evidence.ts';

const QUERY = z.object({
  server: z.string().optional().meta({ description: 'The name of a gateway.' }),
  rules: z
    .string()
    .refine((text) => text.split(',').every((rule) => parseLintLevel(rule) !== undefined), {
      error: 'it must name rules and levels: RULE=error, RULE=warning or RULE=off, separated by commas',
    })
    .optional()
    .meta({
      description: `Levels of lint rules other than those of the settings: \`missing-hints=off,contradiction=error\`. The rules are ${LINT_RULES.join(', ')}.`,
    }),
});

const REPORT = z
  .object({
    tools: z.array(z.record(z.string(), z.unknown())).meta({
      description: 'Each definition as its server sent it, with names, hints, lint findings and drift.',
    }),
    servers: z.array(z.record(z.string(), z.unknown())).meta({ description: 'As in `/health`.' }),
    recalled: z.array(z.string()),
    known: z.array(z.string()).meta({ description: 'The names of all gateways.' }),
    reports: z.array(z.string()),
    review: z
      .object({ tools: z.int(), dangerous: z.int(), suspended: z.int() })
      .optional()
      .meta({ description: 'Number of tools that need a review. Absent: none.' }),
  })
  .meta({ id: 'CatalogReport' });

/** The data that `assay tools`, `lint` and `status` print about a running gateway. */
export function catalogRoutes(deps: AdminDeps): readonly Route[] {
  return [catalogRoute(deps), statusRoute(deps)];
}

function catalogRoute({ catalog, servers, lintLevels }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/catalog',
      id: 'readCatalog',
      summary: 'Get all tools with their full definitions, and the state of all gateways',
      about: 'Not paged. Use `/tools` for paging, filters and changes.',
      query: QUERY,
      answer: { about: 'The report.', schema: REPORT },
    },
    async ({ identity, query: { server, rules } }) => {
      const given = rules?.split(',').flatMap((rule) => parseLintLevel(rule) ?? []) ?? [];
      const levels = {
        ...lintLevels,
        ...Object.fromEntries(given.map(({ rule, level }) => [rule, level])),
      };
      // Another command may have added a server just before.
      await servers.readAgain();
      await waitUntilSettled(Promise.all(catalog.servers.map((one) => one.settled('tools'))));
      const report = buildCatalogReport(catalog, { levels, server });
      const tools = report.tools.map((tool) => ({ ...tool, hints: hideHintEvidence(identity, tool.hints) }));
      return ok({ kind: 'list', body: { ...report, tools } });
    },
  );
}

const CLIENT = z.object({
  name: z.string(),
  version: z.string().optional(),
  era: z.enum(['legacy', 'modern']),
  endpoint: z.string(),
  subject: z.string(),
  idleMs: z
    .int()
    .optional()
    .meta({ description: 'Time since its last request. Absent while a request is open.' }),
});

const STATUS = z
  .object({
    running: z.object({
      url: z.string(),
      pid: z.int(),
      version: z.string(),
      uptimeMs: z.int(),
      configPath: z.string(),
      configFault: z.string().optional(),
      clients: z.array(CLIENT).meta({ description: 'Clients with a session or an open stream.' }),
    }),
    servers: z.array(z.record(z.string(), z.unknown())).meta({ description: 'As in `/health`.' }),
    equipped: z.string().optional(),
    pending: z
      .object({ tools: z.int(), instructions: z.int(), notes: z.int() })
      .meta({ description: 'Number that need a review.' }),
  })
  .meta({ id: 'Status' });

function statusRoute({ catalog, servers, toolsets, instructions, running }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/status',
      id: 'readStatus',
      summary: 'Get the status of this process, its clients and servers, and pending reviews',
      answer: { about: 'The status.', schema: STATUS },
    },
    async () => {
      await servers.readAgain();
      return ok({ kind: 'list', body: buildGatewayStatus({ catalog, toolsets, instructions }, running()) });
    },
  );
}
