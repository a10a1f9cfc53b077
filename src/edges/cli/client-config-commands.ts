import { Command, Option } from 'commander';
import { withConfig, type Done } from './common-options.ts';
import type { ConnectOptions } from './connect.ts';
import type { ImportBundleOptions } from './import-bundle.ts';
import type { ImportOptions } from './import.ts';
import type { Runtime } from './runtime.ts';
import type { SetupOptions } from './setup.ts';

/** The commands for the config files of other clients. `done` receives the exit code. */
export function clientConfigCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [setupCommand(runtime, done), importCommand(runtime, done), connectCommand(runtime, done)].map(
    withConfig,
  );
}

function setupCommand(runtime: Runtime, done: Done): Command {
  return new Command('setup')
    .description(
      'set up step by step: import servers from MCP clients on this machine, then connect the clients',
    )
    .option('--client <client...>', 'only these clients (default: all with servers)')
    .option('--yes', 'answer yes to every question')
    .option('--no-move', 'keep the imported entries in the clients’ config files')
    .action(async (options: SetupOptions) => {
      const { setup } = await import('./setup.ts');
      done(await setup(runtime, options));
    });
}

function importCommand(runtime: Runtime, done: Done): Command {
  const clientIds = runtime.clients.map(({ id }) => id);
  return new Command('import')
    .argument(
      '<client|file>',
      `${clientIds.join(', ')}, a config file, or a bundle written by \`assay export\``,
    )
    .description('import servers from an MCP client, or a bundle written by `assay export`')
    .option('--project <folder>', 'also import the servers of this project')
    .option('--overwrite', 'replace existing entries with the same name')
    .option('--toolset <name>', 'name of the new toolset (default: name of the client)')
    .option('--no-equip', 'only copy the servers: do not start them or create a toolset')
    .option('--move', 'remove the imported entries from the client’s file; `connect --undo` restores them')
    .option('--dry-run', 'show what would happen, without writing anything')
    .option('--apply', 'for a bundle: apply the plan')
    .option('--keep', 'for a bundle: keep existing entries that differ')
    .option(
      '--passphrase-file <file>',
      'for a bundle: file with the passphrase for its secrets (or ASSAY_PASSPHRASE)',
    )
    .option('--json', 'print JSON')
    .action(async (from: string, options: ImportOptions & ImportBundleOptions) => {
      const { readBundleFile, importBundle } = await import('./import-bundle.ts');
      const bundle = clientIds.includes(from) ? undefined : await readBundleFile(runtime, from);
      if (bundle !== undefined) {
        done(
          await importBundle(runtime, bundle, {
            ...options,
            ...(options.dryRun === true && { apply: false }),
          }),
        );
        return;
      }
      const { importFrom } = await import('./import.ts');
      done(await importFrom(runtime, from, options));
    });
}

function connectCommand(runtime: Runtime, done: Done): Command {
  return new Command('connect')
    .argument('<client>', runtime.clients.map(({ id }) => id).join(', '))
    .description('add Assay to the config file of an MCP client')
    .option('--name <name>', 'name of the entry in the client’s config', 'assay')
    .option('--http [url]', 'connect to a running `assay serve` at this URL instead of starting a command')
    .addOption(
      new Option('--all', 'serve all tools of all servers, even if a toolset is equipped').conflicts([
        'toolset',
        'equipped',
        'search',
      ]),
    )
    .addOption(
      new Option('--toolset <name>', 'serve this toolset, even if another one is equipped').conflicts([
        'equipped',
        'search',
      ]),
    )
    .addOption(
      new Option('--search', 'serve three tools that find, describe and call all others').conflicts(
        'equipped',
      ),
    )
    .option(
      '--equipped',
      'serve the equipped toolset (default, unless it is not the one named after the client)',
    )
    .option('--project <folder>', 'write to the config file of this project')
    .option('--undo', 'undo the changes of Assay; a file that was not edited since is restored exactly')
    .option('--force', 'write even if the client does not seem to be installed or the name is taken')
    .option('--dry-run', 'show the changes without writing them')
    .option('--json', 'print JSON')
    .action(async (client: string, options: ConnectOptions) => {
      const { connect } = await import('./connect.ts');
      done(await connect(runtime, client, options));
    });
}
