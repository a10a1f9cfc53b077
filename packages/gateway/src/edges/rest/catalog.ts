import * as z from 'zod';
import { CATALOG_REPORT, GATEWAY_STATUS } from '../../api/status.ts';
import { LINT_RULES } from '../../core/hints/lint.ts';
import { parseLintLevel } from '../../core/hints/lint-levels.ts';
import { ok } from '@assay-mcp/kit/result';
import type { GatewayReports } from '../../gateway/services/gateway-reports.ts';
import { route, type Route } from './route.ts';
import { REFRESH } from './refresh.ts';
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
  refresh: REFRESH,
});

/** The data that `assay tools`, `lint` and `status` print. */
export function catalogRoutes(deps: GatewayReports): readonly Route[] {
  return [catalogRoute(deps), statusRoute(deps)];
}

function catalogRoute({ report }: Pick<GatewayReports, 'report'>): Route {
  return route(
    {
      method: 'get',
      path: '/catalog',
      id: 'readCatalog',
      summary: 'Get all tools with their full definitions, and the state of all gateways',
      about: 'Not paged. Use `/tools` for paging, filters and changes.',
      query: QUERY,
      answer: { about: 'The report.', schema: CATALOG_REPORT },
    },
    async ({ identity, query: { server, rules, refresh } }) => {
      const given = rules?.split(',').flatMap((rule) => parseLintLevel(rule) ?? []) ?? [];
      const levels = Object.fromEntries(given.map(({ rule, level }) => [rule, level]));
      const read = await report({ server, levels, isFresh: refresh === 'true' });
      if (!read.ok) return read;
      const tools = read.value.tools.map((tool) => ({
        ...tool,
        hints: hideHintEvidence(identity, tool.hints),
      }));
      return ok({ kind: 'list', body: { ...read.value, tools } });
    },
  );
}

function statusRoute({ status }: Pick<GatewayReports, 'status'>): Route {
  return route(
    {
      method: 'get',
      path: '/status',
      id: 'readStatus',
      summary: 'Get the status of this process, its clients and servers, and pending reviews',
      answer: { about: 'The status.', schema: GATEWAY_STATUS },
    },
    async () => {
      const read = await status();
      return read.ok ? ok({ kind: 'list', body: read.value }) : read;
    },
  );
}
