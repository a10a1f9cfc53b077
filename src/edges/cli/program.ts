import { Command, CommanderError } from 'commander';
import { EXIT } from '../../core/errors.ts';
import type { AuthOptions } from './auth.ts';
import { clientConfigCommands } from './client-config-commands.ts';
import { type Done, withConfig, withHome } from './common-options.ts';
import type { ExportBundleOptions } from './export.ts';
import { gatewayCommands } from './gateway-commands.ts';
import { notesCommand } from './notes-command.ts';
import type { Runtime } from './runtime.ts';
import { completeCommand, serverCommands } from './server-commands.ts';
import { sourceCommands } from './source-commands.ts';
import type { CreateTokenOptions, TokenOptions } from './token.ts';
import { toolsetCommand } from './toolset-command.ts';

/** Runs one command line; resolves with the exit code, see EXIT. */
export async function runCommandLine(argv: readonly string[], runtime: Runtime): Promise<number> {
  const begun = argv.length > 2 ? undefined : await (await import('./begin.ts')).begin(runtime, {});
  if (begun !== undefined) return begun;
  let exit: number = EXIT.done;
  const done: Done = (code) => (exit = code);
  const program = programOf(runtime, done);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  return exit;
}

/** All commands. `done` receives the exit code of the one that is run. */
export function programOf(runtime: Runtime, done: Done): Command {
  const program = new Command('assay')
    .description('The MCP gateway that tells the truth about tools.')
    .version(runtime.version)
    .exitOverride()
    .showHelpAfterError('(assay --help shows all commands)');
  for (const command of [
    ...gatewayCommands(runtime, done),
    ...serverCommands(runtime, done),
    ...clientConfigCommands(runtime, done),
    exportCommand(runtime, done),
    ...sourceCommands(runtime, done),
    toolsetCommand(runtime, done),
    notesCommand(runtime, done),
    tokenCommand(runtime, done),
    authCommand(runtime, done),
  ])
    program.addCommand(inheriting(command, program));
  program.addCommand(inheriting(completeCommand(runtime, done), program), { hidden: true });
  return program;
}

/** Passes the error and help settings on to nested commands. */
function inheriting(command: Command, from: Command): Command {
  command.copyInheritedSettings(from);
  for (const inner of command.commands) inheriting(inner, command);
  return command;
}

/** `assay token` with its three subcommands. */
function tokenCommand(runtime: Runtime, done: Done): Command {
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

/** `assay auth`: signing in at remote servers. */
function authCommand(runtime: Runtime, done: Done): Command {
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

/** `assay export`. For `assay import`, see `clientConfigCommands`. */
function exportCommand(runtime: Runtime, done: Done): Command {
  const command = new Command('export')
    .description('write all that operators made here, to keep it or to import it elsewhere')
    .option('--file <file>', 'into this file, in the place of stdout')
    .option('--passphrase-file <file>', 'seal the secrets with what it holds (or ASSAY_PASSPHRASE)')
    .option('--json', 'what it always is')
    .action(async (options: ExportBundleOptions) => {
      const { exportBundle } = await import('./export.ts');
      done(await exportBundle(runtime, options));
    });
  return withConfig(command);
}
