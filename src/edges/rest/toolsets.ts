import { z } from '@hono/zod-openapi';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { withTools, type Toolset, type ToolsetTool } from '../../core/toolset.ts';
import type { AdminDeps } from './admin-deps.ts';
import { changeToolsetRoute, TOOLS_REFUSALS, toolsNamed } from './change-toolset.ts';
import { pageOf } from './paging.ts';
import { listReply, listSchema, route, type RestCall, type Reply, type Route } from './route.ts';
import { DESCRIPTION, EXAMPLE, NAME, REFS, shownToolset, TOOLSET } from './toolset-json.ts';
import { toolsetStateRoutes } from './toolset-state.ts';

export function toolsetRoutes(deps: AdminDeps): readonly Route[] {
  return [
    listRoute(deps),
    createRoute(deps),
    getRoute(deps),
    ...toolsetStateRoutes(deps),
    changeToolsetRoute(deps),
    deleteRoute(deps),
    equipRoute(deps),
    unequipRoute(deps),
  ];
}

function listRoute({ toolsets }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/toolsets',
      id: 'listToolsets',
      summary: 'List all toolsets, by name',
      isPaged: true,
      answer: {
        about: 'A page of toolsets.',
        schema: listSchema('toolsets', TOOLSET),
        example: { toolsets: [EXAMPLE] },
      },
    },
    async ({ page }) => {
      const ready = await toolsets.ready();
      if (!ready.ok) return ready;
      const sorted = [...toolsets.all].sort((one, other) => (one.name < other.name ? -1 : 1));
      const found = pageOf(sorted, page, ({ name }) => name);
      if (!found.ok) return found;
      const items = found.value.items.map((one) => shownToolset(one, toolsets.equipped));
      return ok(listReply('toolsets', { ...found.value, items }));
    },
  );
}

const CREATE_INPUT = z
  .object({
    name: NAME,
    description: DESCRIPTION.optional(),
    tools: REFS.default([]),
    equip: z.boolean().default(false).openapi({ description: 'Whether to equip the toolset at once.' }),
  })
  .openapi('ToolsetInput');

function createRoute({ toolsets, catalog }: AdminDeps): Route {
  return route(
    {
      method: 'post',
      path: '/toolsets',
      id: 'createToolset',
      summary: 'Create a toolset',
      about:
        'A tool given by `refId` is pinned to its current definition. `server.*` includes all tools of a server, also those added later.',
      body: {
        schema: CREATE_INPUT,
        wrapper: 'toolset',
        examples: { triage: { name: 'triage', tools: ['linear.list_issues', 'linear.create_issue'] } },
      },
      answer: { status: 201, about: 'The toolset.', schema: TOOLSET, example: EXAMPLE },
      refusals: ['TOOLSET_EXISTS', 'TOOLSETS_FULL', 'TOOLSET_FULL', ...TOOLS_REFUSALS],
    },
    async (call) => {
      const { name, description, tools, equip } = call.body;
      const { subject } = call.identity;
      const named = await toolsNamed(catalog, tools);
      const found: ToolsetTool[] = [];
      for (const [at, tool] of named.entries()) {
        if (!tool.ok) return err({ refusal: tool.error, pointer: call.pointerTo('tools', at) });
        found.push(tool.value);
      }
      const empty = { name, description, tools: [], toolNotes: [], createdMs: 0, changedMs: 0 };
      const full = withTools(empty, found);
      const created = full.ok ? await toolsets.create(full.value, { by: subject, equip }) : full;
      if (!created.ok) return created;
      const reply = replyOf(toolsets.find(name) ?? created.value, toolsets.equipped);
      return ok({ ...reply, headers: { location: `/toolsets/${name}` } });
    },
  );
}

function replyOf(toolset: Toolset, equipped: Toolset | undefined): Extract<Reply, { readonly kind: 'one' }> {
  return { kind: 'one', body: shownToolset(toolset, equipped) };
}

function getRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/toolsets/{name}',
      id: 'getToolset',
      summary: 'Get a toolset',
      answer: { about: 'The toolset.', schema: TOOLSET, example: EXAMPLE },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    (call) => found(deps, call),
  );
}

async function found(
  { toolsets }: AdminDeps,
  call: RestCall<unknown, unknown>,
): Promise<Result<Reply, Refusal>> {
  const ready = await toolsets.ready();
  if (!ready.ok) return ready;
  const toolset = toolsets.find(call.param('name'));
  return toolset === undefined
    ? err(toolsets.unknown(call.param('name')))
    : ok(replyOf(toolset, toolsets.equipped));
}

function deleteRoute({ toolsets }: AdminDeps): Route {
  return route(
    {
      method: 'delete',
      path: '/toolsets/{name}',
      id: 'deleteToolset',
      summary: 'Delete a toolset, with its notes',
      about: 'If it is equipped, no toolset is equipped afterwards.',
      isConditional: true,
      answer: { status: 204, about: 'Deleted.' },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async (call) => {
      const objection = (toolset: Toolset): Refusal | undefined =>
        call.unmet(shownToolset(toolset, toolsets.equipped));
      const gone = await toolsets.remove(call.param('name'), call.identity.subject, { objection });
      return gone.ok ? ok({ kind: 'none' }) : gone;
    },
  );
}

function equipRoute(deps: AdminDeps): Route {
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
    async (call) => {
      const equipped = await deps.toolsets.equip(call.param('name'), call.identity.subject);
      return equipped.ok ? found(deps, call) : equipped;
    },
  );
}

function unequipRoute({ toolsets }: AdminDeps): Route {
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
      const unequipped = await toolsets.equip(undefined, identity.subject);
      return unequipped.ok ? ok({ kind: 'none' }) : unequipped;
    },
  );
}
