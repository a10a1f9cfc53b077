import { z } from '@hono/zod-openapi';
import { NOTE_LIMITS, noteFault, noteNameFault, notesText, type Note } from '../../core/notes.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { changeNote, hasTool, moveNote, notesOf, withNotes, type Toolset } from '../../core/toolset.ts';
import type { ToolView } from '../../gateway/services/tools/tool-view.ts';
import type { AdminDeps } from './admin-deps.ts';
import { fieldError, type Failure } from './failure.ts';
import { route, type RestCall, type Reply, type Route } from './route.ts';

const NOTE = z
  .object({
    toolset: z.string(),
    name: z.string(),
    note: z.string(),
    author: z.string(),
    by: z.enum(['model', 'operator']),
    writtenAt: z.iso.datetime(),
    isHeld: z
      .boolean()
      .openapi({ description: 'Whether models see the note only once an operator has accepted it.' }),
  })
  .openapi('Note');

const NOTES = z.object({
  notes: z.array(NOTE),
  descriptions: z
    .array(z.object({ toolset: z.string(), description: z.string() }))
    .openapi({ description: 'The notes that models read in each toolset that contains the tool.' }),
});
const EXAMPLE = {
  toolset: 'triage',
  name: 'priority',
  note: 'Use priority 2 unless the user names another one.',
};

/** Notes belong to a tool in a toolset; models read them where that toolset is shown. */
export function toolNoteRoutes(deps: AdminDeps): readonly Route[] {
  return [listRoute(deps), addRoute(deps), changeRoute(deps), deleteRoute(deps)];
}

function listRoute(deps: AdminDeps): Route {
  return route(
    {
      method: 'get',
      path: '/tools/{id}/notes',
      id: 'listToolNotes',
      summary: 'List the notes on a tool, in all toolsets that contain it',
      answer: { about: 'In the order in which models read them, by toolset.', schema: NOTES },
      refusals: ['TOOL_UNKNOWN'],
    },
    ({ param }) => notesReply(deps, param('id')),
  );
}

function addRoute(deps: AdminDeps): Route {
  const { toolsets, tools, nowMs } = deps;
  return route(
    {
      method: 'post',
      path: '/tools/{id}/notes',
      id: 'addToolNote',
      summary: 'Add a note on a tool, for models to read',
      isConditional: true,
      body: {
        schema: z.object({ toolset: z.string(), name: z.string(), note: z.string() }).openapi('NoteInput'),
        wrapper: 'note',
        examples: { note: EXAMPLE },
      },
      answer: { status: 201, about: 'All notes on the tool.', schema: NOTES },
      refusals: ['TOOL_UNKNOWN', 'TOOLSET_UNKNOWN', 'TOOL_NOT_IN_TOOLSET', 'NOTES_FULL'],
    },
    async (call) => {
      const { toolset, name, note } = call.body;
      const wrong = noteFieldError(call, { name, note });
      if (wrong !== undefined) return err(wrong);
      const tool = await tools.find(call.param('id'));
      if (!tool.ok) return tool;
      const { namespacedName } = tool.value;
      const written = noteBy(call, { name, note }, nowMs());
      const added = await toolsets.change<undefined>(
        toolset,
        (before) => {
          const unmet = call.unmet(notesBody(deps, tool.value, before));
          if (unmet !== undefined) return err(unmet);
          const noted = withNotes(before, namespacedName, [written]);
          if (!noted.ok) return noted;
          return noted.value.addition.skipped.length > 0
            ? err({ code: 'NOTE_EXISTS', tool: namespacedName, note: name })
            : ok({ toolset: noted.value.toolset, value: undefined });
        },
        call.identity.subject,
      );
      return added.ok ? notesReply(deps, call.param('id')) : added;
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
            position: z.int().min(1).max(NOTE_LIMITS.notesPerTool).optional().openapi({
              description: 'Position among the notes on the tool in the toolset; 1 is read first.',
            }),
          })
          .openapi('NoteChange'),
        wrapper: 'note',
        examples: { note: { note: EXAMPLE.note }, first: { position: 1 } },
      },
      answer: { about: 'All notes on the tool.', schema: NOTES },
      refusals: ['TOOL_UNKNOWN', 'TOOLSET_UNKNOWN', 'NOTE_UNKNOWN'],
    },
    async (call) => {
      const { note, position } = call.body;
      const name = call.param('name');
      if (note === undefined && position === undefined)
        return err(fieldError('', 'give "note", "position" or both'));
      const wrong = note === undefined ? undefined : noteFieldError(call, { note });
      if (wrong !== undefined) return err(wrong);
      const written = note === undefined ? undefined : noteBy(call, { name, note }, deps.nowMs());
      return changed(deps, call, (toolset, target) => {
        const noted = changeNote(toolset, target, (former) =>
          written === undefined || isSame(former, written) ? former : written,
        );
        return noted.ok && position !== undefined ? moveNote(noted.value, target, position - 1) : noted;
      });
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
      answer: { about: 'The remaining notes.', schema: NOTES },
      refusals: ['TOOL_UNKNOWN', 'TOOLSET_UNKNOWN', 'NOTE_UNKNOWN'],
    },
    (call) => changed(deps, call, (toolset, target) => changeNote(toolset, target, () => undefined)),
  );
}

