import { Command, CommanderError } from 'commander';
import { EXIT } from '../../core/errors.ts';
import { authCommand } from './auth-command.ts';
import { exportCommand } from './bundle-command.ts';
import type { Done } from './common-options.ts';
import { gatewayCommands } from './gateway-commands.ts';
import { neighbourCommands } from './client-config-commands.ts';
import { notesCommand } from './notes-command.ts';
import type { Runtime } from './runtime.ts';
import { sourceCommands } from './source-commands.ts';
import { tokenCommand } from './token-command.ts';
import { toolsetCommand } from './toolset-command.ts';

/** Runs one command line; resolves with the exit code, see EXIT. */
export async function runCommandLine(argv: readonly string[], runtime: Runtime): Promise<number> {
  let exit: number = EXIT.done;
  const done: Done = (code) => (exit = code);
  const program = new Command('assay')
    .description('The MCP gateway that tells the truth about tools.')
    .version(runtime.version)
    .exitOverride()
    .showHelpAfterError('(assay --help shows all commands)');
  for (const command of [
    ...gatewayCommands(runtime, done),
    ...neighbourCommands(runtime, done),
    exportCommand(runtime, done),
    ...sourceCommands(runtime, done),
    toolsetCommand(runtime, done),
    notesCommand(runtime, done),
    tokenCommand(runtime, done),
    authCommand(runtime, done),
  ])
    program.addCommand(inheriting(command, program));
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  return exit;
}

/** How errors and help are told holds for commands of commands, too. */
function inheriting(command: Command, from: Command): Command {
  command.copyInheritedSettings(from);
  for (const inner of command.commands) inheriting(inner, command);
  return command;
}
