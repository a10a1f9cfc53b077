import { Command, CommanderError } from 'commander';
import { defineCodebaseCommand } from '@assay-mcp/kit/platform/terminal/codebase-command';
import { VERSION } from '@assay-mcp/kit/version';
import { runRequest } from './run-request.ts';

const NAME = 'assay-codebase';
const USAGE = 2;

/** Runs the command line of assay-codebase; resolves with the exit code (docs/CODEBASE.md). */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  let exit = 0;
  const program = new Command(NAME)
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError(`(${NAME} --help shows all options)`);
  defineCodebaseCommand(program, async (request) => {
    exit = await runRequest(request, NAME);
  });
  for (const command of program.commands) command.copyInheritedSettings(program);
  try {
    await program.parseAsync([...argv]);
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : USAGE;
  }
}
