import { formatCount } from '../../core/counted.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { Note } from '../../api/note.ts';
import type { NoteService, NoteTarget } from '../../gateway/services/notes/note-service.ts';
import { print, printError, printJson, quoteText, style, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

export interface ListNotesOptions extends JsonOptions {
  readonly toolset?: string;
}

/** `assay notes` */
export function listNotes(runtime: Runtime, options: ListNotesOptions): Promise<number> {
  return withToolsets(runtime, options, ({ notes }) => {
    const listed = notes.list(options.toolset);
    if (!listed.ok) return Promise.resolve(listed);
    printNotes(listed.value, options);
    if (listed.value.length === 0)
      printError('There are no notes. Add one with `assay notes add TOOLSET TOOL NAME NOTE`.');
    return Promise.resolve(listed);
  });
}

/** A subcommand that changes one note. */
export type NoteVerb = 'add' | 'edit' | 'delete' | 'move' | 'accept' | 'reject';

const BY = { by: LOCAL_USER.subject };

interface NoteAction {
  /** Past participle for the output. `value` is the last argument of the command. */
  readonly done: (value: string) => string;
  readonly act: (
    notes: NoteService,
    target: NoteTarget,
    value: string,
  ) => Promise<Result<readonly Note[], Refusal>>;
}

const ACTIONS: Readonly<Record<NoteVerb, NoteAction>> = {
  add: { done: () => 'Added', act: (notes, target, note) => notes.add(target, note, BY) },
  edit: { done: () => 'Changed', act: (notes, target, note) => notes.edit(target, { note }, BY) },
  delete: { done: () => 'Deleted', act: (notes, target) => notes.delete(target, BY) },
  move: {
    done: (position) => `Moved to position ${position}`,
    act: (notes, target, position) =>
      notes.edit(target, { position: /^\d{1,4}$/.test(position) ? Number(position) : 0 }, BY),
  },
  accept: { done: () => 'Accepted', act: (notes, target) => notes.review(target, true, BY) },
  reject: { done: () => 'Rejected', act: (notes, target) => notes.review(target, false, BY) },
};

interface NoteArguments {
  readonly target: NoteTarget;
  readonly value: string;
}

/** `assay notes add`, `edit`, `delete`, `move`, `accept` and `reject`: prints the resulting notes on the tool. */
export function changeNote(
  runtime: Runtime,
  verb: NoteVerb,
  { target, value }: NoteArguments,
  options: JsonOptions,
): Promise<number> {
  const { done, act } = ACTIONS[verb];
  return withToolsets(runtime, options, async ({ notes }) => {
    const changed = await act(notes, target, value);
    if (!changed.ok) return changed;
    const { toolset, tool, name } = target;
    if (options.json === true) printNotes(changed.value, options);
    else print(`${done(value)}: the note ${quoteText(name)} on ${quoteText(tool)} in ${quoteText(toolset)}.`);
    return changed;
  });
}

export interface ReviewNotesOptions extends JsonOptions {
  readonly acceptAll?: boolean;
}

/** `assay notes review`: lists the notes held for review. `--accept-all` accepts exactly those listed. */
export function reviewNotes(runtime: Runtime, options: ReviewNotesOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ notes }) => {
    const { acceptAll = false } = options;
    const listed = acceptAll ? await notes.acceptAll(BY.by) : notes.list();
    if (!listed.ok) return listed;
    const reviewed = listed.value.filter(({ isHeld }) => isHeld || acceptAll);
    printNotes(reviewed, options);
    printError(closing(reviewed.length, acceptAll));
    return ok(undefined);
  });
}

function closing(count: number, isAccepted: boolean): string {
  if (count === 0) return 'No note is held for review.';
  if (isAccepted) return `Accepted ${formatCount(count, 'note')}: models read them from now on.`;
  return `${formatCount(count, 'note')} held for review. \`assay notes accept\` lets models read one, \`assay notes reject\` deletes it.`;
}

function printNotes(notes: readonly Note[], { json }: JsonOptions): void {
  if (json === true) printJson({ notes });
  else print(formatTable(NOTE_HEAD, notes.map(toNoteRow)));
}

export const NOTE_HEAD: readonly string[] = [
  ...['TOOLSET', 'TOOL', 'NAME', 'WRITER', 'AUTHOR', 'WRITTEN', 'STATE', 'NOTE'],
];

export function toNoteRow({
  toolset,
  tool,
  name,
  by,
  author,
  writtenAt,
  isHeld,
  note,
}: Note): readonly string[] {
  const writer = by === 'model' ? style.yellow(by) : by;
  return [toolset, tool, name, writer, author, writtenAt, isHeld ? style.yellow('held') : 'read', note];
}
