import { Command } from 'commander';
import type { Note, Notes } from '../../api/note.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { withHome, type Done, type JsonOptions } from './common-options.ts';
import type { ApiRequest } from './api.ts';
import { print, printError, quoteText, style, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import type { Runtime } from './runtime.ts';
import { apiPath, sendAndPrint } from './with-api.ts';

/** `assay notes` with its subcommands; lists by default. */
export function notesCommand(runtime: Runtime, done: Done): Command {
  const notes = new Command('notes').description('list, write and review the notes on tools in toolsets');
  const list = new Command('list')
    .description('list all notes, or those of one toolset')
    .argument('[toolset]', 'only list notes of this toolset')
    .option('--toolset <name>', 'the same')
    .action(async (toolset: string | undefined, options: ListNotesOptions) =>
      done(await listNotes(runtime, { ...options, ...(toolset !== undefined && { toolset }) })),
    );
  const review = new Command('review')
    .description('list notes by models that wait for a review')
    .option('--accept-all', 'accept all listed notes')
    .action(async (options: ReviewNotesOptions) => done(await reviewNotes(runtime, options)));
  notes.addCommand(finished(list), { isDefault: true });
  for (const [verb, { about, value, toRequest }] of Object.entries(CHANGES)) {
    const command = new Command(verb)
      .description(about)
      .argument('<toolset>')
      .argument('<tool>', 'namespaced name of the tool: server.tool')
      .argument('<name>', 'lowercase letters, digits and hyphens');
    if (value !== undefined) command.argument(...value);
    command.action(async () => {
      const [toolset = '', tool = '', name = '', given = ''] = command.args;
      const change = toRequest(
        { toolset, tool, name, value: given },
        apiPath`/notes/${toolset}/${tool}/${name}`,
      );
      const say = (): void =>
        print(`${change.done}: the note ${quoteText(name)} on ${quoteText(tool)} in ${quoteText(toolset)}.`);
      done(await sendAndPrint(runtime, command.opts<JsonOptions>(), change.request, { say }));
    });
    notes.addCommand(finished(command));
  }
  notes.addCommand(finished(review));
  return notes;
}

function finished(command: Command): Command {
  return withHome(command).option('--json', 'print JSON');
}

interface ListNotesOptions extends JsonOptions {
  readonly toolset?: string;
}

interface ReviewNotesOptions extends JsonOptions {
  readonly acceptAll?: boolean;
}

/** `assay notes` */
function listNotes(runtime: Runtime, options: ListNotesOptions): Promise<number> {
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

interface NoteArguments {
  readonly toolset: string;
  readonly tool: string;
  readonly name: string;
  /** The last argument of the command. */
  readonly value: string;
}

/** A subcommand that changes one note and prints what it did. */
interface NoteChange {
  readonly about: string;
  /** An argument after the location of the note. */
  readonly value?: readonly [name: string, about?: string];
  /** `path`: of the note. `done`: the past participle for the output. */
  readonly toRequest: (
    given: NoteArguments,
    path: string,
  ) => { readonly request: ApiRequest; readonly done: string };
}

const CHANGES: Readonly<Record<string, NoteChange>> = {
  add: {
    about: 'add a note that models see with the tool',
    value: ['<note>'],
    toRequest: ({ value: note, ...target }) => ({
      request: { method: 'POST', path: '/notes', body: { ...target, note } },
      done: 'Added',
    }),
  },
  edit: {
    about: 'replace the text of a note; you become its author',
    value: ['<note>'],
    toRequest: ({ value: note }, path) => ({
      request: { method: 'PUT', path, body: { note } },
      done: 'Changed',
    }),
  },
  delete: {
    about: 'delete a note',
    toRequest: (_given, path) => ({ request: { method: 'DELETE', path }, done: 'Deleted' }),
  },
  move: {
    about: 'move a note to another position',
    value: ['<position>', 'new position among the notes of the tool, starting at 1'],
    toRequest: ({ value }, path) => ({
      request: { method: 'PUT', path, body: { position: /^\d{1,4}$/.test(value) ? Number(value) : 0 } },
      done: `Moved to position ${value}`,
    }),
  },
  accept: {
    about: 'accept a note that waits for a review',
    toRequest: (_given, path) => ({
      request: { method: 'POST', path: `${path}/accept` },
      done: 'Accepted',
    }),
  },
  reject: {
    about: 'reject and delete a note that waits for a review',
    toRequest: (_given, path) => ({
      request: { method: 'POST', path: `${path}/reject` },
      done: 'Rejected',
    }),
  },
};

/** `assay notes review`: lists the notes held for review. `--accept-all` accepts exactly those listed. */
function reviewNotes(runtime: Runtime, options: ReviewNotesOptions): Promise<number> {
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
