import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { Note, ToolNotes } from '../../../gateway/src/api/note.ts';
import type { Bundle } from '../../../gateway/src/api/bundle.ts';
import { read, formatError, write } from './api.ts';
import { notify } from './notices.ts';
import { deleteNote, toNotePath, type NoteTarget } from './toolsets.ts';

/** Under `toolsets`, so that its events refresh it. */
export const toolNotesQuery = (tool: string) =>
  queryOptions({
    queryKey: ['toolsets', 'notes', tool],
    queryFn: ({ signal }) => read<ToolNotes>(`/tools/${encodeURIComponent(tool)}/notes`, signal),
  });

export interface NewNote {
  readonly toolset: string;
  readonly name: string;
  readonly note: string;
}

export function addNote(tool: string, note: NewNote): Promise<ToolNotes> {
  return write('POST', `/tools/${encodeURIComponent(tool)}/notes`, note);
}

/** Moves a note to a position, counted from 1, among the notes on its tool in its toolset. */
export function moveNote(target: NoteTarget, position: number): Promise<ToolNotes> {
  return write('PUT', toNotePath(target), { position });
}

/** The members of a toolset's record that are used here. */
interface ToolsetBody {
  readonly name: string;
  readonly toolNotes: readonly { readonly namespacedName: string; readonly notes: readonly NoteBody[] }[];
}

type NoteBody = Pick<Note, 'name' | 'note' | 'author' | 'by'> & {
  readonly writtenMs: number;
  readonly isHeld: boolean;
};

/**
 * Deletes a note and offers Undo, which restores the original: a new note would have another author and not be held.
 */
export async function deleteNoteWithUndo(
  client: QueryClient,
  target: NoteTarget,
  { name, note: text, author, by, writtenAt, isHeld }: Note,
): Promise<void> {
  const { notes } = await read<ToolNotes>(`/tools/${encodeURIComponent(target.tool)}/notes`);
  const index = notes.filter(({ toolset }) => toolset === target.toolset).findIndex(isNamed(target.note));
  const note: NoteBody = { name, note: text, author, by, writtenMs: Date.parse(writtenAt), isHeld };
  await deleteNote(target);
  notify({
    text: `Deleted the note ${target.note}`,
    undo: () =>
      void restore(client, { target, note, index }).catch((error: unknown) =>
        notify({ text: `The note could not be restored: ${formatError(error)}` }),
      ),
  });
}

interface Deleted {
  readonly target: NoteTarget;
  readonly note: NoteBody;
  readonly index: number;
}

async function restore(client: QueryClient, { target, note, index }: Deleted): Promise<void> {
  const { records } = await read<Bundle>(`/export?toolset=${encodeURIComponent(target.toolset)}`);
  const [record] = records;
  if (record === undefined) throw new Error(`The toolset ${target.toolset} no longer exists.`);
  const toolset = record.body as ToolsetBody; // as its kind says
  const isMeant = (entry: ToolsetBody['toolNotes'][number]): boolean => entry.namespacedName === target.tool;
  const notes = toolset.toolNotes.find(isMeant)?.notes ?? [];
  if (notes.some(isNamed(note.name)))
    throw new Error(`There is already a different note named ${note.name}.`);
  const noted = { namespacedName: target.tool, notes: notes.toSpliced(index, 0, note) };
  const toolNotes = [...toolset.toolNotes.filter((entry) => !isMeant(entry)), noted];
  const bundle = { assay: 1, records: [{ ...record, body: { ...toolset, toolNotes } }] };
  await write('POST', '/import', { bundle, apply: true });
  await client.invalidateQueries({ queryKey: ['toolsets'] });
}

function isNamed(name: string): (note: { readonly name: string }) => boolean {
  return (note) => note.name === name;
}
