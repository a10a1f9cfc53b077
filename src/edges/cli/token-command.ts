import { Command } from 'commander';
import { withHome, type Done } from './common-options.ts';
import type { Runtime } from './runtime.ts';
import type { CreateTokenOptions, TokenOptions } from './token.ts';

/** `assay token` with its three commands. */
export function tokenCommand(runtime: Runtime, done: Done): Command {
  const token = new Command('token').description('make, list and revoke tokens for clients');
  const create = new Command('create')
    .argument('<name>')
    .description('make a token and show it, once, on stdout')
    .option('--scope <list>', 'what it allows, of admin, execute, read, mcp', 'mcp')
    .option('--expires <time>', 'how long it holds: 90m, 12h, 30d, 4w (default: until it is revoked)')
    .action(async (name: string, options: CreateTokenOptions) => {
      const { createToken } = await import('./token.ts');
      done(await createToken(runtime, name, options));
    });
  const list = new Command('list')
    .description('list all tokens, without what proves them')
    .action(async (options: TokenOptions) => {
      const { listTokens } = await import('./token.ts');
      done(await listTokens(runtime, options));
    });
  const revoke = new Command('revoke')
    .argument('<name-or-id>')
    .description('refuse a token from now on')
    .action(async (what: string, options: TokenOptions) => {
      const { revokeToken } = await import('./token.ts');
      done(await revokeToken(runtime, what, options));
    });
  for (const command of [create, list, revoke])
    token.addCommand(withHome(command).option('--json', 'as JSON'));
  return token;
}
