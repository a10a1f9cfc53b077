import { z } from '@hono/zod-openapi';
import { err, ok } from '../../core/result.ts';
import { hasTool, TOOLSET_LIMITS, type Toolset } from '../../core/toolset.ts';
import { withAccepted } from '../../gateway/services/toolsets/review.ts';
import { select, type SelectOptions } from '../../gateway/services/toolsets/selection.ts';
import { indexOf, nameIn, refIdIn } from '../../gateway/services/toolsets/tool-index.ts';
import type { Changing } from '../../gateway/services/toolsets/toolsets.ts';
import { UNSERVED_TEXTS, unservedIn, type UnservedReason } from '../../gateway/services/toolsets/unserved.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

/** Routes about the current state of a toolset, which depends on its servers: tools that are new or not served. */
export function toolsetStateRoutes(deps: AdminDeps): readonly Route[] {
  return [unservedRoute(deps), newToolsRoute(deps), acceptRoute(deps)];
}

const UNSERVED = z.object({
  unserved: z.array(
    z.object({ tool: z.string(), reason: z.enum(Object.keys(UNSERVED_TEXTS) as [UnservedReason]) }),
  ),
});

/** Separate from the toolset, whose ETag must not change when a server starts or stops. */
function unservedRoute({ toolsets, catalog, preferences }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/toolsets/{name}/unserved',
      id: 'listUnservedTools',
      summary: 'List the tools of a toolset that clients cannot use now, and why',
      answer: {
        about: 'The tools, in the order of the toolset.',
        schema: UNSERVED,
        example: { unserved: [{ tool: 'linear.list_issues', reason: 'server_down' }] },
      },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async (call) => {
      const ready = await toolsets.ready();
      if (!ready.ok) return ready;
      const name = call.param('name');
      const toolset = toolsets.find(name);
      if (toolset === undefined) return err(toolsets.unknown(name));
      return ok({
        kind: 'one',
        body: { unserved: unservedIn(toolset, selecting({ catalog, preferences })) },
      });
    },
  );
}

function selecting({ catalog, preferences }: Pick<AdminDeps, 'catalog' | 'preferences'>): SelectOptions {
  const index = indexOf(catalog.all.listing('tools'));
  const showsChanged = preferences.running['toolsets.changed'] === 'show';
  return { index, servers: catalog.servers, showsChanged };
}

const NEW_TOOLS = z.object({
  new: z.array(z.object({ namespacedName: z.string(), refId: z.string() })),
});

function newToolsRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/toolsets/{name}/new',
      id: 'listNewTools',
      summary: 'List new tools of whole servers in a toolset',
      about:
        'Tools that appeared since the server’s tools were last accepted. Clients can use them; they are listed here until an operator accepts them.',
      answer: {
        about: 'The tools, in the order of the toolset.',
        schema: NEW_TOOLS,
        example: {
          new: [{ namespacedName: 'linear.delete_issue', refId: '8f14e45fceea167a5a36dedd4bea2543' }],
        },
      },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async (call) => {
      const ready = await deps.toolsets.ready();
      if (!ready.ok) return ready;
      const toolset = deps.toolsets.find(call.param('name'));
      if (toolset === undefined) return err(deps.toolsets.unknown(call.param('name')));
      return ok({ kind: 'one', body: newIn(deps, toolset) });
    },
  );
}

function newIn(deps: AdminDeps, toolset: Toolset): z.input<typeof NEW_TOOLS> {
  const { fresh } = select(toolset, selecting(deps));
  return { new: fresh.map((entry) => ({ namespacedName: nameIn(entry), refId: refIdIn(entry) })) };
}

const ACCEPT_INPUT = z
  .object({
    tools: z
      .array(z.string().min(1))
      .max(TOOLSET_LIMITS.tools)
      .optional()
      .openapi({ description: 'Namespaced names. Absent: all new tools.' }),
  })
  .openapi('AcceptedTools');

function acceptRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'post',
      path: '/toolsets/{name}/accept',
      id: 'acceptNewTools',
      summary: 'Accept new tools of whole servers in a toolset',
      body: {
        schema: ACCEPT_INPUT,
        wrapper: 'accept',
        examples: { one: { tools: ['linear.delete_issue'] } },
      },
      answer: { about: 'The tools that are still new.', schema: NEW_TOOLS, example: { new: [] } },
      refusals: ['TOOLSET_UNKNOWN', 'TOOL_NOT_IN_TOOLSET'],
    },
    async (call) => {
      const { tools } = call.body;
      const changing: Changing<Toolset> = (before) => {
        const absent = tools?.find((tool) => !hasTool(before, tool));
        if (absent !== undefined)
          return err({ code: 'TOOL_NOT_IN_TOOLSET', tool: absent, toolset: before.name });
        const { fresh } = select(before, selecting(deps));
        const after = withAccepted(before, fresh, tools && new Set(tools));
        return ok({ toolset: after, value: after });
      };
      const accepted = await deps.toolsets.change(call.param('name'), changing, call.identity.subject);
      return accepted.ok ? ok({ kind: 'one', body: newIn(deps, accepted.value) }) : accepted;
    },
  );
}
