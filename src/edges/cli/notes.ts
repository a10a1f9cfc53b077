import type { Note, Notes } from '../../api/note.ts';
import { formatCount } from '../../core/counted.ts';
import type { ApiRequest } from './api.ts';
import { print, printError, quoteText, style, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, sendAndPrint } from './with-api.ts';
import type { JsonOptions } from './with-opened.ts';

export interface ListNotesOptions extends JsonOptions {
  readonly toolset?: string;
}

export interface ReviewNotesOptions extends JsonOptions {
  readonly acceptAll?: boolean;
}

/** `assay notes` */
export function listNotes(runtime: Runtime, options: ListNotesOptions): Promise<number> {
  const { toolset } = options;
  const query = toolset === undefined ? {} : { toolset };
  return sendAndPrint<Notes>(
    runtime,
    options,
    { method: 'GET', path: '/notes', query },
    {
      say: printNotes,
      note: ({ notes }) => {
        if (notes.length === 0)
          printError('There are no notes. Add one with `assay notes add TOOLSET TOOL NAME NOTE`.');
      },
    },
  );
}

/** A subcommand that changes one note. */
export type NoteVerb = 'add' | 'edit' | 'delete' | 'move' | 'accept' | 'reject';

interface NoteArguments {
  readonly toolset: string;
  readonly tool: string;
  readonly name: string;
  /** The last argument of the command. */
  readonly value: string;
}

/** The request of a subcommand, and its past participle for the output. */
type ToChange = (given: NoteArguments, path: string) => ApiRequest & { readonly done: string };

const CHANGES: Readonly<Record<NoteVerb, ToChange>> = {
  add: ({ value: note, ...target }) => ({
    ...{ method: 'POST', path: '/notes', body: { ...target, note }, done: 'Added' },
  }),
  edit: ({ value: note }, path) => ({ method: 'PUT', path, body: { note }, done: 'Changed' }),
  delete: (_given, path) => ({ method: 'DELETE', path, done: 'Deleted' }),
  move: ({ value }, path) => {
    const position = /^\d{1,4}$/.test(value) ? Number(value) : 0;
    return { method: 'PUT', path, body: { position }, done: `Moved to position ${value}` };
  },
  accept: (_given, path) => ({ method: 'POST', path: `${path}/accept`, done: 'Accepted' }),
  reject: (_given, path) => ({ method: 'POST', path: `${path}/reject`, done: 'Rejected' }),
};

/** `assay notes add`, `edit`, `delete`, `move`, `accept` and `reject`: prints the resulting notes on the tool. */
export function changeNote(
  runtime: Runtime,
  verb: NoteVerb,
  given: NoteArguments,
  options: JsonOptions,
): Promise<number> {
  const { toolset, tool, name } = given;
  const { done, ...request } = CHANGES[verb](given, apiPath`/notes/${toolset}/${tool}/${name}`);
  const say = (): void =>
    print(`${done}: the note ${quoteText(name)} on ${quoteText(tool)} in ${quoteText(toolset)}.`);
  return sendAndPrint(runtime, options, request, { say });
}

/** `assay notes review`: lists the notes held for review. `--accept-all` accepts exactly those listed. */
export function reviewNotes(runtime: Runtime, options: ReviewNotesOptions): Promise<number> {
  const { acceptAll = false } = options;
  const request: ApiRequest = acceptAll
    ? { method: 'POST', path: '/notes/accept' }
    : { method: 'GET', path: '/notes', query: { held: 'true' } };
  return sendAndPrint<Notes>(runtime, options, request, {
    say: printNotes,
    note: ({ notes }) => printError(formatReviewed(notes.length, acceptAll)),
  });
}

function formatReviewed(count: number, isAccepted: boolean): string {
  if (count === 0) return 'No note is held for review.';
  if (isAccepted) return `Accepted ${formatCount(count, 'note')}: models read them from now on.`;
  return `${formatCount(count, 'note')} held for review. \`assay notes accept\` lets models read one, \`assay notes reject\` deletes it.`;
}

function printNotes({ notes }: Notes): void {
  print(formatTable(NOTE_HEAD, notes.map(toNoteRow)));
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
