import type { Refusal } from './refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';

/** Contextual text attached to a tool in a toolset. */
export interface Note {
  /** Unique among the notes of its tool. */
  readonly name: string;
  readonly note: string;
  /** The subject who wrote it. */
  readonly author: string;
  /** Models obey notes, so a note written by another model is marked as such for people. */
  readonly by: 'model' | 'operator';
  readonly writtenMs: number;
  /** Whether an operator has to accept it before models read it. */
  readonly isHeld: boolean;
}

export const NOTE_LIMITS: {
  readonly nameLength: 64;
  readonly noteLength: 2_000;
  readonly notesPerTool: 50;
} = { nameLength: 64, noteLength: 2_000, notesPerTool: 50 };

export const NOTE_NAME: RegExp = /^[a-z0-9-]+$/;

/** Why a note name is invalid, as the end of a sentence. */
export function findNoteNameFault(name: string): string | undefined {
  if (!NOTE_NAME.test(name)) return 'it may contain only lowercase letters, digits and hyphens';
  return name.length > NOTE_LIMITS.nameLength
    ? `it may have at most ${NOTE_LIMITS.nameLength} characters`
    : undefined;
}

/** Why a note text is invalid, as the end of a sentence. */
export function findNoteFault(note: string): string | undefined {
  if (note.trim() === '') return 'it must not be empty';
  return note.length > NOTE_LIMITS.noteLength
    ? `it may have at most ${NOTE_LIMITS.noteLength} characters; this has ${note.length}`
    : undefined;
}

export interface Addition {
  readonly notes: readonly Note[];
  readonly added: readonly string[];
  /** Names already in use; the existing notes are kept. */
  readonly skipped: readonly string[];
}

/** Appends new notes to those of a tool. NOTES_FULL if there would be too many. */
export function addNotes(
  before: readonly Note[],
  wanted: readonly Note[],
  tool: string,
): Result<Addition, Refusal> {
  const names = new Set(before.map(({ name }) => name));
  const added: Note[] = [];
  const skipped: string[] = [];
  for (const note of wanted) {
    if (names.has(note.name)) skipped.push(note.name);
    else added.push(note);
    names.add(note.name);
  }
  const notes = added.length === 0 ? before : [...before, ...added];
  const limit = NOTE_LIMITS.notesPerTool;
  if (notes.length > limit && added.length > 0) return err({ code: 'NOTES_FULL', tool, limit });
  return ok({ notes, added: added.map(({ name }) => name), skipped });
}

/** The text that models read, in the wording and order documented by `add-tool-annotation`. Undefined if empty. */
export function formatNotes(notes: readonly Note[]): string | undefined {
  const shown = notes.filter(({ isHeld }) => !isHeld);
  if (shown.length === 0) return undefined;
  const lines = shown.map(({ name, note }) => `• **${name}**: ${note}`);
  return `### Additional Tool Notes\n\n${lines.join('\n')}`;
}
