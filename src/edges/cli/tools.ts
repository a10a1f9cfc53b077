import { counted } from '../../core/counted.ts';
import { EXIT } from '../../core/errors.ts';
import { printable } from '../../core/printable.ts';
import { missingFrom } from '../../gateway/catalog/server-status.ts';
import type { CatalogReport, ListedTool } from '../../gateway/services/tools/catalog-report.ts';
import { printComplaint, print, printError, printJson, proseOf, tableOf } from './output.ts';
import { withProgress } from './progress.ts';
import { reviewNote } from './review.ts';
import type { Runtime } from './runtime.ts';
import type { JsonOptions } from './with-opened.ts';

export interface ToolsOptions extends JsonOptions {
  /** Ask servers whose tools are known from before, too. */
  readonly refresh?: boolean;
}

/** `assay tools [SERVER]`: tools under their public names; deviations from the servers' definitions on stderr. */
export async function listTools(
  runtime: Runtime,
  server: string | undefined,
  options: ToolsOptions,
): Promise<number> {
  const opened = await runtime.openTools(options);
  if (!opened.ok) return printComplaint(opened.error);
  try {
    const asked = { server, isFresh: options.refresh === true };
    const report = await withProgress('listing tools', () => opened.value.report(asked));
    if (!report.ok) return printComplaint(report.error);
    const { known } = report.value;
    if (server !== undefined && !known.includes(server))
      return printComplaint({ code: 'SERVER_UNKNOWN', name: server, known });
    return printTools(report.value, options);
  } finally {
    await opened.value.close();
  }
}

function printTools(report: CatalogReport, options: ToolsOptions): number {
  const { servers, recalled, reports } = report;
  const tools = report.tools.filter(({ state }) => state !== 'disabled');
  const listFaults = servers.flatMap(({ name, listFaults: faults = [] }) =>
    faults.map((fault) => ({ server: name, ...fault })),
  );
  const down = servers.flatMap(({ name, state, cause = UNANSWERED, causeCode }) =>
    state === 'up' ? [] : [{ name, state, cause, causeCode }],
  );
  if (options.json === true) printJson({ tools, down, listFaults, reports });
  else {
    print(tableOf(['TOOL', 'SERVER', 'HINTS', 'DESCRIPTION'], tools.map(row)));
    printNotes(report);
  }
  return down.length > 0 && down.length === servers.length + recalled.length ? EXIT.unavailable : EXIT.done;
}

const UNANSWERED = 'it has not answered yet';

function printNotes({ tools, servers, recalled, reports, review }: CatalogReport): void {
  for (const { name, state } of tools)
    if (state === 'disabled') printError(`note: ${printable(name)} is disabled by an operator`);
  if (review !== undefined) printError(reviewNote(review));
  const doubtful = tools.filter(({ lint }) => lint.some(({ level }) => level === 'error')).length;
  if (doubtful > 0)
    printError(`note: the hints of ${counted(doubtful, 'tool')} are wrong; see \`assay lint\``);
  for (const report of reports) printError(`note: ${printable(report)}`);
  for (const lack of servers.map(missingFrom))
    if (lack !== undefined) printError(printable(`warning: ${lack}`));
  if (recalled.length > 0)
    printError(
      proseOf(
        `note: no gateway is running; the tools of ${counted(recalled.length, 'server')} are as last listed. \`assay tools --refresh\` starts them and lists again`,
      ),
    );
}

/** The risk in one word, as clients see it, and idempotence. */
function badgesOf({ state, hints }: ListedTool): string {
  if (state === 'withheld') return 'withheld';
  const { readOnlyHint, destructiveHint, idempotentHint } = hints;
  const isSaid = readOnlyHint.emitted !== undefined || destructiveHint.emitted !== undefined;
  if (!isSaid) return 'unannotated';
  if (readOnlyHint.effective) return 'read-only';
  const risk = destructiveHint.effective ? 'destructive' : 'writes';
  return idempotentHint.effective ? `${risk}, idempotent` : risk;
}

const MAX_DESCRIPTION_LENGTH = 100;

function row(tool: ListedTool): readonly string[] {
  const { name, server, description } = tool;
  const text = typeof description === 'string' ? description.replace(/\s+/g, ' ').trim() : '';
  const cut = text.slice(0, MAX_DESCRIPTION_LENGTH - 1).replace(/[\ud800-\udbff]$/, '');
  const short = text.length > MAX_DESCRIPTION_LENGTH ? `${cut}…` : text;
  return [name, server, badgesOf(tool), short];
}
