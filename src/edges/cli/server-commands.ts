import { Argument, Command, InvalidArgumentError } from 'commander';
import type { AddOptions } from './add.ts';
import { withConfig, withHome, type Done } from './common-options.ts';
import type { LogsOptions } from './logs.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

/** The commands for the servers of the config file and the running gateway. Each loads its module only when run. */
export function serverCommands(runtime: Runtime, done: Done): readonly Command[] {
  const commands = [addCommand(runtime, done), removeCommand(runtime, done), statusCommand(runtime, done)];
  return [...commands.map(withConfig), withHome(logsCommand(runtime, done)), completionCommand(done)];
}

const MAX_LINES = 100_000;

function logsCommand(runtime: Runtime, done: Done): Command {
  const count = (text: string): number => {
    const lines = Number(text);
    if (!/^\d{1,6}$/.test(text) || lines > MAX_LINES)
      throw new InvalidArgumentError(`It must be a whole number from 0 to ${MAX_LINES}.`);
    return lines;
  };
  return new Command('logs')
    .argument('[server]', 'only show lines about this server, including its stderr')
    .description('show the log of the running or last `assay serve` with this home')
    .option('-f, --follow', 'keep printing new lines until Ctrl+C')
    .option('-n, --lines <number>', 'number of lines to show', count, 100)
    .option('--json', 'print each line as JSON')
    .action(async (server: string | undefined, options: LogsOptions) => {
      const { showLogs } = await import('./logs.ts');
      done(await showLogs(runtime, server, options));
    });
}

function completionCommand(done: Done): Command {
  const shell = new Argument('<shell>').choices(['bash', 'zsh', 'fish']);
  return new Command('completion')
    .addArgument(shell)
    .description('print a shell completion script')
    .action(async (name: string) => {
      const { printCompletion } = await import('./completion.ts');
      done(printCompletion(name));
    });
}

/** The command that the completion scripts call at each tab. */
export function completeCommand(runtime: Runtime, done: Done): Command {
  return new Command('complete')
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[], _options: unknown, { parent }: Command) => {
      const { completeWords } = await import('./completion.ts');
      if (parent !== null) done(await completeWords(runtime, parent, words));
    });
}

function addCommand(runtime: Runtime, done: Done): Command {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
  return new Command('add')
    .usage('[options] <name> <url>\n       assay add [options] <name> -- <command> [args...]')
    .argument('<name>', 'name for the server')
    .argument('<target...>', 'URL of the server, or `--` followed by its command and arguments')
    .description('add a server to the config file and start it')
    .option('--env <name=value>', 'environment variable for the command; repeatable', collect, [])
    .option('--header <name:value>', 'HTTP header for the URL; repeatable', collect, [])
    .option('--overwrite', 'replace an existing server with this name')
    .option('--no-start', 'only write the entry, without starting the server')
    .option('--json', 'print JSON')
    .action(async (name: string, target: readonly string[], options: AddOptions) => {
      const { addServer } = await import('./add.ts');
      done(await addServer(runtime, { name, target }, options));
    });
}

function removeCommand(runtime: Runtime, done: Done): Command {
  return new Command('remove')
    .argument('<server>', 'name of the server in the config file')
    .description('remove a server from the config file')
    .option('--json', 'print JSON')
    .action(async (name: string, options: JsonOptions) => {
      const { removeServer } = await import('./add.ts');
      done(await removeServer(runtime, name, options));
    });
}

function statusCommand(runtime: Runtime, done: Done): Command {
  return new Command('status')
    .description('show the running gateway: endpoint, servers, clients and pending reviews')
    .option('--json', 'print JSON')
    .action(async (options: JsonOptions) => {
      const { showStatus } = await import('./status.ts');
      done(await showStatus(runtime, options));
    });
}
