import * as z from 'zod';
import { type Toolset, TOOLSET } from '../../api/toolset.ts';
import { toArgumentRefusal, type Refusal } from '../../core/refusal.ts';
import { ok } from '../../core/result.ts';
import type { AdminDeps } from './admin-deps.ts';
import { route, type Route } from './route.ts';
import { DESCRIPTION, EXAMPLE, NAME, REFS } from './toolset-json.ts';

const AS_IT_CAME = z.unknown().optional().meta({ description: 'Must be unchanged or omitted.' });

/** Fields that are accepted because they appear in responses, but cannot be changed. */
const FIXED = ['madeBy', 'isEquipped', 'createdAt', 'lastModified', 'toolNotes'] as const;

const CHANGES = z
  .object({
    name: NAME.optional(),
    description: DESCRIPTION.nullable().optional().meta({ description: 'null removes it.' }),
    tools: REFS.optional(),
    madeBy: AS_IT_CAME,
    isEquipped: AS_IT_CAME,
    createdAt: AS_IT_CAME,
    lastModified: AS_IT_CAME,
    toolNotes: AS_IT_CAME,
  })
  .meta({ id: 'ToolsetChanges' });

/** Refusals of refs to tools. */
export const TOOLS_REFUSALS = [
  'REF_UNKNOWN',
  'REF_AMBIGUOUS',
  'REF_DISAGREES',
  'TOOL_DISABLED',
  'SERVER_UNKNOWN',
] as const;

export function changeToolsetRoute({ toolsetService }: AdminDeps): Route {
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

function fixedFault(body: z.output<typeof CHANGES>, before: Toolset): Refusal | undefined {
  const fixed = FIXED.find(
    (field) => body[field] !== undefined && JSON.stringify(body[field]) !== JSON.stringify(before[field]),
  );
  return toArgumentRefusal(
    fixed ?? '',
    fixed && 'it cannot be set here; send the value that you read, or omit it',
  );
}
