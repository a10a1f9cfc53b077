import { Command } from 'commander';
import type { ReviewCounts } from '../../api/status.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { type Hint, HINTS } from '@assay-mcp/kit/hint';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { Tool } from '../../api/tool.ts';
import type { CodedProblem } from '../../api/problem.ts';
import { type Done, withConfig } from './common-options.ts';
import type { Api } from './api.ts';
import { listAllTools } from './hints.ts';
import {
  print,
  printError,
  printJson,
  formatProse,
  style,
  formatTable,
} from '@assay-mcp/kit/platform/terminal/print';
import { formatChanges, printRefusal } from './output.ts';
import {
  listChangedInstructions,
  reviewInstructions,
  type AcceptOptions,
  type InstructionsItem,
} from './review-instructions.ts';
import { reviewRoots } from './review-roots.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, toToolPath, withApi, withOpened } from './with-api.ts';

/** `assay review` */
export function reviewCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('review')
      .argument('[tool]', 'public or namespaced name of the tool (default: list pending reviews)')
      .description('show and accept changes in tool definitions, server instructions and roots')
      .option('--instructions <server>', 'review the instructions of this server instead of a tool')
      .option('--roots <server>', 'review where the roots of this server lead')
      .option('--refresh', 'without a running gateway, start all servers and compare what they list now')
      .option('--accept', 'accept the current definition, instructions or roots')
      .option('--json', 'print JSON')
      .action(async (tool: string | undefined, options: ReviewOptions) =>
        done(await review(runtime, tool, options)),
      ),
  );
}

interface ReviewOptions extends AcceptOptions {
  /** The server whose instructions are reviewed. */
  readonly instructions?: string;
  /** The server whose roots are reviewed. */
  readonly roots?: string;
  readonly refresh?: boolean;
}

/** An item to review. */
type ReviewItem = ToolItem | InstructionsItem;

interface ToolItem {
  readonly kind: 'tool';
  readonly name: string;
  readonly id: string;
  readonly severity: 'dangerous' | 'review' | 'harmless';
  /** The reasons, as phrases. */
  readonly reasons: readonly string[];
  /** Hints whose override has no effect until the review. */
  readonly suspends: readonly Hint[];
  readonly isVolatile: boolean;
  readonly changes: readonly Change[];
}

type Change = NonNullable<Tool['drift']>['changes'][number];

/** `assay review [TOOL]`: lists items to review, or shows how one tool or a server's instructions changed. */
export async function review(
  runtime: Runtime,
  name: string | undefined,
  options: ReviewOptions,
): Promise<number> {
  const { instructions, roots } = options;
  const reason = argumentsFault(name, options);
  if (reason !== undefined) return printRefusal({ code: 'ARGUMENTS_INVALID', reason });
  // The roots of an entry are paths of this machine.
  if (roots !== undefined)
    return withOpened(runtime.openServices(options), (services) => reviewRoots(services, roots, options));
  return withApi(runtime, options, (api) => {
    if (instructions !== undefined) return reviewInstructions(api, instructions, options);
    return name === undefined ? reviewAll(api, options) : reviewTool(api, name, options);
  });
}

function argumentsFault(
  name: string | undefined,
  { instructions, roots, accept }: ReviewOptions,
): string | undefined {
  const named = [name, instructions, roots].filter((one) => one !== undefined).length;
  if (named > 1) return 'name a tool, or a server with --instructions or --roots, not several of them';
  return named === 0 && accept === true
    ? '--accept: name the tool whose definition you accept, or use --instructions or --roots with the server'
    : undefined;
}

async function reviewAll(api: Api, options: ReviewOptions): Promise<Result<unknown, CodedProblem>> {
  const query = options.refresh === true ? { refresh: 'true' } : {};
  const tools = await listAllTools(api, query);
  if (!tools.ok) return tools;
  const instructions = await listChangedInstructions(api, query);
  if (!instructions.ok) return instructions;
  showAll([...tools.value.flatMap(itemOf), ...instructions.value].toSorted(byGravity), options);
  if (api.isLocal() && options.refresh !== true) printError(formatProse(AS_LAST_LISTED));
  return tools;
}

const AS_LAST_LISTED =
  'note: no gateway is running, so this compares what was last listed. `assay review --refresh` starts the servers and lists again.';

