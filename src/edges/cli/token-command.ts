import type { Command } from 'commander';
import type { Runtime } from './runtime.ts';
import { createToken, listTokens, revokeToken, type CreateTokenOptions, type TokenOptions } from './token.ts';

/** Gives `assay token` its three commands; `ended` is told the exit code. */
export function defineTokenCommands(token: Command, runtime: Runtime, ended: (exit: number) => void): void {
  const withCommon = (command: Command): Command =>
    command
      .option('--home <folder>', 'where Assay keeps its tokens (default: $ASSAY_HOME, then ~/.assay)')
      .option('--json', 'as JSON');
  withCommon(token.command('create <name>'))
    .description('make a token and show it, once, on stdout')
    .option('--scope <list>', 'what it allows, of admin, execute, read, mcp', 'mcp')
    .option('--expires <time>', 'how long it holds: 90m, 12h, 30d, 4w (default: until it is revoked)')
    .action(async (name: string, options: CreateTokenOptions) => {
      ended(await createToken(runtime, name, options));
    });
  withCommon(token.command('list'))
    .description('list all tokens, without what proves them')
    .action(async (options: TokenOptions) => {
      ended(await listTokens(runtime, options));
    });
  withCommon(token.command('revoke <name-or-id>'))
    .description('refuse a token from now on')
    .action(async (what: string, options: TokenOptions) => {
      ended(await revokeToken(runtime, what, options));
    });
}
