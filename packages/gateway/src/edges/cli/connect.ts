import { Command, Option } from 'commander';
import { EXIT } from '../../core/errors.ts';
import type { ConnectReport } from '../../core/client-configs.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { type Done, withConfig } from './common-options.ts';
import { type ChosenView, chooseView, formatSeenTools, toViewUrl, type WantedView } from './client-view.ts';
import { print, printError, printJson, formatProse, style } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal } from './output.ts';
import type { ClientConfigPorts, KnownClient } from './runtime.ts';

/** `assay connect` */
export function connectCommand(runtime: ClientConfigPorts, done: Done): Command {
  return withConfig(
    new Command('connect')
      .argument('<client>', runtime.clients.map(({ id }) => id).join(', '))
      .description('add Assay to the config file of an MCP client')
      .option('--name <name>', 'name of the entry in the client’s config', 'assay')
      .option('--http [url]', 'connect to a running `assay serve` at this URL instead of starting a command')
      .addOption(
        new Option('--all', 'serve all tools of all servers, even if a toolset is equipped').conflicts([
          'toolset',
          'equipped',
          'search',
        ]),
      )
      .addOption(
        new Option('--toolset <name>', 'serve this toolset, even if another one is equipped').conflicts([
          'equipped',
          'search',
        ]),
      )
      .addOption(
        new Option('--search', 'serve three tools that find, describe and call all others').conflicts(
          'equipped',
        ),
      )
      .option(
        '--equipped',
        'serve the equipped toolset (default, unless it is not the one named after the client; without one, --all)',
      )
      .option('--project <folder>', 'write to the config file of this project')
      .option('--undo', 'undo the changes of Assay; a file that was not edited since is restored exactly')
      .option('--force', 'write even if the client does not seem to be installed or the name is taken')
      .option('--dry-run', 'show the changes without writing them')
      .option('--json', 'print JSON')
      .action(async (client: string, options: ConnectOptions) =>
        done(await connect(runtime, client, options)),
      ),
  );
}

interface ConnectOptions extends AppOptions, WantedView {
  readonly name: string;
  /** True means the default address. */
  readonly http?: string | true;
  readonly project?: string;
  readonly dryRun?: boolean;
  readonly undo?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
  /** Whether it runs as part of `assay setup`, which asks questions instead of printing tips. */
  readonly isStep?: boolean;
}

const USUAL_ADDRESS = 'http://127.0.0.1:4444/mcp';

/**
 * `assay connect`: prints to stdout what was written where and what the client will see; warnings and tips to stderr.
 */
export async function connect(
  runtime: ClientConfigPorts,
  client: string,
  options: ConnectOptions,
): Promise<number> {
  if (options.undo === true) {
    const { project, dryRun = false } = options;
    const done = await runtime.undoConnect({ client, project, dryRun }, options);
    return done.ok ? printReport(done.value, options) : printRefusal(done.error);
  }
  const known = runtime.clients.find(({ id }) => id === client);
  const { name, http, project, dryRun = false, force = false } = options;
  const base = http === true ? USUAL_ADDRESS : http;
  const wanted = { client, wanted: options, isElsewhere: base !== undefined && !isHere(base) };
  const chosen = await chooseView(runtime, wanted, options);
  if (!chosen.ok) return printRefusal(chosen.error);
  const { view } = chosen.value;
  const url = base === undefined ? undefined : toViewUrl(base, view);
  if (base !== undefined && url === undefined) return printRefusal(NO_ENDPOINT);
  const request = { client, name, url, view, project, force, dryRun };
  const done = await runtime.connectClient(request, options);
  if (!done.ok) return printRefusal(done.error);
  return printReport(done.value, options, known && { ...chosen.value, client: known, ...runtime });
}

const NO_ENDPOINT: Refusal = {
  code: 'ARGUMENTS_INVALID',
  reason: '--http needs an address that ends in /mcp when --all, --toolset or --search is given',
};

/** Whether an address is on this machine, and so probably of a `serve` of this home. */
function isHere(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(URL.parse(url)?.hostname ?? '');
}

interface Chosen extends ChosenView, Pick<ClientConfigPorts, 'programName'> {
  readonly client: KnownClient;
}

