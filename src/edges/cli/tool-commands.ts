import { Command, Option } from 'commander';
import { withConfig, type Done } from './common-options.ts';
import type { EditOptions } from './edit.ts';
import type { HintsOptions } from './hints.ts';
import type { LintOptions } from './lint.ts';
import type { ReviewOptions } from './review.ts';
import type { ToolsOptions } from './tools.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

/** The commands for the tools of all servers. Each loads its module only when run. */
export function toolCommands(runtime: Runtime, done: Done): readonly Command[] {
  return [
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
      .action(async (name: string, args: string, options: JsonOptions) => {
        const { callTool } = await import('./call.ts');
        done(await callTool(runtime, { name, args, options }));
      }),
    reviewCommand(runtime, done),
    hintsCommand(runtime, done),
    editCommand(runtime, done),
    lintCommand(runtime, done),
  ].map(withConfig);
}

function reviewCommand(runtime: Runtime, done: Done): Command {
  return new Command('review')
    .argument('[tool]', 'public or namespaced name of the tool (default: list pending reviews)')
    .description('show and accept changes in tool definitions, server instructions and roots')
    .option('--instructions <server>', 'review the instructions of this server instead of a tool')
    .option('--roots <server>', 'review where the roots of this server lead')
    .option('--accept', 'accept the current definition, instructions or roots')
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
      const { showToolHints } = await import('./hints.ts');
      done(await showToolHints(runtime, tool, options));
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
    .option('--cache <seconds>', 'how long its results are cached; "off", or "default" for cache.ttlMs')
    .option('--tag <tag>', 'add a tag, for rules; private and outbound have a special meaning', listed)
    .option('--untag <tag>', 'remove a tag', listed)
    .option('--reason <text>', 'reason for the change, shown to later reviewers')
    .option('--json', 'print JSON')
    .action(async (tool: string, options: EditOptions) => {
      const { editTool } = await import('./edit.ts');
      done(await editTool(runtime, tool, options));
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
