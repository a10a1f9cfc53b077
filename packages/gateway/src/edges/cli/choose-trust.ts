import { formatCount } from '@assay-mcp/kit/counted';
import { formatProse, formatTable, print, printError } from '@assay-mcp/kit/platform/terminal/print';
import { toPrintable } from '@assay-mcp/kit/printable';
import { ok, type Result } from '@assay-mcp/kit/result';
import type { CodedProblem } from '../../api/problem.ts';
import type { GatewayList, GatewayTrust } from '../../api/server.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { Refusal } from '../../core/refusal.ts';
import type { Api } from './api.ts';
import { ask } from './ask.ts';
import { findByWords, splitWords } from './choose-tools.ts';
import type { ClientConfigPorts } from './runtime.ts';
import { changeTrust, readTrust } from './trust.ts';

interface ChooseTrustOptions extends AppOptions {
  /** What `--trust` says: server names with commas, `all` or `none`. */
  readonly choice: string | undefined;
  /** Trusts no server without a question. */
  readonly yes: boolean;
}

type Done<T> = Result<T, CodedProblem | Refusal>;

/**
 * The question of `assay setup` about trust: for each server, what Assay would ask less, and what a verification on this
 * machine has seen. Not asked where the answer changes nothing, as while the MCP clients ask instead of Assay.
 */
export async function chooseTrust(
  runtime: ClientConfigPorts,
  { choice, yes, ...options }: ChooseTrustOptions,
): Promise<Done<undefined>> {
  const api = await runtime.openApi(options, printError);
  try {
    const read = await listUntrusted(api);
    if (!read.ok) return read;
    const servers = read.value.filter(
      ({ approvals, notAsked, askedLess }) =>
        choice !== undefined || (approvals === 'gateway' && notAsked.total + askedLess.total > 0),
    );
    if (servers.length === 0 || (yes && choice === undefined)) return ok(undefined);
    const chosen =
      choice === undefined ? ok(await askTrusted(servers)) : findTrusted(servers, splitWords(choice));
    if (!chosen.ok) return chosen;
    for (const server of chosen.value) {
      const changed = await changeTrust(api, server, true);
      if (!changed.ok) return changed;
    }
    if (chosen.value.length > 0) {
      const names = chosen.value.map(({ name }) => name).join(', ');
      print(formatProse(toPrintable(`Trusted the hints of ${names}. To undo: assay trust SERVER --undo`)));
    }
    return ok(undefined);
  } finally {
    await api.close();
  }
}

async function listUntrusted(api: Api): Promise<Done<readonly GatewayTrust[]>> {
  const listed = await api.send<GatewayList>({ method: 'GET', path: '/gateways' });
  if (!listed.ok) return listed;
  const servers: GatewayTrust[] = [];
  for (const { name, trust } of listed.value.gateways) {
    if (trust === undefined || trust.value || trust.origin !== 'default') continue;
    const view = await readTrust(api, name);
    if (!view.ok) return view;
    servers.push(view.value);
  }
  return ok(servers);
}

async function askTrusted(servers: readonly GatewayTrust[]): Promise<readonly GatewayTrust[]> {
  print(
    `\n${formatProse('Assay asks before calls that may change something, and does not rely on what an untrusted server says about its tools.')}`,
  );
  const rows = servers.map((server, index) => [
    ...[String(index + 1), toPrintable(server.name), String(server.notAsked.total)],
    ...[String(server.askedLess.total), formatVerified(server)],
  ]);
  print(formatTable(['', 'SERVER', 'NOT ASKED', 'ASKED ONCE', 'VERIFIED HERE'], rows));
  for (;;) {
    const answer = await ask('Whose hints do you trust? Numbers or names, or all (Enter: none)');
    const found = findTrusted(servers, splitWords(answer ?? ''));
    if (found.ok) return found.value;
    if (found.error.code === 'ARGUMENTS_INVALID') printError(toPrintable(found.error.reason));
  }
}

function findTrusted(
  servers: readonly GatewayTrust[],
  words: readonly string[],
): Result<readonly GatewayTrust[], Refusal> {
  const [word, ...others] = words;
  if (others.length === 0 && word === 'all') return ok(servers);
  if (others.length === 0 && word === 'none') return ok([]);
  return findByWords(servers, words);
}

function formatVerified({ verified, studied, contradicted }: GatewayTrust): string {
  const here = verified === 0 ? 'no' : formatSeen(verified, contradicted.total);
  return studied === undefined
    ? here
    : `${here}; ${studied.origin}: ${formatSeen(studied.tools, studied.contradicted.total)}`;
}

function formatSeen(tools: number, contradicted: number): string {
  return contradicted === 0
    ? `${formatCount(tools, 'tool')}, no contradictions`
    : `${formatCount(tools, 'tool')}, ${contradicted} contradicted`;
}
