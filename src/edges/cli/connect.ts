import { EXIT } from '../../core/errors.ts';
import type { ConnectReport } from '../../core/client-configs.ts';
import { printable } from '../../core/printable.ts';
import { printComplaint, print, printError, printJson, style } from './output.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { ClientConfigPorts } from './runtime.ts';

export interface ConnectOptions extends AppOptions {
  readonly name: string;
  /** True means the default address. */
  readonly http?: string | true;
  readonly project?: string;
  readonly dryRun?: boolean;
  readonly undo?: boolean;
  readonly force?: boolean;
  readonly json?: boolean;
}

const USUAL_ADDRESS = 'http://127.0.0.1:4444/mcp';

/** `assay connect`: what was written, and where, on stdout; warnings and tips on stderr. */
export async function connect(
  runtime: ClientConfigPorts,
  client: string,
  options: ConnectOptions,
): Promise<number> {
  const { name, http, project, dryRun = false, force = false } = options;
  const url = http === true ? USUAL_ADDRESS : http;
  const done =
    options.undo === true
      ? await runtime.undoConnect({ client, project, dryRun }, options)
      : await runtime.connectClient({ client, name, url, project, force, dryRun }, options);
  if (!done.ok) return printComplaint(done.error);
  const report = done.value;
  if (options.json === true) printJson(report);
  else for (const line of [reportText(report), ...report.preview.map(coloured)]) print(line);
  for (const warning of report.warnings) printError(printable(`warning: ${warning}`));
  if (options.json === true) return EXIT.done;
  if (!report.isDryRun && report.change !== 'same') printError(`next: ${report.next}`);
  if (report.others.length > 0 && options.undo !== true)
    printError(
      printable(
        `tip: ${report.client} has more servers there (${report.others.join(', ')}): assay import ${client}` +
          (project === undefined ? '' : ` --project ${project}`),
      ),
    );
  return EXIT.done;
}

function reportText({ client, path, change, isDryRun, names }: ConnectReport): string {
  const file = printable(path);
  const entries = names.map((name) => JSON.stringify(name)).join(' and ');
  const lead = isDryRun ? 'Dry run: ' : '';
  switch (change) {
    case 'connected':
      return `${lead}${client} ${isDryRun ? 'would start' : 'now starts'} Assay as ${entries}: ${file}`;
    case 'same':
      return `${client} is connected already, as ${entries}: ${file}`;
    case 'restored':
      return `${lead}${file} ${isDryRun ? 'would be' : 'is'} again, byte for byte, what it was.`;
    case 'removed':
      return `${lead}${file} ${isDryRun ? 'would be' : 'is'} removed: Assay had made it.`;
    case 'taken out':
      return `${lead}${file} was edited since, so only ${entries} ${isDryRun ? 'would be' : 'was'} taken out.`;
  }
}

function coloured(line: string): string {
  const safe = printable(line.replaceAll('\t', '  '));
  if (line.startsWith('+')) return style.green(safe);
  return line.startsWith('-') ? style.red(safe) : safe;
}