interface NoteTarget {
  readonly namespacedName: string;
  readonly name: string;
}

async function changed(
  deps: AdminDeps,
  call: RestCall<unknown, unknown>,
  change: (toolset: Toolset, target: NoteTarget) => Result<Toolset, Refusal>,
): Promise<Result<Reply, Failure>> {
  const tool = await deps.tools.find(call.param('id'));
  if (!tool.ok) return tool;
  const target = { namespacedName: tool.value.namespacedName, name: call.param('name') };
  const done = await deps.toolsets.change<undefined>(
    call.param('toolset'),
    (before) => {
      const unmet = call.unmet(notesBody(deps, tool.value, before));
      if (unmet !== undefined) return err(unmet);
      const noted = change(before, target);
      return noted.ok ? ok({ toolset: noted.value, value: undefined }) : noted;
    },
    call.identity.subject,
  );
  return done.ok ? notesReply(deps, call.param('id')) : done;
}

function noteFieldError(
  { pointerTo }: RestCall<unknown, unknown>,
  { name, note }: { readonly name?: string; readonly note: string },
): Failure | undefined {
  const ofName = name === undefined ? undefined : noteNameFault(name);
  if (ofName !== undefined) return fieldError(pointerTo('name'), ofName);
  const ofNote = noteFault(note);
  return ofNote === undefined ? undefined : fieldError(pointerTo('note'), ofNote);
}

function noteBy(
  { identity }: RestCall<unknown, unknown>,
  text: Pick<Note, 'name' | 'note'>,
  nowMs: number,
): Note {
  return { ...text, author: identity.subject, by: 'operator', writtenMs: nowMs, isHeld: false };
}

/** Author and time alone do not count as a change. */
function isSame(one: Note, other: Note): boolean {
  return one.note === other.note && one.by === other.by && one.isHeld === other.isHeld;
}

async function notesReply(deps: AdminDeps, id: string): Promise<Result<Reply, Failure>> {
  const tool = await deps.tools.find(id);
  if (!tool.ok) return tool;
  return ok({ kind: 'one', body: notesBody(deps, tool.value) });
}

type NotedTool = Pick<ToolView, 'namespacedName' | 'description'>;

/** `fresh` replaces the stored toolset with its name: it is the state during a change. */
function notesBody({ toolsets }: AdminDeps, tool: NotedTool, fresh?: Toolset): z.input<typeof NOTES> {
  const all = toolsets.all.map((toolset) => (toolset.name === fresh?.name ? fresh : toolset));
  const having = all.filter((toolset) => hasTool(toolset, tool.namespacedName));
  return {
    notes: all.flatMap((toolset) => notesIn(toolset, tool.namespacedName)),
    descriptions: having.map((toolset) => ({
      toolset: toolset.name,
      description: describedIn(toolset, tool),
    })),
  };
}

/** The description as in the lists that clients get. */
function describedIn(toolset: Toolset, { namespacedName, description = '' }: NotedTool): string {
  const texts = [description, notesText(notesOf(toolset, namespacedName)) ?? ''];
  return texts.filter((text) => text !== '').join('\n\n');
}

function notesIn(toolset: Toolset, namespacedName: string): readonly z.input<typeof NOTE>[] {
  return notesOf(toolset, namespacedName).map(({ writtenMs, ...note }) => ({
    toolset: toolset.name,
    ...note,
    writtenAt: new Date(writtenMs).toISOString(),
  }));
}
