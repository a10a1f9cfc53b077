import { z } from '@hono/zod-openapi';
import { HINTS } from '../../core/hints/hint.ts';
import type { ToolView } from '../../gateway/services/tools/tool-view.ts';
import type { ToolSummary } from '../../api/tool.ts';
import { ofHints, TOOL } from './tool-schemas.ts';
import { startOf } from '../../core/shorten.ts';

const MAX_DESCRIPTION_LENGTH = 500;

const HINT = z.object({
  effective: z.boolean(),
  decidedBy: z.enum(['declared', 'inferred', 'override', 'observed', 'implied', 'default']),
  isContradicted: z.boolean(),
});

const TOOL_SUMMARY: z.ZodObject = z
  .object({
    id: z.string(),
    name: z.string(),
    namespacedName: z.string(),
    serverName: z.string(),
    title: z.string().optional(),
    description: z
      .string()
      .optional()
      .openapi({ description: `The first ${MAX_DESCRIPTION_LENGTH} characters.` }),
    state: z.enum(['enabled', 'disabled', 'withheld']),
    hints: z.object(ofHints(HINT)),
    lint: z.array(z.object({ rule: z.string(), level: z.enum(['error', 'warning']) })),
    drift: z.object({ isDangerous: z.boolean() }).optional(),
  })
  .openapi('ToolSummary');

export const TOOL_PAGE: z.ZodObject = z.object({
  tools: z.array(z.union([TOOL, TOOL_SUMMARY])),
  total: z.int().openapi({ description: 'Number of matches on all pages.' }),
  nextCursor: z.string().optional(),
});

/** The part of a tool that lists show: for 10,000 tools, a twentieth of the bytes. */
export function summaryOf(tool: ToolView): ToolSummary {
  const { id, name, namespacedName, serverName, title, description, state, drift } = tool;
  const hints = Object.fromEntries(
    HINTS.map((hint) => {
      const { effective, decidedBy, isContradicted } = tool.hints[hint];
      return [hint, { effective, decidedBy, isContradicted }];
    }),
  ) as ToolSummary['hints']; // every hint was visited
  return {
    ...{ id, name, namespacedName, serverName, state, hints },
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description: startOf(description, MAX_DESCRIPTION_LENGTH) }),
    lint: tool.lint.map(({ rule, level }) => ({ rule, level })),
    ...(drift !== undefined && { drift: { isDangerous: drift.isDangerous } }),
  };
}
