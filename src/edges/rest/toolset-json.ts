import { z } from '@hono/zod-openapi';
import { refOf } from '../../core/tool-ref.ts';
import { TOOLSET_INPUT_LIMITS, type MemberRef } from '../../gateway/services/toolsets/toolset-input.ts';
import type { ToolsetView } from '../../gateway/services/toolsets/toolset-view.ts';

/** A toolset in the REST API: without the pinned tool definitions. */
export interface ShownToolset extends Omit<ToolsetView, 'tools' | 'version'> {
  readonly tools: readonly Pick<ToolsetView['tools'][number], 'namespacedName' | 'refId' | 'except'>[];
}

export function shownToolset(toolset: ToolsetView): ShownToolset {
  const { version: _, tools, isEquipped, createdAt, lastModified, toolNotes, ...head } = toolset;
  return {
    ...{ ...head, isEquipped, createdAt, lastModified },
    tools: tools.map(({ definition: _definition, known: _known, ...tool }) => tool),
    toolNotes,
  };
}

const REF_ID = z.string().openapi({
  description:
    'Pins the tool to the definition with this id: if the definition changes, the tool is withheld.',
});

const EXCEPT = z.array(z.string().min(1)).max(TOOLSET_INPUT_LIMITS.tools).openapi({
  description: 'If `namespacedName` is "server.*": the server’s own names of the tools to leave out.',
});

const NOTE = z.object({
  name: z.string(),
  note: z.string(),
  author: z.string(),
  by: z.enum(['model', 'operator']),
  writtenAt: z.iso.datetime(),
  isHeld: z.literal(true).optional().openapi({ description: 'An operator must accept the note.' }),
});

export const TOOLSET: z.ZodType = z
  .object({
    name: z.string(),
    description: z.string().optional(),
    madeBy: z
      .object({ by: z.enum(['model', 'operator']), subject: z.string() })
      .optional()
      .openapi({ description: 'Absent if an operator created or has edited the toolset.' }),
    isEquipped: z.boolean().openapi({ description: 'Whether clients see this toolset at /mcp.' }),
    createdAt: z.iso.datetime(),
    lastModified: z.iso.datetime(),
    tools: z.array(
      z.object({ namespacedName: z.string(), refId: REF_ID.optional(), except: EXCEPT.optional() }),
    ),
    toolNotes: z.array(z.object({ toolRef: z.object({ namespacedName: z.string() }), notes: z.array(NOTE) })),
  })
  .openapi('Toolset');

export const EXAMPLE: ShownToolset = {
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

/** A tool in a body: `server.tool`, `server.*`, or an object with namespacedName, refId or both. */
export const REF: z.ZodType<MemberRef> = z
  .union([
    z.string().min(1),
    z.object({
      namespacedName: z.string().min(1).optional(),
      refId: z.string().min(1).optional(),
      except: EXCEPT.optional(),
    }),
  ])
  .transform((given): MemberRef => (typeof given === 'string' ? refOf(given) : given))
  .refine(({ namespacedName, refId }) => namespacedName !== undefined || refId !== undefined, {
    error: 'it must have namespacedName or refId',
  });

export const NAME: z.ZodType<string> = z
  .string()
  .openapi({ description: '2 to 50 lowercase letters, digits and hyphens' });

export const DESCRIPTION: z.ZodString = z.string().max(TOOLSET_INPUT_LIMITS.descriptionLength);

export const REFS: z.ZodType<readonly MemberRef[]> = z.array(REF).max(TOOLSET_INPUT_LIMITS.tools);
