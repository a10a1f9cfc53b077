import { Argument, Command, CommanderError } from 'commander';
import { EXIT } from '../../core/errors.ts';
import { activityCommand } from './activity-command.ts';
import type { AuthOptions } from './auth.ts';
import { clientConfigCommands } from './client-config-commands.ts';
import { codebaseCommand } from './codebase-command.ts';
import type { Shell } from './completion-scripts.ts';
import { type Done, withConfig, withHome } from './common-options.ts';
import type { ExportBundleOptions } from './export-bundle.ts';
import { gatewayCommands } from './gateway-commands.ts';
import { notesCommand } from './notes-command.ts';
import { approvalsCommand } from './approvals-command.ts';
import { policyCommand } from './policy-command.ts';
import type { Runtime } from './runtime.ts';
import { serverCommands } from './server-commands.ts';
import { sandboxCommand } from './sandbox-command.ts';
import { sourceCommands } from './source-commands.ts';
import type { CreateTokenOptions, LinkOptions, TokenOptions } from './token.ts';
import { toolCommands } from './tool-commands.ts';
import { toolsetCommand } from './toolset-command.ts';
import { verifyCommand } from './verify-command.ts';

/** Runs one command line; resolves with the exit code, see EXIT. */
export async function runCommandLine(argv: readonly string[], runtime: Runtime): Promise<number> {
  const begun = argv.length > 2 ? undefined : await (await import('./begin.ts')).begin(runtime, {});
  if (begun !== undefined) return begun;
  let exit: number = EXIT.done;
  const done: Done = (code) => (exit = code);
  const program = buildProgram(runtime, done, argv);
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  return exit;
}

/** All commands. `done` receives the exit code of the one that runs; `argv` is the command line. */
export function buildProgram(runtime: Runtime, done: Done, argv: readonly string[] = []): Command {
  const program = new Command('assay')
    .description('The MCP gateway that tells the truth about tools.')
    .version(runtime.version)
    .exitOverride()
    .showHelpAfterError('(assay --help shows all commands)');
  for (const command of [
    ...gatewayCommands(runtime, done),
    ...toolCommands(runtime, done),
    ...serverCommands(runtime, done),
    ...clientConfigCommands(runtime, done),
    exportCommand(runtime, done),
    ...sourceCommands(runtime, done),
    toolsetCommand(runtime, done),
    notesCommand(runtime, done),
    policyCommand(runtime, done),
    approvalsCommand(runtime, done),
    activityCommand(runtime, done),
    verifyCommand(runtime, done, argv.includes('--')),
    sandboxCommand(runtime, done),
    codebaseCommand(runtime, done),
    tokenCommand(runtime, done),
    authCommand(runtime, done),
    completionCommand(done),
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

/** `assay token` with its subcommands. */
function tokenCommand(runtime: Runtime, done: Done): Command {
  const token = new Command('token').description('create, list and revoke client tokens');
  const create = new Command('create')
    .argument('<name>')
    .description('create a token and print it to stdout; it is shown only once')
    .option('--scope <list>', 'comma-separated scopes: admin, execute, read, mcp', 'mcp')
    .option('--expires <time>', 'lifetime such as 90m, 12h, 30d or 4w (default: until revoked)')
    .action(async (name: string, options: CreateTokenOptions) => {
      const { createToken } = await import('./token.ts');
      done(await createToken(runtime, name, options));
    });
  const list = new Command('list')
    .description('list all tokens, without their secrets')
    .action(async (options: TokenOptions) => {
      const { listTokens } = await import('./token.ts');
      done(await listTokens(runtime, options));
    });
  const revoke = new Command('revoke')
    .argument('<name-or-id>')
    .description('revoke a token immediately')
    .action(async (what: string, options: TokenOptions) => {
      const { revokeToken } = await import('./token.ts');
      done(await revokeToken(runtime, what, options));
    });
  const link = new Command('link')
    .description('print a link that signs one browser in to the admin pages, once, within 10 minutes')
    .option(
      '--url <url>',
      'address at which your browser reaches Assay (default: the `assay serve` of this home)',
    )
    .action(async (options: LinkOptions) => {
      const { createLink } = await import('./token.ts');
      done(await createLink(runtime, options));
    });
  const preferences = withConfig(new Command('preferences'))
    .argument('<name-or-id>', 'the token, or local for stdio, the command line and access without a token')
    .argument('[change...]', 'a preference and its value: policy.confirm never; "default" resets it')
    .description('show the preferences for calls with a token, or set one of them')
    .option('--json', 'print JSON')
    .action(async (name: string, change: readonly string[], options: TokenOptions) => {
      const { showTokenPreferences } = await import('./token-preferences.ts');
      done(await showTokenPreferences(runtime, { token: name, change }, options));
    });
  for (const command of [create, list, revoke, link])
    token.addCommand(withHome(command).option('--json', 'print JSON'));
  token.addCommand(preferences);
  return token;
}

/** `assay auth`: sign-ins at remote servers. */
function authCommand(runtime: Runtime, done: Done): Command {
  return withConfig(new Command('auth'))
    .argument('[server]', 'name of a server in the config')
    .description('sign in to a remote server, or list and remove sign-ins')
    .option('--list', 'list all sign-ins, without secrets')
    .option('--forget', 'remove the sign-in to this server and revoke it at its issuer')
    .option(
      '--subject <name>',
      'name of the token to sign in for, if each token signs in separately',
      'local',
    )
    .option('--no-browser', 'print the sign-in URL, and read the final redirect URL from stdin')
    .option('--json', 'print JSON')
    .action(async (server: string | undefined, options: AuthOptions) => {
      const { authorize } = await import('./auth.ts');
      done(await authorize(runtime, server, options));
    });
}

/** `assay export`. For `assay import`, see `clientConfigCommands`. */
function exportCommand(runtime: Runtime, done: Done): Command {
  const command = new Command('export')
    .description('export everything that operators created, as a backup or to import elsewhere')
    .option('--file <file>', 'write to this file instead of stdout')
    .option(
      '--passphrase-file <file>',
      'encrypt the secrets with the passphrase in this file (or ASSAY_PASSPHRASE)',
    )
    .option('--json', 'accepted for consistency; the output is always JSON')
    .action(async (options: ExportBundleOptions) => {
      const { exportBundle } = await import('./export-bundle.ts');
      done(await exportBundle(runtime, options));
    });
  return withConfig(command);
}

function completionCommand(done: Done): Command {
  const shell = new Argument('<shell>').choices(['bash', 'zsh', 'fish']);
  return new Command('completion')
    .addArgument(shell)
    .description('print a shell completion script')
    .action(async (name: Shell) => {
      const { printCompletion } = await import('./completion.ts');
      done(printCompletion(name));
    });
}

/** The command that the completion scripts call at each tab. */
function completeCommand(runtime: Runtime, done: Done): Command {
  return new Command('complete')
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[], _options: unknown, { parent }: Command) => {
      const { completeWords } = await import('./completion.ts');
      if (parent !== null) done(await completeWords(runtime, parent, words));
    });
}
