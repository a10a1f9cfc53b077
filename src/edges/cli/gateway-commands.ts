import { Command, InvalidArgumentError, Option } from 'commander';
import { withConfig, type Done } from './common-options.ts';
import type { DoctorOptions } from './doctor.ts';
import type { EditOptions } from './edit.ts';
import type { HintsOptions } from './hints.ts';
import type { LintOptions } from './lint.ts';
import type { ReviewOptions } from './review.ts';
import type { ToolsOptions } from './tools.ts';
import type { AppOptions, ServeOptions, StdioOptions } from '../../core/command-options.ts';
import type { Runtime } from './runtime.ts';

interface Json {
  readonly json?: boolean;
}

/** The commands that use the configured servers. Each loads its module only when run. */
export function gatewayCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [
    serveCommand(runtime, done),
    stdioCommand(runtime, done),
    new Command('tools')
      .argument('[server]', 'the tools of this server alone')
      .description('list the tools of all servers under their public names')
      .option('--refresh', 'ask servers whose tools are known from before, too, if no gateway is running')
      .option('--json', 'as JSON')
      .action(async (server: string | undefined, options: ToolsOptions) => {
        const { listTools } = await import('./tools.ts');
        done(await listTools(runtime, server, options));
      }),
    new Command('call')
      .argument('<name>', 'its public or namespaced name')
      .argument('[arguments]', 'a JSON object', '{}')
      .description('call one tool')
      .option('--json', 'the whole result as JSON')
      .action(async (name: string, args: string, options: AppOptions & Json) => {
        const { callTool } = await import('./call.ts');
        done(await callTool(runtime, { name, args, options }));
      }),
    reviewCommand(runtime, done),
    hintsCommand(runtime, done),
    editCommand(runtime, done),
    lintCommand(runtime, done),
    doctorCommand(runtime, done),
    new Command('settings')
      .description('show every setting, its value and who set it')
      .option('--json', 'as JSON')
      .action(async (options: AppOptions & Json) => {
        const { showSettings } = await import('./settings.ts');
        done(await showSettings(runtime, options));
      }),
  ].map(withConfig);
}

function reviewCommand(runtime: Runtime, done: Done): Command {
  return new Command('review')
    .argument('[tool]', 'its public or namespaced name (default: list what waits for a review)')
    .description('show what changed in definitions and instructions since they were accepted, and accept it')
    .option('--instructions <server>', 'review what this server tells models about itself, not a tool')
    .option('--accept', 'accept the definition or the instructions as they are now')
    .option('--json', 'as JSON')
    .action(async (tool: string | undefined, options: ReviewOptions) => {
      const { review } = await import('./review.ts');
      done(await review(runtime, tool, options));
    });
}

function hintsCommand(runtime: Runtime, done: Done): Command {
  return new Command('hints')
    .argument('<tool>', 'its public or namespaced name')
    .description('show the hints of a tool and who says what of them, or set some')
    .option('--set <hint=value...>', 'readOnlyHint=true, =false or =inherit; several at once')
    .option('--reason <text>', 'why, for who reads it later')
    .option('--json', 'as JSON')
    .action(async (tool: string, options: HintsOptions) => {
      const { toolHints } = await import('./hints.ts');
      done(await toolHints(runtime, tool, options));
    });
}

function editCommand(runtime: Runtime, done: Done): Command {
  return new Command('edit')
    .argument('<tool>', 'its public or namespaced name')
    .description('change what clients read of a tool; its server’s own texts are kept beneath')
    .option('--name <name>', 'its name, after the prefix of its server; "" restores the server’s')
    .option('--title <text>', 'its title; "" restores the server’s')
    .option('--description <text>', 'its description; "" restores the server’s')
    .option('--reason <text>', 'why, for later readers')
    .option('--json', 'as JSON')
    .action(async (tool: string, options: EditOptions) => {
      const { editTool } = await import('./edit.ts');
      done(await editTool(runtime, tool, options));
    });
}

function serveCommand(runtime: Runtime, done: Done): Command {
  return new Command('serve')
    .description('join all servers of the config behind one HTTP endpoint')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on, 0 for any free one', portOf, 4444)
    .action(async (options: ServeOptions) => {
      const { serve } = await import('./serve.ts');
      done(await serve(runtime, options));
    });
}

function stdioCommand(runtime: Runtime, done: Done): Command {
  return new Command('stdio')
    .description('the same on stdin and stdout, for a client that starts Assay itself')
    .option(
      '--attach',
      'through a running `assay serve` of the same home, instead of starting the servers again',
    )
    .addOption(new Option('--all', 'all tools of all servers, whatever is equipped').conflicts('toolset'))
    .option('--toolset <name>', 'the tools of this toolset, whatever is equipped')
    .addOption(
      new Option('--search', 'three tools that find, describe and call all others').conflicts([
        'all',
        'toolset',
      ]),
    )
    .action(async (options: StdioOptions) => {
      const { stdio } = await import('./stdio.ts');
      done(await stdio(runtime, options));
    });
}

function lintCommand(runtime: Runtime, done: Done): Command {
  return new Command('lint')
    .argument('[server]', 'one server alone')
    .description('say what is wrong with the hints of tools')
    .option('--json', 'as JSON')
    .option('--strict', 'let warnings fail, too')
    .option(
      '--rule <rule=level...>',
      'how grave a rule is: error, warning or off; the settings say it otherwise',
    )
    .action(async (server: string | undefined, options: LintOptions) => {
      const { lintTools } = await import('./lint.ts');
      done(await lintTools(runtime, server, options));
    });
}

function doctorCommand(runtime: Runtime, done: Done): Command {
  return new Command('doctor')
    .description('look at config, servers and machine, and say what is wrong and what to do')
    .option('--json', 'as JSON')
    .option('--offline', 'start no server')
    .option('--strict', 'let warnings fail, too')
    .action(async (options: DoctorOptions) => {
      const { diagnose } = await import('./doctor.ts');
      done(await diagnose(runtime, options));
    });
}

function portOf(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}
