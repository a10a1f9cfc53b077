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
    .description('step by step: import the servers of the clients on this machine, and connect these')
    .option('--client <client...>', 'these clients only (default: all that have servers)')
    .option('--yes', 'do every step without asking')
    .option('--no-move', 'leave the imported entries in the files of the clients, too')
    .action(async (options: SetupOptions) => {
      const { setup } = await import('./setup.ts');
      done(await setup(runtime, options));
    });
}

function importCommand(runtime: Runtime, done: Done): Command {
  const clientIds = runtime.clients.map(({ id }) => id);
  return new Command('import')
    .argument('<client|file>', `${clientIds.join(', ')}, a config file, or what \`assay export\` wrote`)
    .description('copy the servers of another client into the config file of Assay, or take in an export')
    .option('--project <folder>', 'also those for this project')
    .option('--overwrite', 'replace what has the same name here')
    .option('--toolset <name>', 'name of the toolset made of the servers (default: that of the client)')
    .option('--no-equip', 'copy the servers only: start none, and make no toolset of them')
    .option('--move', 'take the imported entries out of the file of the client, until `connect --undo`')
    .option('--dry-run', 'show what would happen, write nothing')
    .option('--apply', 'of an export: do what is planned')
    .option('--keep', 'of an export: leave what is here and differs as it is')
    .option('--passphrase-file <file>', 'of an export: opens its secrets (or ASSAY_PASSPHRASE)')
    .option('--json', 'as JSON')
    .action(async (from: string, options: ImportOptions & ImportBundleOptions) => {
      const { bundleIn, importBundle } = await import('./import-bundle.ts');
      const bundle = clientIds.includes(from) ? undefined : await bundleIn(runtime, from);
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
    .description('write Assay into the config file of a client')
    .option('--name <name>', 'what the client calls it', 'assay')
    .option('--http [url]', 'the address of a running `assay serve`, instead of a command')
    .addOption(
      new Option('--all', 'all tools of all servers, whatever is equipped').conflicts([
        'toolset',
        'equipped',
      ]),
    )
    .addOption(
      new Option('--toolset <name>', 'the tools of this toolset, whatever is equipped').conflicts('equipped'),
    )
    .option(
      '--equipped',
      'whatever is equipped (default, unless another toolset than the one named after the client is)',
    )
    .option('--project <folder>', 'in the file of this project')
    .option('--undo', 'undo what Assay did to the file; one that was not edited since becomes what it was')
    .option('--force', 'also where the client seems not to be installed, or the name is taken')
    .option('--dry-run', 'show what would be written, write nothing')
    .option('--json', 'as JSON')
    .action(async (client: string, options: ConnectOptions) => {
      const { connect } = await import('./connect.ts');
      done(await connect(runtime, client, options));
    });
}
