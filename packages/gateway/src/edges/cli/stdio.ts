import { Command, Option } from 'commander';
import type { StdioOptions } from '../../core/command-options.ts';
import { type Done, withConfig } from './common-options.ts';
import type { Runtime } from './runtime.ts';

/** `assay stdio` */
export function stdioCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('stdio')
      .description('serve all configured servers on stdin and stdout, for clients that start Assay')
      .option('--attach', 'use the gateway of the home, which is started in the background if none runs')
      .option('--no-background', 'with --attach: use a gateway that runs, but start none')
      .addOption(
        new Option('--all', 'serve all tools of all servers, even if a toolset is equipped').conflicts(
          'toolset',
        ),
      )
      .option('--toolset <name>', 'serve this toolset, even if another one is equipped')
      .addOption(
        new Option('--search', 'expose three tools that find, describe and call all others').conflicts([
          'all',
          'toolset',
        ]),
      )
      .action(async (options: StdioOptions) => done(await runtime.runStdio(options))),
  );
}
