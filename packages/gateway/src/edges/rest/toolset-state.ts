import {
  ACCEPTED_TOOLS,
  NEW_TOOLS,
  TOOLSET_REVIEW,
  TOOLSET_WITH_ACCEPTED,
  UNSERVED_TOOLS,
} from '../../api/toolset.ts';
import { ok } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import { EXAMPLE, TOOLS_REFUSALS } from './change-toolset.ts';
import { route, type Route } from './route.ts';

type Deps = Pick<AdminDeps, 'toolsetService'>;

/** Routes about the current state of a toolset, which depends on its servers: tools that are new, changed or not served. */
export function toolsetStateRoutes(deps: Deps): readonly Route[] {
  return [unservedRoute(deps), newToolsRoute(deps), reviewRoute(deps), acceptRoute(deps)];
}

/** Separate from the toolset, whose ETag must not change when a server starts or stops. */
function unservedRoute({ toolsetService }: Deps): Route {
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

function newToolsRoute({ toolsetService }: Deps): Route {
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

function reviewRoute({ toolsetService }: Deps): Route {
  return route(
    {
      method: 'get',
      path: '/toolsets/{name}/review',
      id: 'reviewToolset',
      summary: 'Compare the tools of a toolset with what was accepted',
      about:
        'Tools pinned to a definition, in the order of the toolset, then new tools of whole servers, and those of them that are withheld.',
      answer: {
        about: 'Each tool and its state.',
        schema: TOOLSET_REVIEW,
        example: {
          toolset: 'triage',
          isReviewable: true,
          tools: [
            {
              namespacedName: 'linear.create_issue',
              state: 'unchanged',
              refId: '8f14e45fceea167a5a36dedd4bea2543',
            },
          ],
        },
      },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async ({ param }) => {
      const reviewed = await toolsetService.review(param('name'));
      return reviewed.ok ? ok({ kind: 'one', body: reviewed.value }) : reviewed;
    },
  );
}

function acceptRoute({ toolsetService }: Deps): Route {
  return route(
    {
      method: 'post',
      path: '/toolsets/{name}/accept',
      id: 'acceptNewTools',
      summary: 'Accept new tools of whole servers in a toolset, and changes in pinned tools',
      about: 'A tool given by `refId` is accepted only if that is its current definition.',
      body: {
        schema: ACCEPTED_TOOLS,
        examples: { one: { tools: ['linear.delete_issue'] } },
      },
      answer: {
        about: 'The toolset, with the tools that were accepted and those that are still new.',
        schema: TOOLSET_WITH_ACCEPTED,
        example: { ...EXAMPLE, accepted: ['linear.delete_issue'], new: [] },
      },
      refusals: ['TOOLSET_UNKNOWN', 'TOOL_NOT_IN_TOOLSET', ...TOOLS_REFUSALS],
    },
    async ({ body, param, identity }) => {
      const { tools: refs, pinned } = body;
      const done = await toolsetService.accept(param('name'), { refs, isNewOnly: !pinned }, identity);
      if (!done.ok) return done;
      const { view, accepted, new: left } = done.value;
      return ok({ kind: 'one', body: { ...view, accepted, new: left }, of: view });
    },
  );
}
