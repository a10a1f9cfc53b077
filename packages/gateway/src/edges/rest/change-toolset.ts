import {
  ADDED_TOOLS,
  REMOVED_TOOLS,
  type Toolset,
  TOOLSET,
  type ToolsetChanges,
  TOOLSET_CHANGES,
  TOOLSET_WITH_ADDED,
  TOOLSET_WITH_REMOVED,
} from '../../api/toolset.ts';
import { toArgumentRefusal, type Refusal } from '../../core/refusal.ts';
import { ok } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';

export const EXAMPLE: Toolset = {
  name: 'triage',
  description: 'Reading and sorting issues',
  isEquipped: true,
  createdAt: '2026-11-22T09:30:00.000Z',
  lastModified: '2026-11-22T09:31:00.000Z',
  tools: [
    { namespacedName: 'linear.list_issues' },
    { namespacedName: 'linear.create_issue', refId: '8f14e45fceea167a5a36dedd4bea2543' },
  ],
  toolNotes: [
    {
      toolRef: { namespacedName: 'linear.list_issues' },
      notes: [
        {
          name: 'team',
          note: 'Our team is "PLAT".',
          author: 'anna',
          by: 'operator',
          writtenAt: '2026-11-22T09:31:00.000Z',
        },
      ],
    },
  ],
};

/** Fields that are accepted because they appear in responses, but cannot be changed. */
const FIXED = ['madeBy', 'isEquipped', 'createdAt', 'lastModified', 'toolNotes'] as const;

/** Refusals of refs to tools. */
export const TOOLS_REFUSALS = [
  'REF_UNKNOWN',
  'REF_AMBIGUOUS',
  'REF_DISAGREES',
  'TOOL_DISABLED',
  'SERVER_UNKNOWN',
] as const;

/** Routes that change a toolset. */
export function changeToolsetRoutes(deps: Pick<AdminDeps, 'toolsetService'>): readonly Route[] {
  return [changeRoute(deps), addRoute(deps), removeRoute(deps)];
}

function changeRoute({ toolsetService }: Pick<AdminDeps, 'toolsetService'>): Route {
  return route(
    {
      method: 'put',
      path: '/toolsets/{name}',
      id: 'changeToolset',
      summary: 'Change a toolset',
      about:
        'Omitted fields keep their values. A tool that is already in the toolset and is given unchanged is kept, whether its server is running or not. The body of a GET may be sent back whole.',
      isConditional: true,
      body: {
        schema: TOOLSET_CHANGES,
        examples: {
          tools: { tools: ['linear.list_issues'] },
          rename: { name: 'sorting', description: null },
        },
      },
      answer: { about: 'The toolset.', schema: TOOLSET, example: EXAMPLE },
      refusals: ['TOOLSET_UNKNOWN', 'TOOLSET_EXISTS', 'TOOLSET_FULL', ...TOOLS_REFUSALS],
    },
    async (call) => {
      const { body, identity, unmet, param } = call;
      const changed = await toolsetService.change(param('name'), body, {
        ...identity,
        objection: (before) => unmet(before) ?? fixedFault(body, before),
      });
      return changed.ok ? ok({ kind: 'one', body: changed.value.view }) : changed;
    },
  );
}

function addRoute({ toolsetService }: Pick<AdminDeps, 'toolsetService'>): Route {
  return route(
    {
      method: 'post',
      path: '/toolsets/{name}/add',
      id: 'addToolsetTools',
      summary: 'Add tools to a toolset',
      about:
        'The others stay. A tool given by `refId` is pinned to its current definition, and one that is given without it is no longer pinned.',
      body: {
        schema: ADDED_TOOLS,
        examples: { one: { tools: ['linear.delete_issue'] } },
      },
      answer: {
        about: 'The toolset, with the tools that it did not have before.',
        schema: TOOLSET_WITH_ADDED,
        example: { ...EXAMPLE, added: EXAMPLE.tools.slice(1), released: [] },
      },
      refusals: ['TOOLSET_UNKNOWN', 'TOOLSET_FULL', ...TOOLS_REFUSALS],
    },
    async ({ body, param, identity }) => {
      const changed = await toolsetService.add(param('name'), body.tools, identity);
      if (!changed.ok) return changed;
      const { view, added, released } = changed.value;
      return ok({ kind: 'one', body: { ...view, added, released }, of: view });
    },
  );
}

function removeRoute({ toolsetService }: Pick<AdminDeps, 'toolsetService'>): Route {
  return route(
    {
      method: 'post',
      path: '/toolsets/{name}/remove',
      id: 'removeToolsetTools',
      summary: 'Remove tools from a toolset',
      about: 'Their notes are kept.',
      body: {
        schema: REMOVED_TOOLS,
        examples: { one: { tools: ['linear.delete_issue'] } },
      },
      answer: {
        about: 'The toolset, with the tools that were removed.',
        schema: TOOLSET_WITH_REMOVED,
        example: {
          ...EXAMPLE,
          removed: [{ namespacedName: 'linear.delete_issue', isUnconfirmed: false, notes: 0 }],
        },
      },
      refusals: ['TOOLSET_UNKNOWN', 'TOOL_NOT_IN_TOOLSET'],
    },
    async ({ body, param, identity }) => {
      const changed = await toolsetService.remove(param('name'), body.tools, identity);
      if (!changed.ok) return changed;
      const { view, removed } = changed.value;
      return ok({ kind: 'one', body: { ...view, removed }, of: view });
    },
  );
}

function fixedFault(body: ToolsetChanges, before: Toolset): Refusal | undefined {
  const fixed = FIXED.find(
    (field) => body[field] !== undefined && JSON.stringify(body[field]) !== JSON.stringify(before[field]),
  );
  return toArgumentRefusal(
    fixed ?? '',
    fixed && 'it cannot be set here; send the value that you read, or omit it',
  );
}
