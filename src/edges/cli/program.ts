import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { EXIT } from '../../core/errors.ts';
import { callTool } from './call.ts';
import { consoleToStderr } from './console-to-stderr.ts';
import { complain } from './complain.ts';
import { diagnose, type DoctorOptions } from './doctor.ts';
import { neighbourCommands } from './neighbour-commands.ts';
import type { CommonOptions, Runtime, ServeOptions, StdioOptions } from './runtime.ts';
import { serve } from './serve.ts';
import { listTools } from './tools.ts';

interface Json {
  readonly json?: boolean;
}

/** Runs one command line; resolves with the exit code, see EXIT. */
export async function runCommandLine(argv: readonly string[], runtime: Runtime): Promise<number> {
  let exit: number = EXIT.done;
  const program = new Command('assay')
    .description('The MCP gateway that tells the truth about tools.')
    .version(runtime.version)
    .exitOverride()
    .showHelpAfterError('(assay --help shows all commands)');
  const withCommon = (command: Command): Command =>
    command
      .option(
        '--config <file>',
        'config file with "mcpServers" (default: $ASSAY_CONFIG, then mcp.json in the home)',
      )
      .option('--home <folder>', 'where Assay keeps what it learns (default: $ASSAY_HOME, then ~/.assay)');
  withCommon(program.command('serve'))
    .description('join all servers of the config behind one HTTP endpoint')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on, 0 for any free one', portOf, 4444)
    .action(async (options: ServeOptions) => {
      exit = await serve(runtime, options);
    });
  withCommon(program.command('stdio'))
    .description('the same on stdin and stdout, for a client that starts Assay itself')
    .option(
      '--attach',
      'through a running `assay serve` of the same home, instead of starting the servers again',
    )
    .action(async (options: StdioOptions) => {
      consoleToStderr();
      const ended = await runtime.runStdio(options);
      exit = ended.ok ? EXIT.done : complain(ended.error);
    });
  withCommon(program.command('tools'))
    .description('list the tools of all servers under their public names')
    .option('--json', 'as JSON')
    .action(async (options: CommonOptions & Json) => {
      exit = await listTools(runtime, options);
    });
  withCommon(program.command('call <name> [arguments]'))
    .description('call one tool; the arguments are a JSON object')
    .option('--json', 'the whole result as JSON')
    .action(async (name: string, args: string | undefined, options: CommonOptions & Json) => {
      exit = await callTool(runtime, { name, args: args ?? '{}', options });
    });
  withDoctor(withCommon(program.command('doctor'))).action(async (options: DoctorOptions) => {
    exit = await diagnose(runtime, options);
  });
  for (const command of neighbourCommands(runtime, (code) => (exit = code)))
    program.addCommand(withCommon(command).copyInheritedSettings(program));
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.exitCode === 0 ? EXIT.done : EXIT.usage;
  }
  return exit;
}

function withDoctor(command: Command): Command {
  return command
    .description('look at config, servers and machine, and say what is wrong and what to do')
    .option('--json', 'as JSON')
    .option('--offline', 'start no server')
    .option('--strict', 'let warnings fail, too');
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}
