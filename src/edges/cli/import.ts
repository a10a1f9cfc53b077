import { EXIT } from '../../core/errors.ts';
import type { ImportOutcome, FoundServer, ImportReport } from '../../core/client-configs.ts';
import { printable } from '../../core/printable.ts';
import { printComplaint, print, printError, printJson, style, tableOf } from './output.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { ClientConfigPorts } from './runtime.ts';

export interface ImportOptions extends AppOptions {
  readonly project?: string;
  readonly overwrite?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

/** `assay import`: the other client's servers and the result for each on stdout; follow-up steps on stderr. */
export async function importFrom(
  runtime: ClientConfigPorts,
  from: string,
  options: ImportOptions,
): Promise<number> {
  const { project, overwrite = false, dryRun = false } = options;
  const done = await runtime.importServers({ from, project, overwrite, dryRun }, options);
  if (!done.ok) return printComplaint(done.error);
  if (options.json === true) {
    printJson(done.value);
    return EXIT.done;
  }
  print(tableOf(['NAME', 'KIND', 'WHAT BECOMES OF IT', 'COMMAND OR ORIGIN'], done.value.servers.map(row)));
  print(`\n${closing(done.value)}`);
  for (const line of remarks(done.value)) printError(printable(line));
  return EXIT.done;
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
    ...(leftOut.includes('envFile')
      ? [`note: ${name}: Assay reads no envFile; write its variables under "env"`]
      : []),
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
