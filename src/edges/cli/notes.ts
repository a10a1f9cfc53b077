import { counted } from '../../core/counted.ts';
import { type Note, noteFault, noteNameFault } from '../../core/notes.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { noteJson, type NoteJson } from '../../core/toolset-json.ts';
import { acceptNotes, changeNote, moveNote, notesOf, type Toolset, withNotes } from '../../core/toolset.ts';
import type { Changing, Toolsets } from '../../gateway/services/toolsets/toolsets.ts';
import {
  argumentFault,
  printRefusal,
  print,
  printError,
  printJson,
  quoted,
  style,
  tableOf,
} from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

export interface ListNotesOptions extends JsonOptions {
  readonly toolset?: string;
}

/** A note's location. */
interface NoteTarget {
  readonly toolset: string;
  readonly tool: string;
  readonly name: string;
}

/** `assay notes` */
export function listNotes(runtime: Runtime, options: ListNotesOptions): Promise<number> {
  return withToolsets(runtime, options, ({ toolsets }) => {
    const { toolset: name } = options;
    const only = name === undefined ? undefined : toolsets.find(name);
    if (name !== undefined && only === undefined) return Promise.resolve(err(toolsets.unknown(name)));
    const notes = placedNotes(only === undefined ? toolsets.all : [only]);
    if (options.json === true) printJson({ notes: notes.map(placedNoteJson) });
    else print(tableOf(NOTE_HEAD, notes.map(noteRow)));
    if (notes.length === 0)
      printError('There are no notes. Add one with `assay notes add TOOLSET TOOL NAME TEXT`.');
    return Promise.resolve(ok(undefined));
  });
}

interface NoteText {
  readonly target: NoteTarget;
  readonly text: string;
}

/** `assay notes add` */
export async function addNote(
  runtime: Runtime,
  { target, text }: NoteText,
  options: JsonOptions,
): Promise<number> {
  const wrong = argumentFault('name', noteNameFault(target.name)) ?? argumentFault('text', noteFault(text));
  if (wrong !== undefined) return printRefusal(wrong);
  const written = noteOf(target.name, text);
  return changeNotes(runtime, { target, options, done: 'Added' }, (toolset) => {
    const added = withNotes(toolset, target.tool, [written]);
    if (!added.ok) return added;
    return added.value.addition.skipped.length === 0 ? ok(added.value.toolset) : err(taken(target));
  });
}

function noteOf(name: string, note: string): Note {
  return { name, note, author: LOCAL_USER.subject, by: 'operator', writtenMs: Date.now(), isHeld: false };
}

function taken({ tool, name }: NoteTarget): Refusal {
  const reason = `name: the tool "${tool}" has a note "${name}" already; \`assay notes edit\` changes it`;
  return { code: 'ARGUMENTS_INVALID', reason };
}

/** `assay notes edit`: the note becomes the operator's, even if a model wrote it. */
export async function editNote(
  runtime: Runtime,
  { target, text }: NoteText,
  options: JsonOptions,
): Promise<number> {
  const wrong = argumentFault('text', noteFault(text));
  if (wrong !== undefined) return printRefusal(wrong);
  const written = noteOf(target.name, text);
  return changeNotes(runtime, { target, options, done: 'Changed' }, (toolset) =>
    changeNote(toolset, noteIn(target), () => written),
  );
}

/** `assay notes delete` */
export function deleteNote(runtime: Runtime, target: NoteTarget, options: JsonOptions): Promise<number> {
  return changeNotes(runtime, { target, options, done: 'Deleted' }, (toolset) =>
    changeNote(toolset, noteIn(target), () => undefined),
  );
}

/** `assay notes move`: positions count from 1. */
export function moveNoteTo(
  runtime: Runtime,
  { target, position }: { readonly target: NoteTarget; readonly position: string },
  options: JsonOptions,
): Promise<number> {
  return changeNotes(runtime, { target, options, done: `Moved to position ${position}` }, (toolset) => {
    const count = notesOf(toolset, target.tool).length;
    const to = /^\d{1,4}$/.test(position) ? Number(position) : 0;
    const moved = moveNote(toolset, noteIn(target), to - 1);
    if (!moved.ok || (to >= 1 && to <= count)) return moved;
    return err({
      code: 'ARGUMENTS_INVALID',
      reason: `position: it must be a whole number from 1 to ${count}`,
    });
  });
}

/** `assay notes accept` lets models read a held note, `assay notes reject` deletes it. */
export function setNoteAccepted(
  runtime: Runtime,
  { target, isAccepted }: { readonly target: NoteTarget; readonly isAccepted: boolean },
  options: JsonOptions,
): Promise<number> {
  return changeNotes(runtime, { target, options, done: isAccepted ? 'Accepted' : 'Rejected' }, (toolset) => {
    const note = notesOf(toolset, target.tool).find(({ name }) => name === target.name);
    if (note?.isHeld === false) return err(notHeld(target));
    return changeNote(toolset, noteIn(target), (held) =>
      isAccepted ? { ...held, isHeld: false } : undefined,
    );
  });
}

