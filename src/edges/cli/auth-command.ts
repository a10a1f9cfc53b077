import { Command } from 'commander';
import type { AuthOptions } from './auth.ts';
import { withConfig, type Done } from './common-options.ts';
import type { Runtime } from './runtime.ts';

/** `assay auth`: signing in at remote servers. */
export function authCommand(runtime: Runtime, done: Done): Command {
  return withConfig(new Command('auth'))
    .argument('[server]', 'name of a server in the config')
    .description('sign in at a remote server, or list and forget what was signed in')
    .option('--list', 'show all sign-ins, without what is secret in them')
    .option('--forget', 'forget the sign-in at this server, and have its issuer revoke it')
    .option('--subject <name>', 'for whom: the name of a token, where each signs in for itself', 'local')
    .option('--no-browser', 'only print the address, and take what the browser ended at from stdin')
    .option('--json', 'as JSON')
    .action(async (server: string | undefined, options: AuthOptions) => {
      const { authorize } = await import('./auth.ts');
      done(await authorize(runtime, server, options));
    });
}
