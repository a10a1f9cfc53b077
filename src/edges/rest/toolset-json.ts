import * as z from 'zod';
import type { Toolset } from '../../api/toolset.ts';
import { parseToolRef } from '../../core/tool-ref.ts';
import { TOOLSET_INPUT_LIMITS, type MemberRef } from '../../gateway/services/toolsets/toolset-input.ts';

const EXCEPT = z.array(z.string().min(1)).max(TOOLSET_INPUT_LIMITS.tools).meta({
  description: 'If `namespacedName` is "server.*": the server’s own names of the tools to leave out.',
});

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
  .transform((given): MemberRef => (typeof given === 'string' ? parseToolRef(given) : given))
  .refine(({ namespacedName, refId }) => namespacedName !== undefined || refId !== undefined, {
    error: 'it must have namespacedName or refId',
  });

export const NAME: z.ZodType<string> = z
  .string()
  .meta({ description: '2 to 50 lowercase letters, digits and hyphens' });

export const DESCRIPTION: z.ZodString = z.string().max(TOOLSET_INPUT_LIMITS.descriptionLength);

export const REFS: z.ZodType<readonly MemberRef[]> = z.array(REF).max(TOOLSET_INPUT_LIMITS.tools);