async function reviewTool(
  api: Api,
  name: string,
  options: ReviewOptions,
): Promise<Result<unknown, CodedProblem | Refusal>> {
  const path = toToolPath(name);
  if (!path.ok) return path;
  const read = await api.read<Tool>(path.value);
  if (!read.ok) return read;
  const { value: tool, etag: ifMatch } = read.value;
  const [item] = itemOf(tool);
  if (item === undefined) {
    if (options.json === true) printJson({ review: [] });
    else print(`${toPrintable(tool.name)}: nothing waits for a review.`);
    return read;
  }
  if (options.accept !== true) {
    showOne(item, options);
    return read;
  }
  // Accepts only the definition that was read here, not a newer one.
  const accepted = await api.send<Tool>({ method: 'POST', path: apiPath`/tools/${tool.id}/review`, ifMatch });
  if (!accepted.ok) return accepted;
  if (options.json === true) printJson(accepted.value);
  else print(`Accepted the definition of ${toPrintable(item.name)}.`);
  return accepted;
}

/** Empty if the definition is the accepted one and no override is suspended. */
function itemOf(tool: Tool): readonly ToolItem[] {
  const { name, id, drift } = tool;
  const suspends = listSuspendedHints(tool);
  if (drift === undefined && suspends.length === 0) return [];
  const { severity = 'dangerous', dangers = [], flags = [], isVolatile = false, changes = [] } = drift ?? {};
  const reasons =
    drift === undefined ? ['an override was given for another definition'] : [...dangers, ...flags];
  return [{ kind: 'tool', name, id, severity, reasons, suspends, isVolatile, changes }];
}

function listSuspendedHints({ hints }: Pick<Tool, 'hints'>): readonly Hint[] {
  return HINTS.filter((hint) =>
    hints[hint].claims.some(({ kind, suspended }) => kind === 'override' && suspended !== undefined),
  );
}

const GRAVITY: Readonly<Record<ReviewItem['severity'], number>> = { dangerous: 0, review: 1, harmless: 2 };

function byGravity(one: ReviewItem, other: ReviewItem): number {
  return GRAVITY[one.severity] - GRAVITY[other.severity];
}

function showAll(items: readonly ReviewItem[], { json = false }: ReviewOptions): void {
  if (json) return printJson({ review: items });
  if (items.length > 0)
    print(
      formatTable(
        ['NAME', 'KIND', 'SEVERITY', 'WHY'],
        items.map((item) => [item.name, item.kind, item.severity, summaryOf(item)]),
      ),
    );
  if (items.length === 0) return printError('Nothing waits for a review.');
  const tools = items.filter(({ kind }) => kind === 'tool').length;
  const servers = items.length - tools;
  if (tools > 0)
    printError(
      formatProse(
        `${formatCount(tools, 'tool')} to review. \`assay review TOOL\` shows what changed, and --accept accepts it.`,
      ),
    );
  if (servers > 0)
    printError(
      formatProse(
        `Instructions of ${formatCount(servers, 'server')} to review. \`assay review --instructions SERVER\` shows what changed, and --accept accepts it.`,
      ),
    );
}

function summaryOf(item: ReviewItem): string {
  return item.kind === 'tool' ? whyOf(item) : item.reasons.join('; ');
}

function whyOf({ reasons, suspends, isVolatile }: ToolItem): string {
  return [
    ...(reasons.length === 0 ? ['what changed is harmless'] : reasons),
    ...(isVolatile ? ['its texts change at each start'] : []),
    ...(suspends.length === 0 ? [] : [`suspended: ${suspends.join(', ')}`]),
  ].join('; ');
}

/** Never truncated: the part cut off might be the one that matters. */
function showOne(item: ToolItem, { json = false }: ReviewOptions): void {
  if (json) return printJson({ review: [item] });
  print(
    `${toPrintable(item.name)}: ${item.severity === 'dangerous' ? style.red('dangerous') : item.severity}`,
  );
  print(formatProse(toPrintable(whyOf(item)), { indent: '  ' }));
  for (const line of formatChanges(item.changes)) print(line);
  printError(
    formatProse('`--accept` accepts exactly this definition; overrides of the tool then apply to it.'),
  );
}

/** The note that other commands print if there are tools to review. */
export function formatReviewNote({ tools, dangerous, suspended }: ReviewCounts): string {
  const parts = [
    ...(dangerous > 0 ? [`${dangerous} dangerous`] : []),
    ...(suspended > 0 ? [`${suspended} with suspended overrides`] : []),
  ];
  const details = parts.length === 0 ? '' : ` (${parts.join(', ')})`;
  return `note: ${formatCount(tools, 'tool')} to review${details}; \`assay review\` shows what changed`;
}
