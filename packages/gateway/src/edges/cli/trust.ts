import { Command } from 'commander';
import { formatCount } from '@assay-mcp/kit/counted';
import { print, printJson, formatProse, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import { toPrintable } from '@assay-mcp/kit/printable';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { CodedProblem } from '../../api/problem.ts';
import type { GatewayList, GatewayTrust, GatewayTrustChange } from '../../api/server.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Api } from './api.ts';
import { confirm, isInteractive } from './ask.ts';
import { type Done, type JsonOptions, withConfig } from './common-options.ts';
import type { Runtime } from './runtime.ts';
import { apiPath, withApi } from './with-api.ts';

/** `assay trust` */
export function trustCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('trust')
      .argument('[server]', 'name of the server; without one, lists all')
      .description('trust the hints of a server, so that Assay asks less, or stop trusting them')
      .option('--undo', 'stop trusting them')
      .option('--yes', 'do not ask before trusting them')
      .option('--json', 'print JSON')
      .action(async (server: string | undefined, options: TrustOptions) =>
        done(await (server === undefined ? listTrust(runtime, options) : trust(runtime, server, options))),
      ),
  );
}

interface TrustOptions extends JsonOptions {
  readonly undo?: boolean;
  readonly yes?: boolean;
}

const ORIGINS: Readonly<Record<GatewayTrust['trust']['origin'], string>> = {
  config_file: 'set in the config file',
  operator: 'set by you',
  default: 'default',
};

/** `assay trust` */
function listTrust(runtime: Runtime, options: TrustOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const found = await api.send<GatewayList>({ method: 'GET', path: '/gateways' });
    if (!found.ok) return found;
    const servers = found.value.gateways.flatMap(({ name, trust: known, toolCount }) =>
      known === undefined ? [] : [{ name, trust: known, toolCount }],
    );
    if (options.json === true) printJson({ servers });
    else
      print(
        formatTable(
          ['SERVER', 'TRUSTED', 'WHY', 'TOOLS'],
          servers.map(({ name, trust: { value, origin }, toolCount }) => [
            ...[toPrintable(name), value ? 'yes' : 'no', ORIGINS[origin], String(toolCount)],
          ]),
        ),
      );
    return found;
  });
}

/** `assay trust SERVER`: says what will no longer be asked, and asks. `--undo` withdraws it without a question. */
function trust(runtime: Runtime, server: string, options: TrustOptions): Promise<number> {
  const { undo = false, yes = false, json = false } = options;
  return withApi(runtime, options, async (api) => {
    const read = await readTrust(api, server);
    if (!read.ok) return read;
    const view = read.value;
    if (!json && !undo) print(formatTrust(view).join('\n'));
    const isAsked = !undo && !yes && !view.trust.value;
    if (isAsked && (json || !isInteractive())) return err(NO_TERMINAL);
    if (isAsked && !(await confirm(`Trust the hints of ${toPrintable(view.name)}?`))) return ok(undefined);
    const changed = await changeTrust(api, view, !undo);
    if (!changed.ok) return changed;
    if (json) printJson(changed.value);
    else print(describeChange(changed.value));
    return changed;
  });
}

const NO_TERMINAL: Refusal = {
  code: 'ARGUMENTS_INVALID',
  reason: 'there is no terminal to ask on; use --yes to trust the hints of this server',
};

export function readTrust(api: Api, server: string): Promise<Result<GatewayTrust, CodedProblem>> {
  return api.send({ method: 'GET', path: apiPath`/gateways/${server}/trust` });
}

/** Trusts, or no longer trusts, exactly the command or origin of the view. */
export function changeTrust(
  api: Api,
  { name, identity, trust: { origin } }: GatewayTrust,
  isTrusted: boolean,
): Promise<Result<GatewayTrust, CodedProblem>> {
  // Without a decision, only servers that operators wrote themselves are trusted.
  const change: GatewayTrustChange = {
    trust: !isTrusted && origin === 'operator' ? null : isTrusted,
    identity,
  };
  return api.send({ method: 'PUT', path: apiPath`/gateways/${name}/trust`, body: change });
}

function describeChange({ name, trust: { value } }: GatewayTrust): string {
  const shown = toPrintable(name);
  return value
    ? `The hints of ${shown} are trusted. To undo: assay trust ${shown} --undo`
    : `The hints of ${shown} are not trusted.`;
}

/** What trust in a server changes, in lines that fit a terminal. */
export function formatTrust(view: GatewayTrust): readonly string[] {
  const { name, target, toolCount, notAsked, askedLess, verified, studied, contradicted, approvals } = view;
  const indented = (text: string): string => formatProse(toPrintable(text), { indent: '  ' });
  const lines = [`${toPrintable(name)}: ${formatCount(toolCount, 'tool')}`, indented(`runs: ${target}`)];
  if (notAsked.total > 0)
    lines.push(indented(`no longer asked about (${notAsked.total}): ${listNames(notAsked)}`));
  if (askedLess.total > 0)
    lines.push(indented(`asked about once per session (${askedLess.total}): ${listNames(askedLess)}`));
  if (notAsked.total + askedLess.total === 0)
    lines.push(indented('Its hints change nothing about what Assay asks.'));
  if (approvals === 'client')
    lines.push(indented('At present your MCP client asks, not Assay (the setting approvals is client).'));
  if (verified > 0) lines.push(indented(formatVerified(view)));
  else lines.push(indented('No verification on this machine has called its tools.'));
  if (studied !== undefined) lines.push(indented(formatStudied(studied)));
  if (contradicted.total + (studied?.contradicted.total ?? 0) > 0)
    lines.push(indented('Hints that were contradicted never lower caution.'));
  return lines;
}

/** Never that a tool is safe. */
function formatStudied({ origin, tools, contradicted }: NonNullable<GatewayTrust['studied']>): string {
  const seen = `The ${origin} has verdicts for ${formatCount(tools, 'tool')} of this package`;
  return contradicted.total === 0
    ? `${seen} and contradicted no hint.`
    : `${seen} and contradicted ${contradicted.total}: ${listNames(contradicted)}.`;
}

function formatVerified({ verified, contradicted }: GatewayTrust): string {
  const seen = `A verification on this machine called ${formatCount(verified, 'tool')}`;
  return contradicted.total === 0
    ? `${seen} and contradicted no hint.`
    : `${seen} and contradicted ${contradicted.total}: ${listNames(contradicted)}.`;
}

function listNames({ total, names }: GatewayTrust['notAsked']): string {
  const shown = names.slice(0, MAX_SHOWN);
  return `${shown.join(', ')}${total > shown.length ? ` and ${total - shown.length} more` : ''}`;
}

const MAX_SHOWN = 12;
