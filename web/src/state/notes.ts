import { queryOptions, type QueryClient } from '@tanstack/react-query';
import type { Note, ToolNotes } from '../../../src/api/note.ts';
import type { ToolsetNote } from '../../../src/api/toolset.ts';
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

interface ExportedToolset {
  readonly name: string;
  readonly toolNotes: readonly {
    readonly toolRef: { readonly namespacedName: string };
    readonly notes: readonly ToolsetNote[];
  }[];
}

/**
 * Deletes a note and offers Undo, which restores the original: a new note would have another author and not be held.
 */
export async function deleteNoteWithUndo(
  client: QueryClient,
  target: NoteTarget,
  { toolset: _, tool: __, isHeld, ...rest }: Note,
): Promise<void> {
  const { notes } = await read<ToolNotes>(`/tools/${encodeURIComponent(target.tool)}/notes`);
  const index = notes.filter(({ toolset }) => toolset === target.toolset).findIndex(isNamed(target.note));
  const note: ToolsetNote = { ...rest, ...(isHeld && { isHeld }) };
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
  readonly note: ToolsetNote;
  readonly index: number;
}

async function restore(client: QueryClient, { target, note, index }: Deleted): Promise<void> {
  const { toolsets } = await read<{ readonly toolsets: readonly ExportedToolset[] }>('/export');
  const toolset = toolsets.find(({ name }) => name === target.toolset);
  if (toolset === undefined) throw new Error(`The toolset ${target.toolset} no longer exists.`);
  const isMeant = (entry: ExportedToolset['toolNotes'][number]): boolean =>
    entry.toolRef.namespacedName === target.tool;
  const notes = toolset.toolNotes.find(isMeant)?.notes ?? [];
  if (notes.some(isNamed(note.name)))
    throw new Error(`There is already a different note named ${note.name}.`);
  const noted = { toolRef: { namespacedName: target.tool }, notes: notes.toSpliced(index, 0, note) };
  const toolNotes = [...toolset.toolNotes.filter((entry) => !isMeant(entry)), noted];
  const bundle = { assay: 1, toolsets: [{ ...toolset, toolNotes }] };
  await write('POST', '/import', { bundle, apply: true });
  await client.invalidateQueries({ queryKey: ['toolsets'] });
}

function isNamed(name: string): (note: { readonly name: string }) => boolean {
  return (note) => note.name === name;
}
