import { Command } from 'commander';
import type { AddOptions } from './add.ts';
import { withConfig, type Done } from './common-options.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

/** The commands for the servers of the config file. Each loads its module only when run. */
export function serverCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [addCommand(runtime, done), removeCommand(runtime, done)].map(withConfig);
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
