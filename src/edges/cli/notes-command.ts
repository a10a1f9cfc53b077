import { Argument, Command } from 'commander';
import { withHome, type Done } from './common-options.ts';
import type { ListNotesOptions, NoteVerb, ReviewNotesOptions } from './notes.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

/** The subcommands that change one note; `value` is an argument after its location. */
const CHANGES: readonly { readonly verb: NoteVerb; readonly about: string; readonly value?: Argument }[] = [
  { verb: 'add', about: 'add a note that models see with the tool', value: new Argument('<note>') },
  { verb: 'edit', about: 'replace the text of a note; you become its author', value: new Argument('<note>') },
  { verb: 'delete', about: 'delete a note' },
  {
    verb: 'move',
    about: 'move a note to another position',
    value: new Argument('<position>', 'new position among the notes of the tool, starting at 1'),
  },
  { verb: 'accept', about: 'accept a note that waits for a review' },
  { verb: 'reject', about: 'reject and delete a note that waits for a review' },
];

/** `assay notes` with its subcommands; lists by default. Each loads its module only when run. */
export function notesCommand(runtime: Runtime, done: Done): Command {
  const notes = new Command('notes').description('list, write and review the notes on tools in toolsets');
  const list = new Command('list')
    .description('list all notes')
    .option('--toolset <name>', 'only list notes of this toolset')
    .action(async (options: ListNotesOptions) => {
      const { listNotes } = await import('./notes.ts');
      done(await listNotes(runtime, options));
    });
  const review = new Command('review')
    .description('list notes by models that wait for a review')
    .option('--accept-all', 'accept all listed notes')
    .action(async (options: ReviewNotesOptions) => {
      const { reviewNotes } = await import('./notes.ts');
      done(await reviewNotes(runtime, options));
    });
  notes.addCommand(finished(list), { isDefault: true });
  for (const { verb, about, value } of CHANGES) {
    const command = new Command(verb)
      .description(about)
      .argument('<toolset>')
      .argument('<tool>', 'namespaced name of the tool: server.tool')
      .argument('<name>', 'lowercase letters, digits and hyphens');
    if (value !== undefined) command.addArgument(value);
    command.action(async () => {
      const [toolset = '', tool = '', name = '', given = ''] = command.args;
      const { changeNote } = await import('./notes.ts');
      const change = { toolset, tool, name, value: given };
      done(await changeNote(runtime, verb, change, command.opts<JsonOptions>()));
    });
    notes.addCommand(finished(command));
  }
  notes.addCommand(finished(review));
  return notes;
}

function finished(command: Command): Command {
  return withHome(command).option('--json', 'print JSON');
}
