import { Command, CommanderError } from 'commander';
import process from 'node:process';
import type { VerifyOptions } from '@assay-mcp/kit/verification/verifier';
import { VERSION } from '@assay-mcp/kit/version';
import { addVerifyOptions, parsePairs } from '@assay-mcp/kit/platform/terminal/options';
import { printFault, runVerification } from './program.ts';

/** Runs the command line of assay-verify; resolves with the exit code (docs/VERIFY.md). */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
  let exit = 0;
  const command = addVerifyOptions(new Command(NAME))
    .usage('[options] -- <command> [args...]')
    .argument(
      '<command...>',
      'the command that starts the server; {seed} in it is replaced by the folder of the seed data',
    )
    .description('Call the tools of an MCP server in a sandbox and compare what they do with their hints.')
    .version(VERSION)
    .exitOverride()
    .showHelpAfterError('(assay-verify --help shows all options)')
    .action(async (words: readonly string[], options: VerifyOptions) => {
      exit = await verify(words, options, argv);
    });
  try {
    await command.parseAsync([...argv]);
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? 0 : USAGE;
  }
}

const NAME = 'assay-verify';
const USAGE = 2;

async function verify(
  command: readonly string[],
  options: VerifyOptions,
  argv: readonly string[],
): Promise<number> {
  // Without it, options of the server would be taken for those of this program.
  if (argv.length - argv.indexOf('--') - 1 !== command.length)
    return printFault(NAME, {
      code: 'ARGUMENTS_INVALID',
      reason: 'write `--` before the command of the server: `assay-verify -- COMMAND ARGUMENTS`',
    });
  const env = parsePairs('--env', options.env ?? [], '=');
  if (!env.ok) return printFault(NAME, env.error);
  return runVerification({ program: NAME, target: { command, cwd: process.cwd(), env: env.value } }, options);
}
