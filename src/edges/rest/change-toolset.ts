import { z } from '@hono/zod-openapi';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { ToolRef } from '../../core/tool-ref.ts';
import { type Toolset, type ToolsetTool, withTools } from '../../core/toolset.ts';
import { isWhole } from '../../core/whole-server.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import { indexFor } from '../../gateway/services/configuration-tools/context.ts';
import { toolOf } from '../../gateway/services/toolsets/holding.ts';
import type { Changing } from '../../gateway/services/toolsets/toolsets.ts';
import type { AdminDeps } from './admin-deps.ts';
import { type Failure, fieldError } from './failure.ts';
import { type RestCall, route, type Route } from './route.ts';
import { DESCRIPTION, EXAMPLE, type MemberRef, NAME, REFS, shownToolset, TOOLSET } from './toolset-json.ts';

const AS_IT_CAME = z.unknown().optional().openapi({ description: 'Must be unchanged or omitted.' });

/** Fields that are accepted because they appear in responses, but cannot be changed. */
const FIXED = ['madeBy', 'isEquipped', 'createdAt', 'lastModified', 'toolNotes'] as const;

const CHANGES = z
  .object({
    name: NAME.optional(),
    description: DESCRIPTION.nullable().optional().openapi({ description: 'null removes it.' }),
    tools: REFS.optional(),
    madeBy: AS_IT_CAME,
    isEquipped: AS_IT_CAME,
    createdAt: AS_IT_CAME,
    lastModified: AS_IT_CAME,
    toolNotes: AS_IT_CAME,
  })
  .openapi('ToolsetChanges');

type Changes = RestCall<unknown, z.output<typeof CHANGES>>;

export function changeToolsetRoute({ toolsets, catalog }: AdminDeps): Route {
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
        schema: CHANGES,
        wrapper: 'toolset',
        examples: {
          tools: { tools: ['linear.list_issues'] },
          rename: { name: 'sorting', description: null },
        },
      },
      answer: { about: 'The toolset.', schema: TOOLSET, example: EXAMPLE },
      refusals: ['TOOLSET_UNKNOWN', 'TOOLSET_EXISTS', 'TOOLSET_FULL', ...TOOLS_REFUSALS],
    },
    async (call) => {
      const { tools: refs } = call.body;
      const named = refs === undefined ? undefined : await toolsNamed(catalog, refs);
      let failure: Failure | undefined;
      const changing: Changing<Toolset> = (before) => {
        const after = changedBy(call, before, { named, shown: shownToolset(before, toolsets.equipped) });
        failure = after.ok ? undefined : after.error;
        if (after.ok) return ok({ toolset: after.value, value: after.value });
        return err('refusal' in after.error ? after.error.refusal : after.error);
      };
      const { subject } = call.identity;
      const changed = await toolsets.change(call.param('name'), changing, subject);
      if (!changed.ok) return err(failure ?? changed.error);
      // The stored toolset has the time of the change.
      const kept = toolsets.find(changed.value.name) ?? changed.value;
      return ok({ kind: 'one', body: shownToolset(kept, toolsets.equipped) });
    },
  );
}

interface Before {
  /** The current tools for the refs in the body. Undefined if it has none. */
  readonly named: readonly Result<ToolsetTool, Refusal>[] | undefined;
  readonly shown: ReturnType<typeof shownToolset>;
}

function changedBy(call: Changes, toolset: Toolset, { named, shown }: Before): Result<Toolset, Failure> {
  const unmet = call.unmet(shown);
  if (unmet !== undefined) return err(unmet);
  const { body } = call;
  const fixed = FIXED.find(
    (field) => body[field] !== undefined && JSON.stringify(body[field]) !== JSON.stringify(shown[field]),
  );
  if (fixed !== undefined)
    return err(
      fieldError(call.pointerTo(fixed), 'it cannot be set here; send the value that you read, or omit it'),
    );
  const { name = toolset.name, description = toolset.description, tools: refs } = body;
  const changed = { ...toolset, name, description: description ?? undefined };
  if (refs === undefined || named === undefined) return ok(changed);
  const tools: ToolsetTool[] = [];
  for (const [at, ref] of refs.entries()) {
    const tool = keptBy(toolset, ref) ?? named[at];
    if (tool?.ok === false) return err({ refusal: tool.error, pointer: call.pointerTo('tools', at) });
    if (tool !== undefined) tools.push(withExcept(tool.value, ref));
  }
  return withTools({ ...changed, tools: [] }, tools);
}

/** The tool already in the toolset under this ref. */
function keptBy(
  toolset: Toolset,
  { namespacedName, refId }: ToolRef,
): { readonly ok: true; readonly value: ToolsetTool } | undefined {
  const kept = toolset.tools.find(
    (tool) => (namespacedName ?? tool.namespacedName) === tool.namespacedName && refId === tool.held?.refId,
  );
  return kept && ok(kept);
}

/** For a whole server: `except` in the ref replaces the earlier exceptions; without it, they stay. */
function withExcept(tool: ToolsetTool, { except }: MemberRef): ToolsetTool {
  return isWhole(tool) && except !== undefined ? { ...tool, except: [...new Set(except)] } : tool;
}

/** Refusals of `toolsNamed`. */
export const TOOLS_REFUSALS = [
  'REF_UNKNOWN',
  'REF_AMBIGUOUS',
  'REF_DISAGREES',
  'TOOL_DISABLED',
  'SERVER_UNKNOWN',
] as const;

/** Resolves refs to toolset entries, once the lists of servers are known. */
export async function toolsNamed(
  catalog: Catalog,
  refs: readonly MemberRef[],
): Promise<readonly Result<ToolsetTool, Refusal>[]> {
  if (refs.length === 0) return [];
  const index = await indexFor({ catalog }, refs);
  return refs.map((ref) => {
    const tool = toolOf(ref, { index, servers: catalog.servers });
    return tool.ok ? ok(withExcept(tool.value, ref)) : tool;
  });
}
