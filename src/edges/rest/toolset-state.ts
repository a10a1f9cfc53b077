import * as z from 'zod';
import { NEW_TOOLS, UNSERVED_TOOLS } from '../../api/toolset.ts';
import { ok } from '../../core/result.ts';
import { TOOLSET_INPUT_LIMITS } from '../../gateway/services/toolsets/toolset-input.ts';
import type { AdminDeps } from './admin-deps.ts';
import { TOOLS_REFUSALS } from './change-toolset.ts';
import { route, type Route } from './route.ts';

/** Routes about the current state of a toolset, which depends on its servers: tools that are new or not served. */
export function toolsetStateRoutes(deps: AdminDeps): readonly Route[] {
  return [unservedRoute(deps), newToolsRoute(deps), acceptRoute(deps)];
}

/** Separate from the toolset, whose ETag must not change when a server starts or stops. */
function unservedRoute({ toolsetService }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/toolsets/{name}/unserved',
      id: 'listUnservedTools',
      summary: 'List the tools of a toolset that clients cannot use now, and why',
      answer: {
        about: 'The tools, in the order of the toolset.',
        schema: UNSERVED_TOOLS,
        example: { unserved: [{ tool: 'linear.list_issues', reason: 'server_down' }] },
      },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async ({ param }) => {
      const unserved = await toolsetService.unserved(param('name'));
      return unserved.ok ? ok({ kind: 'one', body: { unserved: unserved.value } }) : unserved;
    },
  );
}

function newToolsRoute({ toolsetService }: AdminDeps): Route {
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
    async ({ param }) => {
      const fresh = await toolsetService.newTools(param('name'));
      return fresh.ok ? ok({ kind: 'one', body: { new: fresh.value } }) : fresh;
    },
  );
}

const ACCEPT_INPUT = z
  .object({
    tools: z
      .array(z.string().min(1))
      .max(TOOLSET_INPUT_LIMITS.tools)
      .optional()
      .meta({ description: 'Namespaced names. Absent: all new tools.' }),
  })
  .meta({ id: 'AcceptedTools' });

function acceptRoute({ toolsetService }: AdminDeps): Route {
  return route(
    {
      method: 'post',
      path: '/toolsets/{name}/accept',
      id: 'acceptNewTools',
      summary: 'Accept new tools of whole servers in a toolset',
      body: {
        schema: ACCEPT_INPUT,
        examples: { one: { tools: ['linear.delete_issue'] } },
      },
      answer: { about: 'The tools that are still new.', schema: NEW_TOOLS, example: { new: [] } },
      refusals: ['TOOLSET_UNKNOWN', 'TOOL_NOT_IN_TOOLSET', ...TOOLS_REFUSALS],
    },
    async ({ body, param, identity }) => {
      const refs = body.tools?.map((namespacedName) => ({ namespacedName }));
      const accepted = await toolsetService.accept(param('name'), { refs, isNewOnly: true }, identity);
      return accepted.ok ? ok({ kind: 'one', body: { new: accepted.value.new } }) : accepted;
    },
  );
}
