import { EXIT } from '../../core/errors.ts';
import type { ImportOutcome, FoundServer, ImportReport } from '../../core/client-configs.ts';
import { printable } from '../../core/printable.ts';
import { toolsetNameFault } from '../../core/toolset.ts';
import { downLines, equipImported, toolsetLines } from './imported-toolset.ts';
import {
  argumentFault,
  printComplaint,
  print,
  printError,
  printJson,
  proseOf,
  style,
  tableOf,
} from './output.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { ClientConfigPorts } from './runtime.ts';

export interface ImportOptions extends AppOptions {
  readonly project?: string;
  readonly overwrite?: boolean;
  readonly dryRun?: boolean;
  /** False with `--no-equip`: the servers are copied, but neither started nor put into a toolset. */
  readonly equip?: boolean;
  /** Name of the toolset; defaults to the client's. */
  readonly toolset?: string;
  readonly json?: boolean;
  /** Part of `assay setup`, which goes on by itself. */
  readonly isStep?: boolean;
}

/**
 * `assay import`: the other client's servers and the result for each on stdout; progress and follow-up steps on stderr.
 */
export async function importFrom(
  runtime: ClientConfigPorts,
  from: string,
  options: ImportOptions,
): Promise<number> {
  const { project, overwrite = false, dryRun = false, json = false } = options;
  const client = runtime.clients.find(({ id }) => id === from);
  const name = options.toolset ?? client?.id ?? 'imported';
  const wrong = argumentFault('--toolset', toolsetNameFault(name));
  if (wrong !== undefined) return printComplaint(wrong);
  const done = await runtime.importServers({ from, project, overwrite, dryRun }, options);
  if (!done.ok) return printComplaint(done.error);
  const report = done.value;
  if (!json) tellImport(report);
  const servers = report.servers.filter(isUsable).map((server) => server.name);
  const isEquipping = options.equip !== false && !dryRun && servers.length > 0;
  const equipped = isEquipping
    ? await equipImported(runtime, { name, servers: [...new Set(servers)], isSilent: json }, options)
    : undefined;
  if (json) {
    const { servers: started, toolset } = equipped?.ok === true ? equipped.value : {};
    printJson({ ...report, ...(started && { started }), ...(toolset && { toolset }) });
  }
  if (equipped === undefined) return EXIT.done;
  if (!equipped.ok) return printComplaint(equipped.error);
  if (json) return EXIT.done;
  const isTerminal = process.stderr.isTTY;
  const lines = toolsetLines(equipped.value, client);
  print(`\n${proseOf(lines.done)}`);
  for (const line of downLines(equipped.value)) printError(proseOf(printable(line), { isTerminal }));
  if (options.isStep !== true) printError(`next: ${lines.next}`);
  return EXIT.done;
}

/** Whether Assay runs a server of this name after the import. */
function isUsable({ outcome, isDisabled }: FoundServer): boolean {
  return outcome !== 'skipped' && !isDisabled;
}

function tellImport(report: ImportReport): void {
  print(tableOf(['NAME', 'KIND', 'RESULT', 'COMMAND OR ORIGIN'], report.servers.map(row)));
  print(`\n${closing(report)}`);
  for (const line of remarks(report)) printError(printable(line));
}

function row(server: FoundServer): readonly string[] {
  const { name, kind, outcome, isDisabled, what } = server;
  return [
    name,
    kind,
    isDisabled && outcome !== 'skipped' ? `${outcome}, disabled` : COLOURED[outcome](outcome),
    what,
  ];
}

const COLOURED: Readonly<Record<ImportOutcome, (text: string) => string>> = {
  copied: (text) => style.green(text),
  replaced: (text) => style.green(text),
  same: (text) => text,
  kept: (text) => style.yellow(text),
  skipped: (text) => style.red(text),
};

function closing({ sources, target, backup, isDryRun, servers }: ImportReport): string {
  const count = servers.filter(({ outcome }) => outcome === 'copied' || outcome === 'replaced').length;
  const from = printable(sources.join(', '));
  const to = printable(target);
  if (count === 0) return `Nothing to copy from ${from} to ${to}.`;
  const servings = count === 1 ? '1 server' : `${count} servers`;
  if (isDryRun) return `Dry run: ${servings} would be copied from ${from} to ${to}.`;
  const kept = backup === undefined ? '' : `\nThe file as it was: ${printable(backup)}`;
  return `Copied ${servings} from ${from} to ${to}.${kept}`;
}

function remarks({ servers, elsewhere }: ImportReport): readonly string[] {
  const lines = servers.flatMap(({ name, outcome, reason, file, line, column, leftOut, variables }) => [
    ...(reason === undefined ? [] : [`${outcome} ${name}: ${reason} (${file}:${line}:${column})`]),
    ...(leftOut.length === 0
      ? []
      : [`note: ${name}: left out, as Assay has no use for it: ${leftOut.join(', ')}`]),
    ...variables.map(
      (variable) =>
        `to do: ${name}: set ${variable.name}${variable.about === undefined ? '' : ` (${variable.about})`}`,
    ),
  ]);
  return [
    ...lines,
    ...elsewhere.map((folder) => `note: there are more for one project: --project ${JSON.stringify(folder)}`),
  ];
}
