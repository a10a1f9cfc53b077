import { Command } from 'commander';
import type { CatalogReport, CatalogTool } from '../../api/status.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import type { CodedProblem } from '../../api/problem.ts';
import { EXIT } from '../../core/errors.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { isReady } from '../../core/supervision.ts';
import { findMissingReason } from '../../gateway/catalog/server-status.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import type { Api } from './api.ts';
import {
  print,
  printError,
  printJson,
  formatProse,
  style,
  formatTable,
} from '@assay-mcp/kit/platform/terminal/print';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import { formatReviewNote } from './review.ts';
import { truncateToWidth, measureWidth } from '@assay-mcp/kit/platform/terminal/table';
import type { Runtime } from './runtime.ts';
import { withApiExit } from './with-api.ts';

/** `assay tools` */
export function toolsCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('tools')
      .argument('[server]', 'only list tools of this server')
      .description('list the tools of all servers under their public names')
      .option('--refresh', 'start all servers instead of using stored tool lists, if no gateway is running')
      .option('--json', 'print JSON')
      .action(async (server: string | undefined, options: ToolsOptions) =>
        done(await listTools(runtime, server, options)),
      ),
  );
}

interface ToolsOptions extends JsonOptions {
  /** Also ask servers whose tools are already known. */
  readonly refresh?: boolean;
}

/** `assay tools [SERVER]`: tools under their public names; deviations from the servers' definitions on stderr. */
function listTools(runtime: Runtime, server: string | undefined, options: ToolsOptions): Promise<number> {
  return withApiExit(runtime, options, async (api) => {
    const report = await readReport(api, server, options.refresh === true ? { refresh: 'true' } : {});
    return report.ok ? ok(printTools(report.value, options)) : report;
  });
}

/** Lists the tools of a server, or of all. SERVER_UNKNOWN */
export async function readReport(
  api: Api,
  server: string | undefined,
  query: Readonly<Record<string, string>>,
): Promise<Result<CatalogReport, CodedProblem | Refusal>> {
  const asked = { ...query, ...(server !== undefined && { server }) };
  const report = await withProgress('listing tools', () =>
    api.send<CatalogReport>({ method: 'GET', path: '/catalog', query: asked }),
  );
  if (!report.ok) return report;
  const { known } = report.value;
  const isKnown = server === undefined || known.includes(server);
  return isKnown ? report : err({ code: 'SERVER_UNKNOWN', name: server, known });
}

function printTools(report: CatalogReport, options: ToolsOptions): number {
  const { servers, recalled, reports } = report;
  const tools = report.tools.filter(({ state }) => state !== 'disabled');
  const listFaults = servers.flatMap(({ name, listFaults: faults = [] }) =>
    faults.map((fault) => ({ server: name, ...fault })),
  );
  const down = servers.flatMap(({ name, state, cause = UNANSWERED, causeCode }) =>
    isReady({ state }) ? [] : [{ name, state, cause, causeCode }],
  );
  if (options.json === true) printJson({ tools, down, listFaults, reports });
  else {
    print(
      process.stdout.isTTY
        ? formatToolPage(tools, process.stdout.columns)
        : formatTable(HEAD, tools.map(row)),
    );
    printNotes(report);
  }
  return down.length > 0 && down.length === servers.length + recalled.length ? EXIT.unavailable : EXIT.done;
}

const UNANSWERED = 'it has not answered yet';

function printNotes({ tools, servers, recalled, reports, review }: CatalogReport): void {
  for (const { name, state } of tools)
    if (state === 'disabled') printError(`note: ${toPrintable(name)} is disabled by an operator`);
  if (review !== undefined) printError(formatReviewNote(review));
  const doubtful = tools.filter(({ lint }) => lint.some(({ level }) => level === 'error')).length;
  if (doubtful > 0)
    printError(`note: the hints of ${formatCount(doubtful, 'tool')} are wrong; see \`assay lint\``);
  for (const report of reports) printError(`note: ${toPrintable(report)}`);
  for (const lack of servers.map(findMissingReason))
    if (lack !== undefined) printError(toPrintable(`warning: ${lack}`));
  if (recalled.length > 0)
    printError(
      formatProse(
        `note: no gateway is running; the tools of ${formatCount(recalled.length, 'server')} are as last listed. \`assay tools --refresh\` starts them and lists again`,
      ),
    );
}

/** The risk in one word, as clients see it, and idempotence. */
function badgesOf({ state, hints }: CatalogTool): string {
  if (state === 'withheld') return 'withheld';
  const { readOnlyHint, destructiveHint, idempotentHint } = hints;
  const isSaid = readOnlyHint.emitted !== undefined || destructiveHint.emitted !== undefined;
  if (!isSaid) return 'unannotated';
  if (readOnlyHint.effective) return 'read-only';
  const risk = destructiveHint.effective ? 'destructive' : 'writes';
  return idempotentHint.effective ? `${risk}, idempotent` : risk;
}

const HEAD = ['TOOL', 'SERVER', 'HINTS', 'DESCRIPTION'];
const MAX_DESCRIPTION_LENGTH = 100;

function row(tool: CatalogTool): readonly string[] {
  return [tool.name, tool.server, badgesOf(tool), shortDescription(tool, MAX_DESCRIPTION_LENGTH)];
}

function shortDescription({ description }: CatalogTool, max: number): string {
  const text = typeof description === 'string' ? toPrintable(description.replace(/\s+/g, ' ').trim()) : '';
  return truncateToWidth(text, max);
}

/** For a terminal: the tools grouped by server. Names are not broken, so that they can be copied. */
export function formatToolPage(tools: readonly CatalogTool[], columns = 80): string {
  const servers = [...new Set(tools.map(({ server }) => server))];
  return servers.map((server) => sectionOf(server, { tools, columns })).join('\n\n');
}

/** If less than this is left for descriptions, each gets its own line. */
const MIN_DESCRIPTION_WIDTH = 40;

function sectionOf(
  server: string,
  { tools, columns }: { readonly tools: readonly CatalogTool[]; readonly columns: number },
): string {
  const own = tools.filter((tool) => tool.server === server);
  const names = Math.max(...own.map(({ name }) => measureWidth(toPrintable(name))));
  const badges = Math.max(...own.map((tool) => badgesOf(tool).length));
  const room = columns - names - badges - 6;
  const lines = own.map((tool) => {
    const name = toPrintable(tool.name);
    const lead = `  ${name}${' '.repeat(names - measureWidth(name))}  ${style.dim(badgesOf(tool))}`;
    if (room < MIN_DESCRIPTION_WIDTH) {
      const text = shortDescription(tool, columns - 6);
      return text === '' ? lead : `${lead}\n      ${text}`;
    }
    const pad = ' '.repeat(badges - badgesOf(tool).length);
    return `${lead}${pad}  ${shortDescription(tool, room)}`.trimEnd();
  });
  return [`${style.bold(toPrintable(server))}: ${formatCount(own.length, 'tool')}`, ...lines].join('\n');
}
