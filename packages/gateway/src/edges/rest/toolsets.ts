import * as z from 'zod';
import { DELETED_TOOLSET, type Toolset, TOOLSET, TOOLSET_INPUT, TOOLSET_PAGE } from '../../api/toolset.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { AdminDeps } from './admin-deps.ts';
import { changeToolsetRoutes, EXAMPLE, TOOLS_REFUSALS } from './change-toolset.ts';
import { paginate } from './paging.ts';
import { toListReply, route, type Reply, type Route } from './route.ts';
import { toolsetStateRoutes } from './toolset-state.ts';

type Deps = Pick<AdminDeps, 'toolsetService'>;

export function toolsetRoutes(deps: Deps): readonly Route[] {
  return [
    listRoute(deps),
    createRoute(deps),
    getRoute(deps),
    ...toolsetStateRoutes(deps),
    ...changeToolsetRoutes(deps),
    deleteRoute(deps),
    equipRoute(deps),
    unequipRoute(deps),
  ];
}

function listRoute({ toolsetService }: Deps): Route {
  return route(
    {
      method: 'get',
      path: '/toolsets',
      id: 'listToolsets',
      summary: 'List all toolsets, by name',
      isPaged: true,
      answer: {
        about: 'A page of toolsets.',
        schema: TOOLSET_PAGE,
        example: { toolsets: [EXAMPLE] },
      },
    },
    async ({ page }) => {
      const names = await toolsetService.names();
      const toReply = names.ok ? paginate(names.value, page, (name) => name) : names;
      if (!toReply.ok) return toReply;
      const items = toolsetService.views(toReply.value.items);
      return ok(toListReply('toolsets', { ...toReply.value, items }));
    },
  );
}

function createRoute({ toolsetService }: Deps): Route {
  return route(
    {
      method: 'post',
      path: '/toolsets',
      id: 'createToolset',
      summary: 'Create a toolset',
      about:
        'A tool given by `refId` is pinned to its current definition. `server.*` includes all tools of a server, also those added later.',
      body: {
        schema: TOOLSET_INPUT,
        examples: { triage: { name: 'triage', tools: ['linear.list_issues', 'linear.create_issue'] } },
      },
      answer: { status: 201, about: 'The toolset.', schema: TOOLSET, example: EXAMPLE },
      refusals: ['TOOLSET_EXISTS', 'TOOLSETS_FULL', 'TOOLSET_FULL', ...TOOLS_REFUSALS],
    },
    async ({ body, identity }) => {
      const created = await toolsetService.create(body, identity);
      if (!created.ok) return created;
      const { view } = created.value;
      return ok({ ...replyOf(view), headers: { location: `/toolsets/${view.name}` } });
    },
  );
}

function replyOf(view: Toolset): Extract<Reply, { readonly kind: 'one' }> {
  return { kind: 'one', body: view };
}

function found(view: Result<Toolset, Refusal>): Result<Reply, Refusal> {
  return view.ok ? ok(replyOf(view.value)) : view;
}

function getRoute({ toolsetService }: Deps): Route {
  return route(
    {
      method: 'get',
      path: '/toolsets/{name}',
      id: 'getToolset',
      summary: 'Get a toolset',
      answer: { about: 'The toolset.', schema: TOOLSET, example: EXAMPLE },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async ({ param }) => found(await toolsetService.view(param('name'))),
  );
}

const DELETE_QUERY = z.object({
  unequip: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Whether to delete it even if sessions have equipped it.', example: 'true' }),
});

function deleteRoute({ toolsetService }: Deps): Route {
  return route(
    {
      method: 'delete',
      path: '/toolsets/{name}',
      id: 'deleteToolset',
      summary: 'Delete a toolset, with its notes',
      about:
        'If it is equipped for all clients, no toolset is equipped afterwards. If sessions have equipped it themselves, it is refused with their number, unless `unequip` is `true`; then these have none afterwards.',
      query: DELETE_QUERY,
      isConditional: true,
      answer: {
        about: 'How many sessions had equipped it.',
        schema: DELETED_TOOLSET,
        example: { deleted: 'triage', sessions: 0 },
      },
      refusals: ['TOOLSET_UNKNOWN', 'TOOLSET_EQUIPPED'],
    },
    async (call) => {
      const objection = (before: Toolset): Refusal | undefined => call.unmet(before);
      const unlessEquipped = call.query.unequip !== 'true';
      const name = call.param('name');
      const gone = await toolsetService.delete(name, { ...call.identity, objection, unlessEquipped });
      if (gone.ok) return ok({ kind: 'one', body: { deleted: name, sessions: gone.value } });
      return gone.error.code === 'TOOLSET_EQUIPPED' ? err({ ...gone.error, isConfirmable: true }) : gone;
    },
  );
}

function equipRoute({ toolsetService }: Deps): Route {
  return route(
    {
      method: 'post',
      path: '/toolsets/{name}/equip',
      id: 'equipToolset',
      summary: 'Equip a toolset',
      about: 'Clients at /mcp then see the tools of this toolset instead of those of the previous one.',
      answer: { about: 'The toolset.', schema: TOOLSET, example: EXAMPLE },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async ({ param, identity }) => {
      const equipped = await toolsetService.equip(param('name'), identity);
      return equipped.ok ? found(await toolsetService.view(param('name'))) : equipped;
    },
  );
}

function unequipRoute({ toolsetService }: Deps): Route {
  return route(
    {
      method: 'post',
      path: '/toolsets/unequip',
      id: 'unequipToolset',
      summary: 'Unequip the toolset',
      about: 'Succeeds even if no toolset is equipped.',
      answer: { status: 204, about: 'No toolset is equipped.' },
    },
    async ({ identity }) => {
      const unequipped = await toolsetService.equip(undefined, identity);
      return unequipped.ok ? ok({ kind: 'none' }) : unequipped;
    },
  );
}
