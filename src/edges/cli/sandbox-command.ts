import { Command } from 'commander';
import type { Done } from './common-options.ts';
import type { Runtime } from './runtime.ts';
import type { CheckOptions } from './sandbox.ts';

/** `assay sandbox check` */
export function sandboxCommand(runtime: Runtime, done: Done): Command {
  const check = new Command('check')
    .description('say whether this machine can enforce sandboxes, and what to install')
    .option('--json', 'print JSON')
    .action(async (options: CheckOptions) => {
      const { checkSandbox } = await import('./sandbox.ts');
      done(await checkSandbox(runtime, options));
    });
  return new Command('sandbox')
    .description('sandboxes of servers whose config entry has "sandbox"')
    .addCommand(check);
}
