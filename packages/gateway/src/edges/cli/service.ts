import { Command } from 'commander';
import type { AppOptions } from '../../core/command-options.ts';
import { EXIT } from '../../core/errors.ts';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import { formatProse, print, printError, printJson, printText } from '@assay-mcp/kit/platform/terminal/print';
import { confirm, isInteractive } from './ask.ts';
import { type Done, withConfig } from './common-options.ts';
import type { FoundService, Runtime } from './runtime.ts';
import { parsePort } from './serve.ts';

interface ServiceOptions extends AppOptions {
  readonly port: number;
  readonly undo?: boolean;
  readonly yes?: boolean;
  readonly json?: boolean;
}

/** `assay service` */
export function serviceCommand(runtime: Pick<Runtime, 'findService'>, done: Done): Command {
  const service = new Command('service').description('have the system run the gateway permanently');
  service.addCommand(
    withConfig(new Command('install'))
      .description('have systemd, launchd or the Windows task scheduler run `assay serve`')
      .option('--port <number>', 'port to listen on', parsePort, 4444)
      .option('--undo', 'stop the service and remove it')
      .option('--yes', 'do not ask before writing and running what is shown')
      .option('--json', 'print JSON')
      .action(async (options: ServiceOptions) => done(await install(runtime, options))),
  );
  return service;
}

/** Shows the file and the commands, asks, then writes and runs. */
async function install(runtime: Pick<Runtime, 'findService'>, options: ServiceOptions): Promise<number> {
  const found = await runtime.findService(options);
  if (!found.ok) return fail(found.error);
  const service = found.value;
  const isUndo = options.undo === true;
  if (isUndo && !service.isInstalled) return report(service, options, 'There is no service to remove.');
  if (!isUndo && service.isShortLived)
    return fail('npx keeps Assay only for a while. Install it first: npm install -g assay-mcp');
  if (!isUndo && !service.isInstalled && service.servedBy !== undefined)
    return fail(
      `\`assay serve\` runs with this home already (pid ${service.servedBy}). End it first: \`assay stop\`.`,
    );
  if (options.json !== true) printText(formatServicePlan(service, isUndo));
  if (options.yes !== true) {
    if (!isInteractive() || options.json === true)
      return fail('Nothing was changed. Add --yes to do what is shown.', EXIT.usage);
    if (!(await confirm(isUndo ? 'Remove the service?' : 'Install the service?'))) return EXIT.failed;
  }
  const applied = await service.apply(isUndo ? 'remove' : 'install');
  if (!applied.ok) return fail(applied.error);
  const done = isUndo
    ? `Removed the service ${service.name}.`
    : `Installed the service ${service.name}. ${service.note} \`assay service install --undo\` removes it.`;
  return report(service, options, done, { isInstalled: !isUndo });
}

/** Exactly what would be written and run. */
export function formatServicePlan({ file, ...service }: FoundService, isUndo: boolean): string {
  const toLines = (commands: FoundService['install']): readonly string[] =>
    commands.map((words) => `  ${words.map(quoteShellArgument).join(' ')}`);
  if (isUndo)
    return [
      'Commands to run:',
      ...toLines(service.remove),
      `File to remove: ${file.path}`,
      ...(service.removed.length === 0 ? [] : ['Then:', ...toLines(service.removed)]),
    ].join('\n');
  return [
    `File to ${service.isInstalled ? 'replace' : 'write'}: ${file.path}`,
    ...file.text
      .trimEnd()
      .split('\n')
      .map((line) => `  ${line}`),
    'Commands to run:',
    ...toLines(service.install),
    formatProse(SECRETS),
  ].join('\n');
}

const SECRETS =
  'Of your shell, PATH alone is copied. Variables that the config names are not: store their values with `assay secret set NAME`.';

function report(
  { name, file, isInstalled }: FoundService,
  { json }: ServiceOptions,
  text: string,
  now: { readonly isInstalled: boolean } = { isInstalled },
): number {
  if (json === true) printJson({ name, file: file.path, ...now });
  else print(formatProse(text));
  return EXIT.done;
}

function fail(sentence: string, exit: number = EXIT.unavailable): number {
  printError(`assay: ${sentence}`);
  return exit;
}
