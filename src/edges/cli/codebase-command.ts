import { Command, InvalidArgumentError, Option } from 'commander';
import type { CodebaseIndexOptions, CodebaseSearchOptions, CodebaseServeOptions } from './codebase.ts';
import { type Done, withConfig, withHome } from './common-options.ts';
import type { Runtime } from './runtime.ts';

/** `assay codebase`: the code-search server, and its tools as commands. */
export function codebaseCommand(runtime: Runtime, done: Done): Command {
  const command = withConfig(new Command('codebase'))
    .description('serve code search on stdin and stdout, for clients that start it')
    .option('--stateless', 'keep no working directory, for a process that several clients share')
    .option(
      '--root <folder>',
      'a folder that clients may index and search; can be repeated (default: the working folder, and those indexed at a terminal)',
      (folder: string, others: readonly string[]) => [...others, folder],
      [],
    )
    .addOption(new Option('--confined <json>', 'set by the gateway that starts it in a sandbox').hideHelp())
    .action(async (options: CodebaseServeOptions) => {
      const { serveCodebase } = await import('./codebase.ts');
      done(await serveCodebase(runtime, options));
    });
  const index = new Command('index')
    .argument('<path>', 'the root of a repository')
    .description('index a repository; only new and changed files are read')
    .option('--project <id>', 'project to index into, which is created if needed (default: see search)')
    .option('--force', 'read unchanged files again')
    .action(async (path: string, options: CodebaseIndexOptions) => {
      const { indexCodebase } = await import('./codebase.ts');
      done(await indexCodebase(runtime, path, { ...command.opts(), ...options }));
    });
  const search = new Command('search')
    .argument('<query...>', 'words, an identifier or a question')
    .description('search indexed code')
    .option('--project <id>', 'project to search (default: that of this folder, else "default")')
    .option('--type <extension>', 'only files with this extension, such as ts')
    .option('--directory <path>', 'only below this directory of the repository')
    .option('--limit <number>', 'maximum number of results, 1 to 50', whole, 10)
    .action(async (words: readonly string[], options: CodebaseSearchOptions) => {
      const { searchCodebase } = await import('./codebase.ts');
      done(await searchCodebase(runtime, words.join(' '), { ...command.opts(), ...options }));
    });
  for (const inner of [index, search]) command.addCommand(withHome(inner).option('--json', 'print JSON'));
  return command;
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is not a whole number.');
  return Number(text);
}
