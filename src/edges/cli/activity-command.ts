import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import type { ExportCallsOptions, ListActivityOptions } from './activity.ts';
import { type Done, withHome } from './common-options.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

/** `assay activity` with its subcommands; lists calls by default. */
export function activityCommand(runtime: Runtime, done: Done): Command {
  const activity = new Command('activity').description('what was called and changed, by whom');
  const list = filtered(new Command('list'))
    .description('list recorded calls with their decisions, newest first')
    .option('--changes', 'list what operators and models changed instead')
    .option('--limit <count>', 'number of lines', numberUpTo(10_000), 20)
    .action(async (options: ListActivityOptions) => {
      const { listActivity } = await import('./activity.ts');
      done(await listActivity(runtime, options));
    });
  const show = new Command('show')
    .addArgument(new Argument('<id>', 'id of a recorded call').argParser(numberUpTo(Number.MAX_SAFE_INTEGER)))
    .description('show everything that is recorded of a call')
    .action(async (id: number, options: JsonOptions) => {
      const { showCall } = await import('./activity.ts');
      done(await showCall(runtime, id, options));
    });
  const write = filtered(new Command('export'))
    .description('print recorded calls as JSON lines, oldest first')
    .action(async (options: ExportCallsOptions) => {
      const { exportCalls } = await import('./activity.ts');
      done(await exportCalls(runtime, options));
    });
  const verify = new Command('verify')
    .description('check that no recorded call was changed, removed or inserted; exit code 1 if one was')
    .action(async (options: JsonOptions) => {
      const { verifyActivity } = await import('./activity.ts');
      done(await verifyActivity(runtime, options));
    });
  activity.addCommand(finished(list), { isDefault: true });
  for (const command of [show, write, verify]) activity.addCommand(finished(command));
  return activity;
}

function filtered(command: Command): Command {
  return command
    .option('--server <name>', 'only calls of tools of this server')
    .option('--tool <name>', 'only calls of this tool, by its namespaced name')
    .option('--subject <name>', 'only calls by this token')
    .addOption(
      new Option('--decision <decision>', 'only calls decided on this way').choices([
        'allow',
        'ask',
        'refuse',
      ]),
    )
    .option('--outcome <outcome>', 'only calls with this outcome, such as ok or CALL_REFUSED');
}

function finished(command: Command): Command {
  return withHome(command).option('--json', 'print JSON');
}

function numberUpTo(max: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (!/^\d{1,16}$/.test(text) || value < 1 || value > max)
      throw new InvalidArgumentError(`It must be a whole number from 1 to ${max}.`);
    return value;
  };
}
