import * as z from 'zod';
import { parseToolRef } from '../core/tool-ref.ts';
import { TOOLSET_LIMITS } from '../core/toolset.ts';
import { type Data, type DataInput, NEXT_CURSOR } from './data.ts';
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

const MEMBER_REF = z.object({
  namespacedName: z.string().min(1).optional(),
  refId: z.string().min(1).optional(),
  except: z.array(z.string().min(1)).max(TOOLSET_LIMITS.tools).optional().meta({
    description:
      'If `namespacedName` is "server.*": the server’s own names of the tools to leave out. Absent: as before.',
  }),
});

/** A ref to a tool, or to all tools of a server (`server.*`) except some. */
export type MemberRef = Data<typeof MEMBER_REF>;

const REFS = z
  .array(
    z
      .union([z.string().min(1), MEMBER_REF])
      .transform((given): MemberRef => (typeof given === 'string' ? parseToolRef(given) : given))
      .refine(({ namespacedName, refId }) => namespacedName !== undefined || refId !== undefined, {
        error: 'it must have namespacedName or refId',
      }),
  )
  .max(TOOLSET_LIMITS.tools);

const NAME = z.string().meta({ description: '2 to 50 lowercase letters, digits and hyphens' });
const DESCRIPTION = z.string().max(TOOLSET_LIMITS.descriptionLength);

export const TOOLSET_INPUT = z
  .object({
    name: NAME,
    description: DESCRIPTION.optional(),
    tools: REFS.default([]),
    equip: z
      .boolean()
      .optional()
      .meta({ description: 'Whether to equip the toolset at once. Default: false.' }),
  })
  .meta({ id: 'ToolsetInput' });

/** The body that creates a toolset. */
export type ToolsetInput = DataInput<typeof TOOLSET_INPUT>;

export type NewToolset = Data<typeof TOOLSET_INPUT>;

const AS_IT_CAME = z.unknown().optional().meta({ description: 'Must be unchanged or omitted.' });

/** Absent members stay as they are. */
export const TOOLSET_CHANGES = z
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

export type ToolsetChangesInput = DataInput<typeof TOOLSET_CHANGES>;

export type ToolsetChanges = Data<typeof TOOLSET_CHANGES>;

export const ADDED_TOOLS = z.object({ tools: REFS }).meta({ id: 'AddedTools' });

export const REMOVED_TOOLS = z
  .object({
    tools: z
      .array(z.string().min(1))
      .max(TOOLSET_LIMITS.tools)
      .meta({ description: 'Namespaced names, or `server.*`.' }),
  })
  .meta({ id: 'RemovedTools' });

export const ACCEPTED_TOOLS = z
  .object({
    tools: REFS.optional().meta({ description: 'Absent: all.' }),
    pinned: z.boolean().default(false).meta({
      description: 'Whether to also pin changed tools to their current definitions. Default: false.',
    }),
  })
  .meta({ id: 'AcceptedTools' });

export const TOOLSET_PAGE = z.object({ toolsets: z.array(TOOLSET), nextCursor: NEXT_CURSOR });

export type ToolsetPage = Data<typeof TOOLSET_PAGE>;

/** A toolset after tools were added to it. */
export const TOOLSET_WITH_ADDED = TOOLSET.extend({
  added: z.array(TOOLSET_MEMBER),
  released: z.array(z.string()).meta({
    description: 'Tools that are no longer pinned to a definition, as they were given without `refId`.',
  }),
}).meta({ id: 'ToolsetWithAdded' });

export type ToolsetWithAdded = Data<typeof TOOLSET_WITH_ADDED>;

/** A toolset after tools were removed from it. */
export const TOOLSET_WITH_REMOVED = TOOLSET.extend({
  removed: z.array(
    z.object({
      namespacedName: z.string(),
      isUnconfirmed: z.boolean().meta({
        description: 'Whether it was in the toolset only through its whole server, which may not have it.',
      }),
      notes: z
        .int()
        .meta({ description: 'Number of its notes. They are kept, and apply again once it is added.' }),
    }),
  ),
}).meta({ id: 'ToolsetWithRemoved' });

export type ToolsetWithRemoved = Data<typeof TOOLSET_WITH_REMOVED>;

export const DELETED_TOOLSET = z.object({
  deleted: z.string(),
  sessions: z.int().meta({ description: 'Number of sessions that had equipped it, and have none now.' }),
});

export type DeletedToolset = Data<typeof DELETED_TOOLSET>;

const UNSERVED_REASON = z.enum([
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
]);

/** Tools that clients cannot use now. */
export const UNSERVED_TOOLS = z.object({
  unserved: z.array(z.object({ tool: z.string(), reason: UNSERVED_REASON })),
});

export type UnservedTools = Data<typeof UNSERVED_TOOLS>;

/** Tools of whole servers that appeared since they were accepted. */
export const NEW_TOOLS = z.object({
  new: z.array(z.object({ namespacedName: z.string(), refId: z.string() })),
});

export type NewTools = Data<typeof NEW_TOOLS>;

/** A toolset after tools were accepted. */
export const TOOLSET_WITH_ACCEPTED = TOOLSET.extend({
  accepted: z.array(z.string()).meta({ description: 'Namespaced names.' }),
  new: NEW_TOOLS.shape.new.meta({ description: 'The tools that are still new.' }),
}).meta({ id: 'ToolsetWithAccepted' });

export type ToolsetWithAccepted = Data<typeof TOOLSET_WITH_ACCEPTED>;

const DEFINITION = z.string().meta({ description: 'JSON as the server wrote it.' });

/** How the tools of a toolset differ from what an operator accepted. */
export const TOOLSET_REVIEW = z
  .object({
    toolset: z.string(),
    isReviewable: z
      .boolean()
      .meta({ description: 'Whether the toolset has pinned tools, or all tools of a server.' }),
    tools: z.array(
      z.object({
        namespacedName: z.string(),
        state: z.enum(['unchanged', 'changed', 'new', 'absent', 'disabled', 'withheld']),
        reason: UNSERVED_REASON.exactOptional().meta({ description: 'Why the tool is not served.' }),
        refId: z.string().exactOptional().meta({ description: 'Of the accepted definition, or a new one.' }),
        definition: DEFINITION.exactOptional(),
        now: z
          .object({ refId: z.string(), definition: DEFINITION })
          .exactOptional()
          .meta({ description: 'The current definition, if it has changed.' }),
        changes: z
          .array(
            z.object({
              path: z.string(),
              before: z.string().exactOptional(),
              after: z.string().exactOptional(),
            }),
          )
          .exactOptional(),
      }),
    ),
  })
  .meta({ id: 'ToolsetReview' });

export type ToolsetReview = Data<typeof TOOLSET_REVIEW>;

/** Number of tokens that a model reads for each tool. */
export const TOOL_COSTS = z.object({
  tokens: z.record(z.string(), z.int()),
  toolsets: z
    .record(z.string(), z.object({ tools: z.int(), tokens: z.int() }))
    .meta({ description: 'The tools that each toolset shows now, and what they cost together.' }),
});

export type ToolCosts = Data<typeof TOOL_COSTS>;

export const FOUND_TOOLS = z.object({ tools: z.array(z.string()) });

export type FoundTools = Data<typeof FOUND_TOOLS>;
