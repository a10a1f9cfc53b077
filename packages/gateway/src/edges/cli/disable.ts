import { Command } from 'commander';
import { formatCount } from '@assay-mcp/kit/counted';
import { quote, toPrintable } from '@assay-mcp/kit/printable';
import { formatProse, print, printError, printJson, style } from '@assay-mcp/kit/platform/terminal/print';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { CodedProblem } from '../../api/problem.ts';
import type { GatewayList } from '../../api/server.ts';
import type { ActiveStop, StopInput, StopList, StopView } from '../../api/stop.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Api } from './api.ts';
import { confirm, isInteractive } from './ask.ts';
import { type Done, type JsonOptions, withConfig } from './common-options.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, withApi } from './with-api.ts';

/** `assay disable` */
export function disableCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('disable')
      .argument('[name]', 'a server, or a tool; without one, lists what is stopped')
      .description('stop the calls of a tool, of a server or all, on every replica at once')
      .option('--all-calls', 'stop all calls to servers')
      .option('--reason <text>', 'why; shown to callers, including models')
      .option('--json', 'print JSON')
      .action(async (name: string | undefined, options: StopOptions) =>
        done(await disable(runtime, name, options)),
      ),
  );
}

/** `assay enable` */
export function enableCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('enable')
      .argument('[name]', 'a server, or a tool')
      .description('allow again what `assay disable` stopped')
      .option('--all-calls', 'end the stop of all calls')
      .option('--yes', 'do not ask')
      .option('--json', 'print JSON')
      .action(async (name: string | undefined, options: StopOptions) =>
        done(await enable(runtime, name, options)),
      ),
  );
}

interface StopOptions extends JsonOptions {
  readonly allCalls?: boolean;
  readonly reason?: string;
  readonly yes?: boolean;
}

function disable(runtime: Runtime, name: string | undefined, options: StopOptions): Promise<number> {
  const { allCalls = false, reason, json = false } = options;
  return withApi(runtime, options, async (api) => {
    if (name === undefined && !allCalls)
      return reason === undefined ? listStops(api, json) : err(NOTHING_NAMED);
    if (name !== undefined && allCalls) return err(BOTH_NAMED);
    const target = name === undefined ? ok({ allCalls: true } as const) : await resolveName(api, name);
    if (!target.ok) return target;
    const body: StopInput = { ...target.value, ...(reason !== undefined && { reason }) };
    const stopped = await api.send<StopView>({ method: 'POST', path: '/stops', body });
    if (!stopped.ok) return stopped;
    if (json) printJson(stopped.value);
    else {
      const { kind, releases } = stopped.value;
      print(`Stopped ${describe(stopped.value)}${kind === 'tool' ? '' : ` (${countTools(releases)})`}.`);
      print(formatProse('Calls that were sent already are not cut.', { indent: '  ' }));
      print(formatProse(`To allow it again: assay enable ${getArgument(stopped.value)}`, { indent: '  ' }));
    }
    return stopped;
  });
}

/** Prints what it allows again, and asks. */
function enable(runtime: Runtime, name: string | undefined, options: StopOptions): Promise<number> {
  const { allCalls = false, yes = false, json = false } = options;
  return withApi(runtime, options, async (api) => {
    if (name === undefined && !allCalls) return err(NOTHING_NAMED);
    if (name !== undefined && allCalls) return err(BOTH_NAMED);
    const found = await findStop(api, name);
    if (!found.ok) return found;
    const stop = found.value;
    if (!json) print(formatReleased(stop).join('\n'));
    if (!yes && (json || !isInteractive())) return err(NO_TERMINAL);
    if (!yes && !(await confirm(`Allow ${describe(stop)} again?`))) return ok(undefined);
    const ended = await api.send<undefined>({ method: 'DELETE', path: apiPath`/stops/${stop.id}` });
    if (!ended.ok) return ended;
    if (json) printJson({ ...stop, ended: true });
    else print(`${capitalize(describe(stop))} can be called again.`);
    return ended;
  });
}

const NOTHING_NAMED: Refusal = {
  code: 'ARGUMENTS_INVALID',
  reason: 'name a server or a tool, or give --all-calls',
};

