import { Command } from 'commander';
import { capitalize } from '@assay-mcp/kit/capitalize';
import { toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import { toPrintable } from '@assay-mcp/kit/printable';
import { ok, type Result } from '@assay-mcp/kit/result';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import { formatProse, print, printError, printJson, printText } from '@assay-mcp/kit/platform/terminal/print';
import type { ConnectReport, UndoRequest } from '../../core/client-configs.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { EXIT } from '../../core/errors.ts';
import type { Refusal } from '../../core/refusal.ts';
import { formatRefusal } from '../../core/sentences.ts';
import { confirm, isInteractive } from './ask.ts';
import { type Done, withConfig } from './common-options.ts';
import { formatConnectReport } from './connect.ts';
import { printRefusal } from './output.ts';
import { formatServicePlan } from './service.ts';
import type { FoundService, Runtime } from './runtime.ts';

/** `assay uninstall` */
export function uninstallCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('uninstall')
      .description('take Assay out of the config files of clients and end what runs')
      .option('--yes', 'do not ask before doing what is shown')
      .option('--dry-run', 'show what would be done, and do nothing')
      .option('--json', 'print JSON')
      .action(async (options: UninstallOptions) => done(await uninstall(runtime, options))),
  );
}

interface UninstallOptions extends AppOptions {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

type Connection = Pick<UndoRequest, 'client' | 'project'>;

/** What `assay uninstall` finds. */
interface Found {
  /** What undoing each connection would change. */
  readonly connections: readonly { readonly request: Connection; readonly report: ConnectReport }[];
  /** Undefined: none is installed. */
  readonly service: FoundService | undefined;
  readonly left: Left;
}

/** What stays, and the commands that remove it. */
interface Left {
  readonly home: string;
  readonly commands: readonly string[];
}

/**
 * `assay uninstall`: undoes every `assay connect`, removes the service and ends the gateway of the home. Shows all of it
 * first, and says what it leaves.
 */
async function uninstall(runtime: Runtime, options: UninstallOptions): Promise<number> {
  const { yes = false, dryRun = false, json = false } = options;
  const found = await findAll(runtime, options);
  if (!found.ok) return printRefusal(found.error);
  const { connections, service, left } = found.value;
  if (!json) printText(formatPlan(found.value).join('\n'));
  if (!dryRun && !yes) {
    if (json || !isInteractive()) return printRefusal(NO_TERMINAL);
    if (!(await confirm('Do all of this?'))) return EXIT.failed;
  }
  const failures: string[] = [];
  const note = (failed: string): void => {
    failures.push(failed);
    printError(toPrintable(`assay: ${failed}`));
  };
  const undone: ConnectReport[] = [];
  for (const { request } of dryRun ? [] : connections) {
    const done = await runtime.undoConnect({ ...request, dryRun: false }, options);
    if (done.ok) undone.push(done.value);
    else note(formatRefusal(done.error));
  }
  if (!dryRun && service !== undefined) {
    const removed = await service.apply('remove');
    if (!removed.ok) note(removed.error);
  }
  const stopped = dryRun ? ok(undefined) : await runtime.stopGateway(options);
  if (!stopped.ok) note(formatRefusal(stopped.error));
  if (json) {
    const reports = dryRun ? connections.map(({ report }) => report) : undone;
    printJson({ dryRun, clients: reports, service: service?.name, failures, left });
  } else if (!dryRun)
    print(
      ['', ...undone.map((one) => formatProse(formatConnectReport(one))), ...formatLeft(left)].join('\n'),
    );
  return failures.length === 0 ? EXIT.done : EXIT.failed;
}

const NO_TERMINAL: Refusal = {
  code: 'ARGUMENTS_INVALID',
  reason: 'there is no terminal to ask on; --yes does what is shown, --dry-run only shows it',
};

async function findAll(runtime: Runtime, options: AppOptions): Promise<Result<Found, Refusal>> {
  const connections: Found['connections'][number][] = [];
  for (const request of await runtime.listConnections(options)) {
    const report = await runtime.undoConnect({ ...request, dryRun: true }, options);
    if (report.ok) connections.push({ request, report: report.value });
    else if (report.error.code !== 'NOTHING_TO_UNDO') return report;
  }
  const service = await runtime.findService(options);
  const home = locateHome(toConfigEnvironment(options));
  return ok({
    connections,
    service: service.ok && service.value.isInstalled ? service.value : undefined,
    left: { home, commands: [formatRemoval(home), 'npm uninstall -g assay-mcp'] },
  });
}

function formatRemoval(folder: string): string {
  return process.platform === 'win32' ? `rmdir /s "${folder}"` : `rm -r ${quoteShellArgument(folder)}`;
}

function formatPlan({ connections, service }: Found): readonly string[] {
  const reports = connections.map(({ report }) => formatProse(capitalize(formatConnectReport(report))));
  return [
    ...(reports.length === 0 ? ['No file of a client has entries that `assay connect` wrote.'] : reports),
    ...(service === undefined
      ? []
      : [`Would remove the service ${service.name}:`, formatServicePlan(service, true)]),
    'Would end the gateway of this home, if one runs.',
  ];
}

function formatLeft({ home, commands }: Left): readonly string[] {
  return [
    formatProse(
      toPrintable(`Left: ${home}, with your servers, toolsets, tokens and records, and the program.`),
    ),
    'To remove them too:',
    ...commands.map((command) => `  ${toPrintable(command)}`),
  ];
}
