import { Command, InvalidArgumentError, Option } from 'commander';

/** What `assay codebase` or `assay-codebase` is to do. */
export type CodebaseRequest =
  | ({ readonly kind: 'serve' } & ServeOptions)
  | ({ readonly kind: 'index'; readonly path: string } & IndexOptions)
  | ({ readonly kind: 'search'; readonly query: string } & SearchOptions)
  | ({ readonly kind: 'remove'; readonly path: string } & CommandOptions);

interface HomeOptions {
  readonly home?: string;
  readonly config?: string;
}

interface ServeOptions extends HomeOptions {
  readonly stateless?: boolean;
  /** Whether changed files are reindexed in the background. */
  readonly watch: boolean;
  /** The folders that clients may use. Empty: the working folder, and those that a terminal was told. */
  readonly root: readonly string[];
  /** What the gateway tells a process in a sandbox, as JSON. */
  readonly confined?: string;
  /** The command that users know, if it is not the one that was started. */
  readonly calledAs?: string;
}

interface CommandOptions extends HomeOptions {
  readonly project?: string;
  readonly json?: boolean;
}

interface IndexOptions extends CommandOptions {
  readonly force?: boolean;
}

interface SearchOptions extends CommandOptions {
  readonly type?: string;
  readonly directory?: string;
  readonly exact?: boolean;
  readonly regex?: boolean;
  readonly limit: number;
}

/** Defines the options and commands of code search. */
export function defineCodebaseCommand(
  command: Command,
  run: (request: CodebaseRequest) => Promise<void>,
): Command {
  const config = 'config file with "mcpServers" (default: $ASSAY_CONFIG, then mcp.json in the home)';
  withHome(command.option('--config <file>', config))
    .description('serve code search on stdin and stdout, for clients that start it')
    .option('--stateless', 'keep no working directory, for a process that several clients share')
    .option('--no-watch', 'do not reindex changed files in the background')
    .option(
      '--root <folder>',
      'a folder that clients may index and search; can be repeated (default: the working folder, and those indexed at a terminal)',
      (folder: string, others: readonly string[]) => [...others, folder],
      [],
    )
    .addOption(new Option('--confined <json>', 'set by the gateway that starts it in a sandbox').hideHelp())
    .addOption(new Option('--called-as <command>', 'set by the gateway that starts it').hideHelp())
    .action((options: ServeOptions) => run({ kind: 'serve', ...options }));
  const index = new Command('index')
    .argument('<path>', 'the root of a repository')
    .description('index a repository; only new and changed files are read')
    .option('--project <id>', 'project to index into, which is created if needed (default: see search)')
    .option('--force', 'read unchanged files again')
    .action((path: string, options: IndexOptions) =>
      run({ kind: 'index', path, ...command.opts<HomeOptions>(), ...options }),
    );
  const search = new Command('search')
    .argument('<query...>', 'words, an identifier or a question')
    .description('search indexed code')
    .option('--project <id>', 'project to search (default: that of this folder, else "default")')
    .option('--type <extension>', 'only files with this extension, such as ts')
    .option('--directory <path>', 'only below this directory of the repository')
    .option('--exact', 'find the lines that contain the query exactly as it is')
    .option('--regex', 'find the lines that match the query as a regular expression (RE2)')
    .option('--limit <number>', 'maximum number of results, 1 to 50', parseWhole, 10)
    .action((words: readonly string[], options: SearchOptions) =>
      run({ kind: 'search', query: words.join(' '), ...command.opts<HomeOptions>(), ...options }),
    );
  const remove = new Command('remove')
    .argument('<path>', 'the root of an indexed repository, which need not exist any more')
    .description('remove a repository from the index; the repository itself is left as it is')
    .option('--project <id>', 'project to remove it from (default: see search)')
    .action((path: string, options: CommandOptions) =>
      run({ kind: 'remove', path, ...command.opts<HomeOptions>(), ...options }),
    );
  for (const inner of [index, search, remove])
    command.addCommand(withHome(inner).option('--json', 'print JSON'));
  return command;
}

function withHome(command: Command): Command {
  return command.option('--home <folder>', 'data folder (default: $ASSAY_HOME, then ~/.assay)');
}

function parseWhole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is not a whole number.');
  return Number(text);
}