const BOTH_NAMED: Refusal = {
  code: 'ARGUMENTS_INVALID',
  reason: 'give either a name or --all-calls',
};

const NO_TERMINAL: Refusal = {
  code: 'ARGUMENTS_INVALID',
  reason: 'there is no terminal to ask on; use --yes to enable without asking',
};

/** A name of a server comes first; `SERVER.TOOL` always names a tool. */
async function resolveName(api: Api, name: string): Promise<Result<StopInput, CodedProblem>> {
  const listed = await api.send<GatewayList>({ method: 'GET', path: '/gateways' });
  if (!listed.ok) return listed;
  return ok(listed.value.gateways.some((one) => one.name === name) ? { server: name } : { tool: name });
}

async function listStops(api: Api, json: boolean): Promise<Result<StopList, CodedProblem>> {
  const listed = await api.send<StopList>({ method: 'GET', path: '/stops' });
  if (!listed.ok) return listed;
  const { stops } = listed.value;
  if (json) printJson({ stops });
  else if (stops.length === 0) printError('Nothing is stopped.');
  else print(stops.flatMap(formatReleased).join('\n'));
  return listed;
}

async function findStop(
  api: Api,
  name: string | undefined,
): Promise<Result<StopView, CodedProblem | Refusal>> {
  const listed = await api.send<StopList>({ method: 'GET', path: '/stops' });
  if (!listed.ok) return listed;
  const { stops } = listed.value;
  const found =
    name === undefined
      ? stops.find(({ kind }) => kind === 'all_calls')
      : (stops.find(({ kind, server }) => kind === 'server' && server === name) ??
        stops.find(({ kind, tool }) => kind === 'tool' && tool === name));
  if (found !== undefined) return ok(found);
  // A public name, which only the catalog knows.
  const read = name === undefined ? undefined : await readNamespacedName(api, name);
  const named = read === undefined ? undefined : stops.find(({ tool }) => tool === read);
  return named === undefined ? err({ code: 'STOP_UNKNOWN', id: name ?? 'all_calls' }) : ok(named);
}

async function readNamespacedName(api: Api, name: string): Promise<string | undefined> {
  const read = await api.send<{ readonly namespacedName: string }>({
    method: 'GET',
    path: apiPath`/tools/${name}`,
  });
  return read.ok ? read.value.namespacedName : undefined;
}

/** A stop, and what its end releases, in lines that fit a terminal. */
function formatReleased(stop: StopView): readonly string[] {
  const { releases } = stop;
  const indented = (text: string): string => formatProse(toPrintable(text), { indent: '  ' });
  return [
    `${style.red('stopped')}  ${describe(stop)}`,
    indented(formatOrigin(stop)),
    indented(`enabling allows: ${countTools(releases)}`),
    ...(releases.destructiveCount === 0
      ? []
      : [indented(`of which may be destructive (${releases.destructiveCount}): ${listNames(releases)}`)]),
    ...(releases.unlisted.length === 0
      ? []
      : [indented(`tools not known now: ${releases.unlisted.join(', ')}`)]),
  ];
}

/** Who stopped it, when and why. */
export function formatOrigin({ by, at, reason }: ActiveStop): string {
  return `by ${by}, ${at}${reason === undefined ? '' : `: ${quote(reason)}`}`;
}

export function describe({ kind, server = '', tool = '' }: ActiveStop): string {
  if (kind === 'all_calls') return 'all calls';
  return toPrintable(`the ${kind} ${kind === 'server' ? server : tool}`);
}

function countTools({ tools }: StopView['releases']): string {
  return formatCount(tools, 'tool');
}

function listNames({ destructive, destructiveCount }: StopView['releases']): string {
  const shown = destructive.slice(0, MAX_SHOWN);
  const more = destructiveCount - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const MAX_SHOWN = 12;

function getArgument({ kind, server = '', tool = '' }: ActiveStop): string {
  return kind === 'all_calls' ? '--all-calls' : toPrintable(kind === 'server' ? server : tool);
}

function capitalize(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
