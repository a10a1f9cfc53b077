import * as z from 'zod';
import type { Data } from './data.ts';

/** A note on a tool in a toolset. Texts from models and operators are as sent. */
export const NOTE = z
  .object({
    toolset: z.string(),
    tool: z.string().meta({ description: 'The namespaced name.' }),
    name: z.string(),
    note: z.string(),
    author: z.string(),
    by: z.enum(['model', 'operator']),
    writtenAt: z.iso.datetime(),
    isHeld: z
      .boolean()
      .meta({ description: 'Whether models see the note only once an operator has accepted it.' }),
  })
  .meta({ id: 'Note' });

export type Note = Data<typeof NOTE>;

export const NOTES = z.object({ notes: z.array(NOTE) });

export type Notes = Data<typeof NOTES>;

/** The notes on a tool in all toolsets. */
export const TOOL_NOTES = z.object({
  notes: z.array(NOTE).meta({ description: 'In the order in which models read them, by toolset.' }),
  descriptions: z
    .array(z.object({ toolset: z.string(), description: z.string() }))
    .meta({ description: 'What models read in each toolset that contains the tool.' }),
});

export type ToolNotes = Data<typeof TOOL_NOTES>;
