import type { JsonObject } from '@assay-mcp/kit/json-object';
import type { Addition } from '../../../core/notes.ts';
import type { Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { readToolRef, type ToolRef } from '../../../core/tool-ref.ts';
import type { NoteText } from '../notes/note-service.ts';
import { getEntryName } from '../toolsets/tool-index.ts';
import { TOOL_REF, TOOL_REF_OBJECT } from './build-toolset.ts';
import { prepareToolIndex } from '../toolsets/find-tools.ts';
import { checkRights } from '../toolsets/toolset-service.ts';
import type { ConfigurationContext } from './context.ts';
import type { OwnToolSpec, OwnToolResult } from './own-tool.ts';

export function createAnnotationTool(context: ConfigurationContext): OwnToolSpec {
  const names = { type: 'array', items: { type: 'string' } };
  return {
    name: 'add-tool-annotation',
    title: 'Add notes to a tool',
    description: 'Add contextual annotations to a tool in the current toolset to guide LLM usage',
    // It adds notes and replaces none; a second call with the same names adds nothing.
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    inputSchema: inputSchema(TOOL_REF_OBJECT),
    accepts: inputSchema(TOOL_REF),
    output: {
      properties: {
        toolset: { type: 'string' },
        tool: { type: 'string' },
        added: names,
        skipped: names,
        isHeldForReview: { type: 'boolean' },
      },
    },
    run: async ({ toolRef, notes }, subject) => {
      const ref = readToolRef(toolRef, 'arguments.toolRef');
      return ref.ok
        ? annotate(context, { ref: ref.value, notes: notes as readonly NoteText[], subject })
        : ref;
    },
  };
}

function inputSchema(toolRef: JsonObject): JsonObject {
  return {
    type: 'object',
    properties: {
      toolRef,
      notes: {
        type: 'array',
        description: 'Array of annotations to add to the tool',
        items: {
          type: 'object',
          properties: {
            name: {
              type: 'string',
              description: "Identifier for this annotation (e.g., 'usage-with-project')",
              pattern: '^[a-z0-9-]+$',
            },
            note: { type: 'string', description: 'The annotation content to help guide LLM usage' },
          },
          required: ['name', 'note'],
        },
        minItems: 1,
      },
    },
    required: ['toolRef', 'notes'],
  };
}

interface AnnotateOptions {
  readonly ref: ToolRef;
  readonly notes: readonly NoteText[];
  readonly subject: string;
}

async function annotate(
  context: ConfigurationContext,
  { ref, notes, subject }: AnnotateOptions,
): Promise<Result<OwnToolResult, Refusal>> {
  const { equipping, labels, reviewsNotes } = context;
  const equipped = equipping.current;
  if (equipped === undefined) return err({ code: 'TOOLSET_NOT_EQUIPPED' });
  const entry = (await prepareToolIndex(context, [ref], subject)).resolve(ref);
  if (!entry.ok) return entry;
  const place = { toolset: equipped.name, tool: getEntryName(entry.value) };
  // Text that the model has read may have told it what to write.
  const isHeld = reviewsNotes || (await labels.read(subject)).has('saw-untrusted');
  const objection = checkRights(context.settings['toolsets.modelsMayChange'], subject);
  const added = await context.notes.addMissing(place, notes, { by: { model: subject }, isHeld, objection });
  return added.ok ? ok(resultOf(added.value, { ...place, isHeld })) : added;
}

function resultOf(
  { added, skipped }: Addition,
  where: { readonly tool: string; readonly toolset: string; readonly isHeld: boolean },
): OwnToolResult {
  const { tool, toolset, isHeld } = where;
  const text = [
    added.length === 0
      ? `No note was added to ${tool} in the toolset "${toolset}".`
      : `Added to ${tool} in the toolset "${toolset}": ${added.join(', ')}.`,
    ...(skipped.length === 0
      ? []
      : [`Warning: skipped, as there are notes of these names already: ${skipped.join(', ')}.`]),
    ...(isHeld && added.length > 0
      ? ['Models read it when an operator has accepted it: `assay notes review`.']
      : []),
  ].join('\n');
  return { text, structured: { toolset, tool, added, skipped, isHeldForReview: isHeld && added.length > 0 } };
}
