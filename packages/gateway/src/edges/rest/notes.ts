import * as z from 'zod';
import { NOTES } from '../../api/note.ts';
import type { Refusal, RefusalCode } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { NoteTarget } from '../../gateway/services/notes/note-service.ts';
import type { AdminDeps } from './admin-deps.ts';
import { toFieldError } from './failure.ts';
import { route, type RestCall, type Reply, type Route } from './route.ts';

type Deps = Pick<AdminDeps, 'notes' | 'toolsetService'>;

/** Notes by toolset and namespaced name, also on tools that no server has now. See `toolNoteRoutes` for those on one tool. */
export function noteRoutes(deps: Deps): readonly Route[] {
  return [
    listRoute(deps),
    addRoute(deps),
    acceptAllRoute(deps),
    changeRoute(deps),
    deleteRoute(deps),
    reviewRoute(deps, 'accept'),
    reviewRoute(deps, 'reject'),
  ];
}

const LIST_QUERY = z.object({
  toolset: z.string().optional().meta({ description: 'Only notes of this toolset.' }),
  held: z
    .enum(['true', 'false'])
    .optional()
    .meta({ description: 'Only notes that are held for review, or only others.', example: 'true' }),
});

function listRoute({ notes, toolsetService }: Deps): Route {
  return route(
    {
      method: 'get',
      path: '/notes',
      id: 'listNotes',
      summary: 'List the notes on tools in toolsets',
      query: LIST_QUERY,
      answer: {
        about: 'By toolset and tool, in the order in which models read them.',
        schema: NOTES,
        example: { notes: [EXAMPLE] },
      },
      refusals: ['TOOLSET_UNKNOWN'],
    },
    async ({ query: { toolset, held } }) => {
      const ready = await toolsetService.names();
      const listed = ready.ok ? notes.list(toolset) : ready;
      if (!listed.ok) return listed;
      const chosen = listed.value.filter(({ isHeld }) => held === undefined || String(isHeld) === held);
      return ok({ kind: 'one', body: { notes: chosen } });
    },
  );
}

const EXAMPLE = {
  toolset: 'triage',
  tool: 'linear.create_issue',
  name: 'priority',
  note: 'Use priority 2 unless the user names another one.',
  author: 'anna',
  by: 'operator',
  writtenAt: '2026-11-22T09:31:00.000Z',
  isHeld: false,
} as const;

const CHANGED = {
  about: 'All notes on the tool in the toolset.',
  schema: NOTES,
  example: { notes: [EXAMPLE] },
};
const UNKNOWN: readonly RefusalCode[] = ['TOOLSET_UNKNOWN', 'NOTE_UNKNOWN'];

function addRoute({ notes }: Deps): Route {
  const { toolset, tool, name, note } = EXAMPLE;
  return route(
    {
      method: 'post',
      path: '/notes',
      id: 'addNote',
      summary: 'Add a note on a tool in a toolset, for models to read',
      body: {
        schema: z
          .object({ toolset: z.string(), tool: z.string(), name: z.string(), note: z.string() })
          .meta({ id: 'PlacedNote' }),
        examples: { note: { toolset, tool, name, note } },
      },
      answer: { status: 201, ...CHANGED },
      refusals: ['TOOLSET_UNKNOWN', 'TOOL_NOT_IN_TOOLSET', 'NOTE_EXISTS', 'NOTES_FULL'],
    },
    async ({ body: { note: text, ...target }, identity }) =>
      toReply(await notes.add(target, text, { by: identity.subject })),
  );
}

function acceptAllRoute({ notes, toolsetService }: Deps): Route {
  return route(
    {
      method: 'post',
      path: '/notes/accept',
      id: 'acceptNotes',
      summary: 'Accept all notes that are held for review',
      answer: { ...CHANGED, about: 'The notes that were accepted.' },
    },
    async ({ identity }) => {
      const ready = await toolsetService.names();
      return ready.ok ? toReply(await notes.acceptAll(identity.subject)) : ready;
    },
  );
}

const PLACE = '/notes/{toolset}/{tool}/{name}';

function changeRoute({ notes }: Deps): Route {
  return route(
    {
      method: 'put',
      path: PLACE,
      id: 'changeNote',
      summary: 'Replace or move a note',
      about:
        'A new text makes you the author, whoever wrote the note before, and is visible to models at once. A position alone only moves the note.',
      body: {
        schema: z
          .object({
            note: z.string().optional(),
            position: z.int().optional().meta({
              description: 'Position among the notes on the tool in the toolset; 1 is read first.',
            }),
          })
          .meta({ id: 'PlacedNoteChange' }),
        examples: { note: { note: EXAMPLE.note }, first: { position: 1 } },
      },
      answer: CHANGED,
      refusals: UNKNOWN,
    },
    async (call) => {
      if (call.body.note === undefined && call.body.position === undefined)
        return err(toFieldError('', 'give "note", "position" or both'));
      return toReply(await notes.edit(targetIn(call), call.body, { by: call.identity.subject }));
    },
  );
}

function deleteRoute({ notes }: Deps): Route {
  return route(
    {
      method: 'delete',
      path: PLACE,
      id: 'deleteNote',
      summary: 'Delete a note',
      answer: { ...CHANGED, about: 'The remaining notes on the tool in the toolset.' },
      refusals: UNKNOWN,
    },
    async (call) => toReply(await notes.delete(targetIn(call), { by: call.identity.subject })),
  );
}

const REVIEWS = {
  accept: { id: 'acceptNote', summary: 'Accept a note that is held for review' },
  reject: { id: 'rejectNote', summary: 'Reject and delete a note that is held for review' },
};

function reviewRoute({ notes }: Deps, verb: keyof typeof REVIEWS): Route {
  return route(
    {
      ...REVIEWS[verb],
      method: 'post',
      path: `${PLACE}/${verb}`,
      answer: CHANGED,
      refusals: [...UNKNOWN, 'NOTE_ACCEPTED'],
    },
    async (call) =>
      toReply(await notes.review(targetIn(call), verb === 'accept', { by: call.identity.subject })),
  );
}

function targetIn({ param }: RestCall<unknown, unknown>): NoteTarget {
  return { toolset: param('toolset'), tool: param('tool'), name: param('name') };
}

function toReply(done: Result<readonly unknown[], Refusal>): Result<Reply, Refusal> {
  return done.ok ? ok({ kind: 'one', body: { notes: done.value } }) : done;
}
