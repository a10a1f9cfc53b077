import * as z from 'zod';
import { TOOL_NOTES } from '../../api/note.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { NoteChanger, NoteTarget } from '../../gateway/services/notes/note-service.ts';
import type { AdminDeps } from './admin-deps.ts';
import { toFieldError, type Failure } from './failure.ts';
import { route, type RestCall, type Reply, type Route } from './route.ts';

const EXAMPLE = {
  toolset: 'triage',
  name: 'priority',
  note: 'Use priority 2 unless the user names another one.',
};

/** Notes belong to a tool in a toolset; models read them where that toolset is shown. */
export function toolNoteRoutes(deps: AdminDeps): readonly Route[] {
  return [listRoute(deps), addRoute(deps), changeRoute(deps), deleteRoute(deps), acceptRoute(deps)];
}

function listRoute({ tools, notes }: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/tools/{id}/notes',
      id: 'listToolNotes',
      summary: 'List the notes on a tool, in all toolsets that contain it',
      answer: { about: 'In the order in which models read them, by toolset.', schema: TOOL_NOTES },
      refusals: ['TOOL_UNKNOWN'],
    },
    async ({ param }) => {
      const tool = await tools.find(param('id'));
      return tool.ok ? ok({ kind: 'one', body: notes.onTool(tool.value) }) : tool;
    },
  );
}

function addRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'post',
      path: '/tools/{id}/notes',
      id: 'addToolNote',
      summary: 'Add a note on a tool, for models to read',
      isConditional: true,
      body: {
        schema: z
          .object({ toolset: z.string(), name: z.string(), note: z.string() })
          .meta({ id: 'NoteInput' }),
        examples: { note: EXAMPLE },
      },
      answer: { status: 201, about: 'All notes on the tool.', schema: TOOL_NOTES },
      refusals: ['TOOL_UNKNOWN', 'TOOLSET_UNKNOWN', 'TOOL_NOT_IN_TOOLSET', 'NOTE_EXISTS', 'NOTES_FULL'],
    },
    (call) => {
      const { note, ...at } = call.body;
      return changed(deps, call, at, (target, changer) => deps.notes.add(target, note, changer));
    },
  );
}

const PLACE = '/tools/{id}/notes/{toolset}/{name}';

function changeRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'put',
      path: PLACE,
      id: 'updateToolNote',
      summary: 'Replace or move a note',
      about:
        'A new text makes you the author, whoever wrote the note before, and is visible to models at once. A position alone only moves the note.',
      isConditional: true,
      body: {
        schema: z
          .object({
            note: z.string().optional(),
            position: z.int().min(1).optional().meta({
              description: 'Position among the notes on the tool in the toolset; 1 is read first.',
            }),
          })
          .meta({ id: 'NoteChange' }),
        examples: { note: { note: EXAMPLE.note }, first: { position: 1 } },
      },
      answer: { about: 'All notes on the tool.', schema: TOOL_NOTES },
      refusals: ['TOOL_UNKNOWN', 'TOOLSET_UNKNOWN', 'NOTE_UNKNOWN'],
    },
    (call) => {
      if (call.body.note === undefined && call.body.position === undefined)
        return err(toFieldError('', 'give "note", "position" or both'));
      return changed(deps, call, placeIn(call), (target, changer) =>
        deps.notes.edit(target, call.body, changer),
      );
    },
  );
}

function deleteRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'delete',
      path: PLACE,
      id: 'deleteToolNote',
      summary: 'Delete a note',
      isConditional: true,
      answer: { about: 'The remaining notes.', schema: TOOL_NOTES },
      refusals: ['TOOL_UNKNOWN', 'TOOLSET_UNKNOWN', 'NOTE_UNKNOWN'],
    },
    (call) => changed(deps, call, placeIn(call), (target, changer) => deps.notes.delete(target, changer)),
  );
}

function acceptRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'post',
      path: `${PLACE}/accept`,
      id: 'acceptToolNote',
      summary: 'Accept a note that is held for review',
      about:
        'Models read it from then on, and its author stays the same. Send If-Match so that you accept the text that you saw. To reject a note, delete it.',
      isConditional: true,
      answer: { about: 'All notes on the tool.', schema: TOOL_NOTES },
      refusals: ['TOOL_UNKNOWN', 'TOOLSET_UNKNOWN', 'NOTE_UNKNOWN', 'NOTE_ACCEPTED'],
    },
    (call) =>
      changed(deps, call, placeIn(call), (target, changer) => deps.notes.review(target, true, changer)),
  );
}

type NoteCall = RestCall<unknown, unknown>;

function placeIn({ param }: NoteCall): Omit<NoteTarget, 'tool'> {
  return { toolset: param('toolset'), name: param('name') };
}

async function changed(
  { tools, notes }: AdminDeps,
  call: NoteCall,
  place: Omit<NoteTarget, 'tool'>,
  change: (target: NoteTarget, changer: NoteChanger) => Promise<Result<unknown, Refusal>>,
): Promise<Result<Reply, Failure>> {
  const tool = await tools.find(call.param('id'));
  if (!tool.ok) return tool;
  const target = { ...place, tool: tool.value.namespacedName };
  const done = await change(target, {
    by: call.identity.subject,
    objection: (before) => call.unmet(notes.onTool(tool.value, before)),
  });
  return done.ok ? ok({ kind: 'one', body: notes.onTool(tool.value) }) : done;
}
