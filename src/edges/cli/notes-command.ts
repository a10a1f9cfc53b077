import { Command } from 'commander';
import { withHome, type Done } from './common-options.ts';
import type { ListNotesOptions, ReviewNotesOptions } from './notes.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

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
  notes.addCommand(finished(list), { isDefault: true });
  for (const command of [...writing(runtime, done), ...arranging(runtime, done), ...judging(runtime, done)])
    notes.addCommand(finished(command));
  return notes;
}

function finished(command: Command): Command {
  return withHome(command).option('--json', 'print JSON');
}

function noteCommand(name: string): Command {
  return new Command(name)
    .argument('<toolset>')
    .argument('<tool>', 'namespaced name of the tool: server.tool')
    .argument('<name>', 'lowercase letters, digits and hyphens');
}

type Five = [toolset: string, tool: string, name: string, last: string, options: JsonOptions];
type Four = [toolset: string, tool: string, name: string, options: JsonOptions];

function writing(runtime: Runtime, done: Done): readonly Command[] {
  return [
    noteCommand('add')
      .argument('<text>')
      .description('add a note that models see with the tool')
      .action(async (...[toolset, tool, name, text, options]: Five) => {
        const { addNote } = await import('./notes.ts');
        done(await addNote(runtime, { target: { toolset, tool, name }, text }, options));
      }),
    noteCommand('edit')
      .argument('<text>')
      .description('replace the text of a note; you become its author')
      .action(async (...[toolset, tool, name, text, options]: Five) => {
        const { editNote } = await import('./notes.ts');
        done(await editNote(runtime, { target: { toolset, tool, name }, text }, options));
      }),
  ];
}

function arranging(runtime: Runtime, done: Done): readonly Command[] {
  return [
    noteCommand('delete')
      .description('delete a note')
      .action(async (...[toolset, tool, name, options]: Four) => {
        const { deleteNote } = await import('./notes.ts');
        done(await deleteNote(runtime, { toolset, tool, name }, options));
      }),
    noteCommand('move')
      .argument('<position>', 'new position among the notes of the tool, starting at 1')
      .description('move a note to another position')
      .action(async (...[toolset, tool, name, position, options]: Five) => {
        const { moveNoteTo } = await import('./notes.ts');
        done(await moveNoteTo(runtime, { target: { toolset, tool, name }, position }, options));
      }),
  ];
}

function judging(runtime: Runtime, done: Done): readonly Command[] {
  const judge = (isAccepted: boolean) => {
    return async (...[toolset, tool, name, options]: Four): Promise<void> => {
      const { setNoteAccepted } = await import('./notes.ts');
      done(await setNoteAccepted(runtime, { target: { toolset, tool, name }, isAccepted }, options));
    };
  };
  return [
    new Command('review')
      .description('list notes by models that wait for a review')
      .option('--accept-all', 'accept all listed notes')
      .action(async (options: ReviewNotesOptions) => {
        const { reviewNotes } = await import('./notes.ts');
        done(await reviewNotes(runtime, options));
      }),
    noteCommand('accept').description('accept a note that waits for a review').action(judge(true)),
    noteCommand('reject')
      .description('reject and delete a note that waits for a review')
      .action(judge(false)),
  ];
}