function printReport(report: ConnectReport, options: ConnectOptions, chosen?: Chosen): number {
  const isJson = options.json === true;
  if (isJson) printJson({ ...report, ...(chosen?.seen && { seen: chosen.seen }) });
  else {
    const lead = report.isDryRun && report.change !== 'same' ? 'Dry run: ' : '';
    for (const line of [`${lead}${formatConnectReport(report)}`, ...report.preview.map(coloured)])
      print(line);
  }
  const seen = chosen && formatSeenTools(chosen, chosen.client);
  if (!isJson && seen !== undefined) print(formatProse(seen.seen));
  const isAllByDefault = chosen?.view.all === true && options.all !== true;
  if (!isJson && isAllByDefault) print(formatProse(ALL_BY_DEFAULT));
  const isTerminal = process.stderr.isTTY;
  const note = (line: string): void => printError(formatProse(toPrintable(line), { isTerminal }));
  for (const warning of report.warnings) note(`warning: ${warning}`);
  if (isJson) return EXIT.done;
  if (!report.isDryRun && report.change !== 'same') note(`next: ${report.next}`);
  if (chosen === undefined || options.isStep === true) return EXIT.done;
  const { client, facts, programName } = chosen;
  if (seen?.next !== undefined) note(`next: ${programName} ${seen.next}`);
  for (const line of tips(report, options, { id: client.id, servers: facts?.servers ?? [], programName }))
    note(line);
  return EXIT.done;
}

const ALL_BY_DEFAULT =
  'No toolset is equipped, so its entry has --all. With --equipped it follows the toolset that you equip later.';

interface TipFacts extends Pick<ClientConfigPorts, 'programName'> {
  readonly id: string;
  /** Names of Assay's servers. */
  readonly servers: readonly string[];
}

/**
 * Tips about other servers in the client's file: those that Assay has too, which would be started twice, and the rest.
 */
function tips(
  { client, others }: ConnectReport,
  { project }: ConnectOptions,
  { id, servers, programName }: TipFacts,
): readonly string[] {
  const isTwice = (name: string): boolean => servers.includes(name);
  const [twice, rest] = [others.filter(isTwice), others.filter((name) => !isTwice(name))];
  const folder = project === undefined ? '' : ` --project ${project}`;
  return [
    ...(twice.length === 0
      ? []
      : [
          `tip: ${client} shows the tools of ${twice.join(', ')} twice: \`${programName} import ${id}${folder} --move\` takes these entries out of its file.`,
        ]),
    ...(rest.length === 0
      ? []
      : [`tip: ${client} has more servers there (${rest.join(', ')}): ${programName} import ${id}${folder}`]),
  ];
}

/** One sentence without a capital if it says what would be done. */
export function formatConnectReport(report: ConnectReport): string {
  const { client, path, change, isDryRun, names } = report;
  const file = toPrintable(path);
  const entries = names.map((name) => JSON.stringify(name)).join(' and ');
  switch (change) {
    case 'connected':
      return `${client} ${isDryRun ? 'would start' : 'now starts'} Assay as ${entries}: ${file}`;
    case 'same':
      return `${client} is connected already, as ${entries}: ${file}`;
    case 'restored':
      return `${isDryRun ? 'would restore' : 'Restored'} ${file} byte for byte.`;
    case 'removed':
      return `${isDryRun ? 'would remove' : 'Removed'} ${file}, because Assay created it.`;
    case 'taken_out':
      return `${file} ${undoneText(report)}`;
  }
}

/** What was undone in a file that has been edited since. */
function undoneText({ names, restored, isDryRun }: ConnectReport): string {
  const verb = isDryRun ? 'would be' : 'was';
  const listed = (all: readonly string[], between: string): string =>
    all.map((name) => JSON.stringify(name)).join(between);
  const taken = names.length === 0 ? 'Assay' : listed(names, ' and ');
  const back = restored.length === 0 ? '' : ` Put back: ${listed(restored, ', ')}.`;
  return `was edited since, so only ${taken} ${verb} taken out.${back}`;
}

function coloured(line: string): string {
  const safe = toPrintable(line.replaceAll('\t', '  '));
  if (line.startsWith('+')) return style.green(safe);
  return line.startsWith('-') ? style.red(safe) : safe;
}
