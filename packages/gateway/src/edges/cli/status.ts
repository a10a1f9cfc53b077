import { Command } from 'commander';
import type { ConnectedClient, GatewayStatus, PendingReviews, RunningStatus } from '../../api/status.ts';
import type { ToolCosts } from '../../api/toolset.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { toPrintable } from '@assay-mcp/kit/printable';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import {
  print,
  printError,
  printJson,
  formatProse,
  style,
  formatTable,
} from '@assay-mcp/kit/platform/terminal/print';
import { formatTokens } from './choose-tools.ts';
import { describe, formatOrigin } from './disable.ts';
import type { Runtime } from './runtime.ts';
import { formatServersTable } from './servers-table.ts';
import { withApi } from './with-api.ts';

/** `assay status` */
export function statusCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('status')
      .description('show the running gateway: endpoint, service, servers, clients and pending reviews')
      .option('--json', 'print JSON')
      .action(async (options: JsonOptions) => done(await showStatus(runtime, options))),
  );
}

/** `assay status`: the running gateway with its servers and clients, or the configured servers if none is running. */
function showStatus(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const read = await api.send<GatewayStatus>({ method: 'GET', path: '/status' });
    if (!read.ok) return read;
    const { equipped } = read.value;
    const costs = await api.send<ToolCosts>({ method: 'GET', path: '/catalog/costs' });
    // A status is shown even if the tools cannot be counted.
    const cost = costs.ok ? countStatusTokens(costs.value, equipped) : undefined;
    const service = await findInstalled(runtime, options);
    if (options.json === true)
      printJson({ ...read.value, ...(cost && { tokens: cost }), ...(service && { service }) });
    else printStatus(read.value, { cost, service });
    return read;
  });
}

/** The service of this home and config; undefined if none is installed or it cannot be read. */
async function findInstalled(runtime: Runtime, options: JsonOptions): Promise<InstalledService | undefined> {
  const service = await runtime.findService(options);
  if (!service.ok || !service.value.isInstalled) return undefined;
  return { name: service.value.name, file: service.value.file.path };
}

interface InstalledService {
  readonly name: string;
  readonly file: string;
}

interface StatusDetails {
  readonly cost: StatusTokens | undefined;
  readonly service: InstalledService | undefined;
}

interface StatusTokens {
  /** What the tools of all servers cost a model. */
  readonly all: number;
  /** Absent: no toolset is equipped. */
  readonly equipped?: number;
}

function countStatusTokens({ tokens, toolsets }: ToolCosts, equipped: string | undefined): StatusTokens {
  const cost = equipped === undefined ? undefined : toolsets[equipped];
  const all = Object.values(tokens).reduce((sum, one) => sum + one, 0);
  return { all, ...(cost && { equipped: cost.tokens }) };
}

function printStatus(
  { running, servers, equipped, pending, stops = [] }: GatewayStatus,
  { cost, service }: StatusDetails,
): void {
  if (running === undefined)
    print('No gateway is running. A client that attaches starts one, and so does `assay serve`.');
  else for (const line of headOf(running)) print(line);
  if (service !== undefined) print(`service   ${toPrintable(service.file)}`);
  for (const stop of stops)
    print(style.red(`stopped   ${describe(stop)}, ${toPrintable(formatOrigin(stop))}`));
  const ofEquipped = cost?.equipped === undefined ? '' : `, ${formatTokens(cost.equipped)}`;
  if (equipped !== undefined) print(`equipped  ${toPrintable(equipped)}${ofEquipped}`);
  if (cost !== undefined && servers.length > 0) print(`all tools ${formatTokens(cost.all)}`);
  if (servers.length === 0)
    return printError('There are no servers. `assay add` adds one, `assay import` those of a client.');
  print('');
  print(formatServersTable(servers));
  if (running !== undefined && running.clients.length > 0) {
    print('');
    print(formatTable(['CLIENT', 'ENDPOINT', 'SUBJECT', 'LAST REQUEST'], running.clients.map(clientRow)));
  }
  const reviews = pendingText(pending);
  if (reviews !== undefined) printError(formatProse(reviews, { isTerminal: process.stderr.isTTY }));
}

function headOf(running: RunningStatus): readonly string[] {
  const { url, isOnDemand, pid, version, uptimeMs, configPath, configFault } = running;
  return [
    `endpoint  ${url === '' ? 'none: clients attach to it; `assay token link` opens the pages' : `${url}/mcp`}`,
    `process   ${pid}, version ${version}, running for ${durationText(uptimeMs)}${isOnDemand ? ', in the background' : ''}`,
    `config    ${toPrintable(configPath)}`,
    ...(configFault === undefined ? [] : [style.red(`          not in effect: ${toPrintable(configFault)}`)]),
  ];
}

function clientRow({ name, version, endpoint, subject, idleMs }: ConnectedClient): readonly string[] {
  const shown = version === undefined ? name : `${name} ${version}`;
  return [
    shown,
    `/mcp${endpoint === '' ? '' : `/${endpoint}`}`,
    subject,
    idleMs === undefined ? 'open' : `${durationText(idleMs)} ago`,
  ];
}

function pendingText({ tools, instructions, notes }: PendingReviews): string | undefined {
  const parts = [
    ...(tools > 0 ? [`${formatCount(tools, 'tool')} (\`assay review\`)`] : []),
    ...(instructions > 0
      ? [`the instructions of ${formatCount(instructions, 'server')} (\`assay review\`)`]
      : []),
    ...(notes > 0 ? [`${formatCount(notes, 'note')} (\`assay notes review\`)`] : []),
  ];
  return parts.length === 0 ? undefined : `To review: ${parts.join(', ')}.`;
}

const UNITS: readonly (readonly [ms: number, unit: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

function durationText(ms: number): string {
  const [size, unit] = UNITS.find(([least]) => ms >= least) ?? [1_000, 's'];
  return `${Math.floor(ms / size)} ${unit}`;
}
