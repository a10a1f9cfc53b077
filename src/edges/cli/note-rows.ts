import type { Note } from '../../core/notes.ts';
import { noteJson, type NoteJson } from '../../core/toolset-json.ts';
import type { Toolset } from '../../core/toolset.ts';
import { style } from './output.ts';

/** A note with where it is. */
export interface PlacedNote {
  readonly toolset: string;
  readonly tool: string;
  readonly note: Note;
}

export interface PlacedNoteJson extends Omit<NoteJson, 'isHeld'> {
  readonly toolset: string;
  readonly tool: string;
  readonly isHeld: boolean;
}

/** Toolset by toolset, tool by tool, in the order in which models read them. */
export function placedNotes(toolsets: readonly Toolset[]): readonly PlacedNote[] {
  return toolsets.flatMap(({ name, toolNotes }) =>
    toolNotes.flatMap(({ namespacedName, notes }) =>
      notes.map((note) => ({ toolset: name, tool: namespacedName, note })),
    ),
  );
}

export function placedNoteJson({ toolset, tool, note }: PlacedNote): PlacedNoteJson {
  return { toolset, tool, ...noteJson(note), isHeld: note.isHeld };
}

export const NOTE_HEAD: readonly string[] = [
  ...['TOOLSET', 'TOOL', 'NAME', 'WRITER', 'AUTHOR', 'WRITTEN', 'STATE', 'NOTE'],
];

export function noteRow({ toolset, tool, note }: PlacedNote): readonly string[] {
  const { name, by, author, writtenMs, isHeld } = note;
  return [
    ...[toolset, tool, name],
    by === 'model' ? style.yellow(by) : by,
    author,
    new Date(writtenMs).toISOString(),
    isHeld ? style.yellow('held') : 'read',
    note.note,
  ];
}
