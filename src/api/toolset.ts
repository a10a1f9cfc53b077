import * as z from 'zod';
import { type Data, NEXT_CURSOR } from './data.ts';
import { NOTE } from './note.ts';

/** A tool of a toolset, or all of a server: `linear.*`. */
const TOOLSET_MEMBER = z.object({
  namespacedName: z.string(),
  refId: z.string().exactOptional().meta({
    description:
      'Pins the tool to the definition with this id: if the definition changes, the tool is withheld.',
  }),
  except: z.array(z.string()).exactOptional().meta({
    description: 'If `namespacedName` is "server.*": the server’s own names of the tools that are left out.',
  }),
});

export type ToolsetMember = Data<typeof TOOLSET_MEMBER>;

const TOOLSET_NOTE = NOTE.omit({ toolset: true, tool: true }).extend({
  isHeld: z.literal(true).exactOptional().meta({ description: 'An operator must accept the note.' }),
});

export type ToolsetNote = Data<typeof TOOLSET_NOTE>;

/** Texts from models and operators are as sent. */
export const TOOLSET = z
  .object({
    name: z.string(),
    description: z.string().exactOptional(),
    madeBy: z
      .object({ by: z.enum(['model', 'operator']), subject: z.string() })
      .exactOptional()
      .meta({ description: 'Absent if an operator created or has edited the toolset.' }),
    isEquipped: z.boolean().meta({ description: 'Whether clients see this toolset at /mcp.' }),
    createdAt: z.iso.datetime(),
    lastModified: z.iso.datetime(),
    tools: z.array(TOOLSET_MEMBER),
    toolNotes: z.array(
      z.object({ toolRef: z.object({ namespacedName: z.string() }), notes: z.array(TOOLSET_NOTE) }),
    ),
  })
  .meta({ id: 'Toolset' });

export type Toolset = Data<typeof TOOLSET>;

export const TOOLSET_PAGE = z.object({ toolsets: z.array(TOOLSET), nextCursor: NEXT_CURSOR });

export type ToolsetPage = Data<typeof TOOLSET_PAGE>;

/** Tools that clients cannot use now. */
export const UNSERVED_TOOLS = z.object({
  unserved: z.array(
    z.object({
      tool: z.string(),
      reason: z.enum([
        'disabled',
        'withheld',
        'definition_changed',
        'definition_dangerous',
        'name_collision',
        'server_starting',
        'server_down',
        'server_unknown',
        'tool_filtered',
        'tool_gone',
      ]),
    }),
  ),
});

export type UnservedTools = Data<typeof UNSERVED_TOOLS>;

/** Tools of whole servers that appeared since they were accepted. */
export const NEW_TOOLS = z.object({
  new: z.array(z.object({ namespacedName: z.string(), refId: z.string() })),
});

export type NewTools = Data<typeof NEW_TOOLS>;

/** Number of tokens that a model reads for each tool. */
export const TOOL_COSTS = z.object({ tokens: z.record(z.string(), z.int()) });

export type ToolCosts = Data<typeof TOOL_COSTS>;

export const FOUND_TOOLS = z.object({ tools: z.array(z.string()) });

export type FoundTools = Data<typeof FOUND_TOOLS>;
