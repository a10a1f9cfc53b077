import { Command } from 'commander';
import type { ConnectedClient, GatewayStatus, PendingReviews, RunningStatus } from '../../api/status.ts';
import { formatCount } from '../../core/counted.ts';
import { toPrintable } from '../../core/printable.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import { print, printError, printJson, formatProse, style, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { formatServersTable } from './servers-table.ts';
import { withApi } from './with-api.ts';

/** `assay status` */
export function statusCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('status')
      .description('show the running gateway: endpoint, servers, clients and pending reviews')
      .option('--json', 'print JSON')
      .action(async (options: JsonOptions) => done(await showStatus(runtime, options))),
  );
}

/** `assay status`: the running gateway with its servers and clients, or the configured servers if none is running. */
function showStatus(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const read = await api.send<GatewayStatus>({ method: 'GET', path: '/status' });
    if (!read.ok) return read;
    if (options.json === true) printJson(read.value);
    else printStatus(read.value);
    return read;
  });
}

function printStatus({ running, servers, equipped, pending }: GatewayStatus): void {
  if (running === undefined) print('No gateway is running. `assay serve` starts one.');
  else for (const line of headOf(running)) print(line);
  if (equipped !== undefined) print(`equipped  ${toPrintable(equipped)}`);
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

function headOf({ url, pid, version, uptimeMs, configPath, configFault }: RunningStatus): readonly string[] {
  return [
    `endpoint  ${url}/mcp`,
    `process   ${pid}, version ${version}, running for ${durationText(uptimeMs)}`,
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