function notHeld({ name }: NoteTarget): Refusal {
  const reason = `the note "${name}" is not held for review; \`assay notes edit\` and \`delete\` change it`;
  return { code: 'ARGUMENTS_INVALID', reason };
}

function noteIn({ tool, name }: NoteTarget): { readonly namespacedName: string; readonly name: string } {
  return { namespacedName: tool, name };
}

interface NoteChange {
  readonly target: NoteTarget;
  readonly options: JsonOptions;
  /** Past participle for the output, such as `Added`. */
  readonly done: string;
}

/** Changes the notes of a tool and prints the resulting ones. */
function changeNotes(
  runtime: Runtime,
  { target, options, done }: NoteChange,
  changing: (toolset: Toolset) => Result<Toolset, Refusal>,
): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const both: Changing<Toolset> = (toolset) => {
      const made = changing(toolset);
      return made.ok ? ok({ toolset: made.value, value: made.value }) : made;
    };
    const changed = await toolsets.change(target.toolset, both, LOCAL_USER.subject);
    if (!changed.ok) return changed;
    const notes = placedNotes([changed.value]).filter(({ tool }) => tool === target.tool);
    if (options.json === true) printJson({ notes: notes.map(placedNoteJson) });
    else
      print(
        `${done}: the note ${quoted(target.name)} on ${quoted(target.tool)} in ${quoted(target.toolset)}.`,
      );
    return changed;
  });
}

export interface ReviewNotesOptions extends JsonOptions {
  readonly acceptAll?: boolean;
}

/** `assay notes review`: lists the notes held for review. `--accept-all` accepts exactly those listed. */
export function reviewNotes(runtime: Runtime, options: ReviewNotesOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const { acceptAll = false, json = false } = options;
    const held = placedNotes(toolsets.all).filter(({ note }) => note.isHeld);
    const accepted = acceptAll ? await accept(toolsets, held) : ok(undefined);
    if (!accepted.ok) return accepted;
    const shown = acceptAll ? held.map((one) => ({ ...one, note: { ...one.note, isHeld: false } })) : held;
    if (json) printJson({ notes: shown.map(placedNoteJson) });
    else print(tableOf(NOTE_HEAD, shown.map(noteRow)));
    printError(closing(held.length, acceptAll));
    return ok(undefined);
  });
}

async function accept(
  toolsets: Toolsets,
  held: readonly NoteInToolset[],
): Promise<Result<undefined, Refusal>> {
  for (const name of new Set(held.map(({ toolset }) => toolset))) {
    const meant = new Set(held.filter(({ toolset }) => toolset === name).map(keyOf));
    const accepting: Changing<undefined> = (toolset) => {
      const accepted = acceptNotes(toolset, (note, tool) => meant.has(keyOf({ tool, note })));
      return ok({ toolset: accepted, value: undefined });
    };
    const changed = await toolsets.change(name, accepting, LOCAL_USER.subject);
    if (!changed.ok) return changed;
  }
  return ok(undefined);
}

/** Includes the text: a note edited in the meantime was not shown. */
function keyOf({ tool, note }: Omit<NoteInToolset, 'toolset'>): string {
  return JSON.stringify([tool, note.name, note.note]);
}

function closing(count: number, isAccepted: boolean): string {
  if (count === 0) return 'No note is held for review.';
  if (isAccepted) return `Accepted ${counted(count, 'note')}: models read them from now on.`;
  return `${counted(count, 'note')} held for review. \`assay notes accept\` lets models read one, \`assay notes reject\` deletes it.`;
}

/** A note with its location. */
interface NoteInToolset {
  readonly toolset: string;
  readonly tool: string;
  readonly note: Note;
}

interface NoteInToolsetJson extends Omit<NoteJson, 'isHeld'> {
  readonly toolset: string;
  readonly tool: string;
  readonly isHeld: boolean;
}

/** Grouped by toolset and tool, in the order in which models read them. */
export function placedNotes(toolsets: readonly Toolset[]): readonly NoteInToolset[] {
  return toolsets.flatMap(({ name, toolNotes }) =>
    toolNotes.flatMap(({ namespacedName, notes }) =>
      notes.map((note) => ({ toolset: name, tool: namespacedName, note })),
    ),
  );
}

function placedNoteJson({ toolset, tool, note }: NoteInToolset): NoteInToolsetJson {
  return { toolset, tool, ...noteJson(note), isHeld: note.isHeld };
}

export const NOTE_HEAD: readonly string[] = [
  ...['TOOLSET', 'TOOL', 'NAME', 'WRITER', 'AUTHOR', 'WRITTEN', 'STATE', 'NOTE'],
];

export function noteRow({ toolset, tool, note }: NoteInToolset): readonly string[] {
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
