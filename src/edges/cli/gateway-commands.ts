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
      .argument('[server]', 'only list tools of this server')
      .description('list the tools of all servers under their public names')
      .option('--refresh', 'start all servers instead of using stored tool lists, if no gateway is running')
      .option('--json', 'print JSON')
      .action(async (server: string | undefined, options: ToolsOptions) => {
        const { listTools } = await import('./tools.ts');
        done(await listTools(runtime, server, options));
      }),
    new Command('call')
      .argument('<name>', 'public or namespaced name of the tool')
      .argument('[arguments]', 'a JSON object', '{}')
      .description('call a tool')
      .option('--json', 'print the whole result as JSON')
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
      .description('show all settings, their values and origins')
      .option('--json', 'print JSON')
      .action(async (options: AppOptions & Json) => {
        const { showSettings } = await import('./settings.ts');
        done(await showSettings(runtime, options));
      }),
  ].map(withConfig);
}

function reviewCommand(runtime: Runtime, done: Done): Command {
  return new Command('review')
    .argument('[tool]', 'public or namespaced name of the tool (default: list pending reviews)')
    .description('show and accept changes in tool definitions and server instructions')
    .option('--instructions <server>', 'review the instructions of this server instead of a tool')
    .option('--accept', 'accept the current definition or instructions')
    .option('--json', 'print JSON')
    .action(async (tool: string | undefined, options: ReviewOptions) => {
      const { review } = await import('./review.ts');
      done(await review(runtime, tool, options));
    });
}

function hintsCommand(runtime: Runtime, done: Done): Command {
  return new Command('hints')
    .argument('<tool>', 'public or namespaced name of the tool')
    .description('show the hints of a tool and their origins, or override them')
    .option('--set <hint=value...>', 'override hints: readOnlyHint=true, =false or =inherit')
    .option('--reason <text>', 'reason for the change, shown to later reviewers')
    .option('--json', 'print JSON')
    .action(async (tool: string, options: HintsOptions) => {
      const { toolHints } = await import('./hints.ts');
      done(await toolHints(runtime, tool, options));
    });
}

function listed(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value];
}

function editCommand(runtime: Runtime, done: Done): Command {
  return new Command('edit')
    .argument('<tool>', 'public or namespaced name of the tool')
    .description(
      'override the name, title or description of a tool, how often it is confirmed, what is cached, or its tags',
    )
    .option('--name <name>', 'new name, without the server prefix; "" restores the original')
    .option('--title <text>', 'new title; "" restores the original')
    .option('--description <text>', 'new description; "" restores the original')
    .addOption(
      new Option(
        '--confirm <when>',
        'how often its calls must be confirmed; "default" restores policy.confirm',
      ).choices([...['always', 'first', 'session', 'never', 'default']]),
    )
    .option('--cache <seconds>', 'how long its results are used again; "off", or "default" for cache.ttlMs')
    .option('--tag <tag>', 'add a tag, for rules; private and outbound have a meaning of their own', listed)
    .option('--untag <tag>', 'remove a tag', listed)
    .option('--reason <text>', 'reason for the change, shown to later reviewers')
    .option('--json', 'print JSON')
    .action(async (tool: string, options: EditOptions) => {
      const { editTool } = await import('./edit.ts');
      done(await editTool(runtime, tool, options));
    });
}

function serveCommand(runtime: Runtime, done: Done): Command {
  return new Command('serve')
    .description('serve all configured servers at one HTTP endpoint')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--port <number>', 'port to listen on; 0 selects a free port', portOf, 4444)
    .action(async (options: ServeOptions) => {
      const { serve } = await import('./serve.ts');
      done(await serve(runtime, options));
    });
}

function stdioCommand(runtime: Runtime, done: Done): Command {
  return new Command('stdio')
    .description('serve all configured servers on stdin and stdout, for clients that start Assay')
    .option('--attach', 'use a running `assay serve` with the same home instead of starting the servers')
    .addOption(
      new Option('--all', 'serve all tools of all servers, even if a toolset is equipped').conflicts(
        'toolset',
      ),
    )
    .option('--toolset <name>', 'serve this toolset, even if another one is equipped')
    .addOption(
      new Option('--search', 'expose three tools that find, describe and call all others').conflicts([
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
    .argument('[server]', 'only check this server')
    .description('check the hints of tools')
    .option('--json', 'print JSON')
    .option('--strict', 'exit with an error on warnings too')
    .option(
      '--rule <rule=level...>',
      'set the severity of a rule to error, warning or off (default: from the settings)',
    )
    .action(async (server: string | undefined, options: LintOptions) => {
      const { lintTools } = await import('./lint.ts');
      done(await lintTools(runtime, server, options));
    });
}

function doctorCommand(runtime: Runtime, done: Done): Command {
  return new Command('doctor')
    .description('check config, servers and machine, and suggest fixes')
    .option('--json', 'print JSON')
    .option('--offline', 'do not start any servers')
    .option('--strict', 'exit with an error on warnings too')
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
