import * as z from 'zod';
import { FOUND_TOOLS, TOOL_COSTS } from '../../api/toolset.ts';
import { ok } from '@assay-mcp/kit/result';
import { countToolTokens, sumToolTokens } from '../../gateway/services/configuration-tools/token-cost.ts';
import { getToolIndex, getEntryName } from '../../gateway/services/toolsets/tool-index.ts';
import { getToolSearch } from '../../gateway/services/tools/tool-search.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

/** Routes that help to choose tools: a ranked search, and the number of tokens each tool costs a model. */
export function searchRoutes(deps: AdminDeps): readonly Route[] {
  return [searchRoute(deps), costsRoute(deps)];
}

const MAX_RESULTS = 100;
const MAX_QUERY_LENGTH = 1_000;

const LIMIT = z
  .string()
  .regex(/^\d{1,3}$/, 'it must be a number from 1 to 100')
  .transform(Number)
  .refine((limit) => limit >= 1 && limit <= MAX_RESULTS, { error: 'it must be a number from 1 to 100' });

function searchRoute({ catalog, buildSearch }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/catalog/search',
      id: 'searchTools',
      summary: 'Search tools for a task, best match first',
      about: 'The same ranked search as `search_tools`, over the tools available to clients.',
      query: z.object({ query: z.string().min(1).max(MAX_QUERY_LENGTH), limit: LIMIT.optional() }),
      answer: {
        about: 'Names of tools, best match first.',
        schema: FOUND_TOOLS,
        example: { tools: ['linear.create_issue', 'linear.list_issues'] },
      },
    },
    async ({ query: { query, limit = MAX_RESULTS } }) => {
      const search = await getToolSearch(getToolIndex(catalog.all.listing('tools')), buildSearch);
      return ok({ kind: 'list', body: { tools: search(query).slice(0, limit).map(getEntryName) } });
    },
  );
}

/** The costs of tools, and of toolsets as they are now. */
export function costsRoute({
  toolsetService,
  loadTokenCounter,
}: Pick<AdminDeps, 'toolsetService' | 'loadTokenCounter'>): Route {
  return route(
    {
      method: 'get',
      path: '/catalog/costs',
      id: 'listToolCosts',
      summary: 'Count the tokens that each tool and each toolset costs a model',
      about:
        'Counts name, description and input schema in the o200k_base encoding; other models differ by a few percent. Notes are not included.',
      answer: {
        about: 'Token counts by namespaced name, and by name of the toolset.',
        schema: TOOL_COSTS,
        example: {
          tokens: { 'linear.create_issue': 212 },
          toolsets: { triage: { tools: 1, tokens: 212 } },
        },
      },
    },
    async () => {
      const listed = await toolsetService.listed();
      if (!listed.ok) return listed;
      const countTokens = await loadTokenCounter();
      const tokens: Record<string, number> = {};
      for (const [at, entry] of listed.value.all.entries()) {
        // Costs are cached. The first count of ten thousand tools takes seconds, so it yields to calls in between.
        if (at % TURN === TURN - 1) await new Promise((resolve) => setImmediate(resolve));
        tokens[getEntryName(entry)] = countToolTokens(entry.definition, countTokens);
      }
      const toolsets = [...listed.value.toolsets].map(
        ([name, entries]) =>
          [name, { tools: entries.length, tokens: sumToolTokens(entries, countTokens) }] as const,
      );
      return ok({ kind: 'list', body: { tokens, toolsets: Object.fromEntries(toolsets) } });
    },
  );
}

/** Number of tools counted between two yields to other work. */
const TURN = 50;
