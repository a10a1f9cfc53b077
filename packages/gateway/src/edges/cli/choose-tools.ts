import { formatCount } from '@assay-mcp/kit/counted';
import { formatProse, formatTable, print, printError, style } from '@assay-mcp/kit/platform/terminal/print';
import { toPrintable } from '@assay-mcp/kit/printable';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { AppOptions, ViewOptions } from '../../core/command-options.ts';
import { type Refusal, toArgumentRefusal } from '../../core/refusal.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { sumToolTokens } from '../../gateway/services/configuration-tools/token-cost.ts';
import { computeSeenByClient } from '../../gateway/services/seen-by-client.ts';
import { formatRefusal } from '../../core/sentences.ts';
import { ask, isInteractive } from './ask.ts';
import type { ClientConfigPorts, KnownClient, OpenOnboarding } from './runtime.ts';

/** A larger list is proposed to be searched: in tokens, some five percent of a usual context. */
const BUDGET_TOKENS = 10_000;

/** Which tools a client lists after `assay setup`. */
export type ToolChoice =
  | { readonly kind: 'search' }
  | { readonly kind: 'all' }
  /** Servers by number or name, or for each client the cheapest that fit the budget. Undefined: ask. */
  | { readonly kind: 'choose'; readonly servers: readonly string[] | 'proposed' | undefined };

/** Reads `--tools search`, `all` or `choose=github,linear`. */
export function readToolChoice(text: string): Result<ToolChoice, Refusal> {
  if (text === 'search' || text === 'all') return ok({ kind: text });
  const [, list] = /^choose(?:=(.+))?$/.exec(text) ?? [];
  if (text === 'choose') return ok({ kind: 'choose', servers: undefined });
  return list === undefined
    ? err(
        toArgumentRefusal('--tools', 'it takes search, all, choose, or choose=SERVER,SERVER') ?? {
          code: 'ARGUMENTS_INVALID',
          reason: text,
        },
      )
    : ok({ kind: 'choose', servers: splitWords(list) });
}

/** What one client lists now, by server. */
export interface ListedTools {
  readonly client: KnownClient;
  readonly tools: number;
  readonly tokens: number;
  /** Cheapest first. */
  readonly servers: readonly ServerCost[];
  /** Servers of other clients that a search would reach, too. */
  readonly others: readonly string[];
}

export interface ServerCost {
  readonly name: string;
  readonly tools: number;
  readonly tokens: number;
}

interface ChooseOptions extends AppOptions {
  readonly choice: ToolChoice | undefined;
  /** Takes the proposal without a question. */
  readonly yes: boolean;
}

/** The last question of `assay setup`: which tools the clients list. Its answer is written into their entries. */
export async function chooseTools(
  runtime: ClientConfigPorts,
  clients: readonly KnownClient[],
  { choice: given, yes, ...options }: ChooseOptions,
): Promise<Result<undefined, Refusal>> {
  const opened = await runtime.openOnboarding(options);
  if (!opened.ok) return opened;
  try {
    const ready = await opened.value.toolsetService.names();
    if (!ready.ok) return ready;
    const listed = clients.map((client) => listToolsOf(client, opened.value));
    const suffixes = runtime.clients.map(({ id }) => id);
    const counted = listed.filter(({ tools }) => tools > 0);
    if (counted.length === 0) return ok(undefined);
    const searchTokens = computeSeenByClient(opened.value, { search: true })?.tokens ?? 0;
    const accounts = [...new Set(counted.flatMap((one) => listOtherAccounts(one, suffixes)))];
    const proposal = proposeChoice(counted, accounts);
    print(`\n${formatProse(formatCosts(counted))}`);
    if (accounts.length > 0)
      print(formatProse(`A search reaches all servers, also other accounts: ${accounts.join(', ')}.`));
    const choice = given ?? (yes ? proposal : await askChoice(proposal, searchTokens));
    if (given === undefined && yes)
      print(
        formatProse(
          `${proposal.kind}: ${PROPOSED[proposal.kind]} \`assay setup --tools\` takes another answer.`,
        ),
      );
    for (const one of counted) {
      const done = await apply(one, choice, { runtime, options, onboarding: opened.value, searchTokens });
      if (!done.ok) return done;
    }
    return ok(undefined);
  } finally {
    await opened.value.close();
  }
}

const PROPOSED = {
  search: 'the clients find tools with search_tools instead of listing them.',
  all: 'the clients list all of these tools.',
  choose: 'the clients list some of these servers.',
} as const;

function listToolsOf(
  client: KnownClient,
  { catalog, toolsets, views, countTokens }: OpenOnboarding,
): ListedTools {
  const name = toolsets.find(client.id) === undefined ? toolsets.equipped?.name : client.id;
  const entries = (name === undefined ? undefined : views.of(name)?.listing('tools').entries) ?? [];
  const servers = Map.groupBy(entries, ({ server }) => server.spec.name);
  return {
    client,
    tools: entries.length,
    tokens: sumToolTokens(entries, countTokens),
    servers: [...servers]
      .map(([server, own]) => ({ name: server, tools: own.length, tokens: sumToolTokens(own, countTokens) }))
      .sort((one, other) => one.tokens - other.tokens),
    others: catalog.servers.map(({ spec }) => spec.name).filter((server) => !servers.has(server)),
  };
}

/** A search, if one of the lists is over the budget, unless it would reach another account than the client's own. */
export function proposeChoice(listed: readonly ListedTools[], accounts: readonly string[]): ToolChoice {
  if (listed.every(({ tokens }) => tokens <= BUDGET_TOKENS)) return { kind: 'all' };
  return accounts.length === 0 ? { kind: 'search' } : { kind: 'choose', servers: 'proposed' };
}

/** Servers that a search would reach although the client has its own of that name, such as `github-cursor`. */
export function listOtherAccounts(
  { servers, others }: Pick<ListedTools, 'servers' | 'others'>,
  clientIds: readonly string[],
): readonly string[] {
  const toPlain = (name: string): string => {
    const suffix = clientIds.find((id) => new RegExp(`-${id}(?:-\\d+)?$`).test(name));
    return suffix === undefined ? name : name.slice(0, name.lastIndexOf(`-${suffix}`));
  };
  const own = new Set(servers.map(({ name }) => toPlain(name)));
  return others.filter((name) => own.has(toPlain(name)));
}

/** The cheapest servers that fit the budget together, at least one. They are sorted by cost. */
export function proposeServers(servers: readonly ServerCost[]): readonly string[] {
  let sum = 0;
  const chosen = servers.filter(({ tokens }) => (sum += tokens) <= BUDGET_TOKENS);
  return (chosen.length === 0 ? servers.slice(0, 1) : chosen).map(({ name }) => name);
}

function formatCosts(listed: readonly ListedTools[]): string {
  const texts = listed.map(({ client, tools, tokens }, index) => {
    const cost = `${formatCount(tools, 'tool')} cost ${formatTokens(tokens)}`;
    return listed.length === 1
      ? cost
      : `${toPrintable(client.label)}: ${index === 0 ? cost : cost.replace(' cost', ' for')}`;
  });
  return `${texts.join('; ')} in each conversation.`;
}

/** "29,199 tokens" */
export function formatTokens(tokens: number): string {
  return `${tokens.toLocaleString('en-US')} ${tokens === 1 ? 'token' : 'tokens'}`;
}

async function askChoice(proposal: ToolChoice, searchTokens: number): Promise<ToolChoice> {
  const labels: Readonly<Record<ToolChoice['kind'], string>> = {
    search: `search: ${formatTokens(searchTokens)}`,
    choose: 'choose',
    all: 'all',
  };
  const shown = (['search', 'choose', 'all'] as const).map((kind) => `[${labels[kind]}]`).join(' ');
  if (proposal.kind === 'choose')
    print(
      formatProse(`Proposed: for each client its cheapest servers, up to ${formatTokens(BUDGET_TOKENS)}.`),
    );
  for (;;) {
    const usual = proposal.kind === 'choose' ? 'as proposed' : proposal.kind;
    const answer = await ask(`What do they list? ${shown} (Enter: ${usual})`);
    const text = answer?.trim().toLowerCase() ?? '';
    if (text === '') return proposal;
    const kind = (['search', 'choose', 'all'] as const).find((one) => one.startsWith(text));
    if (kind === 'choose') return { kind, servers: undefined };
    if (kind !== undefined) return { kind };
    printError('Answer search, choose or all, or the first letter.');
  }
}

interface ApplyContext {
  readonly runtime: ClientConfigPorts;
  readonly options: AppOptions;
  readonly onboarding: OpenOnboarding;
  readonly searchTokens: number;
}

async function apply(
  listed: ListedTools,
  choice: ToolChoice,
  context: ApplyContext,
): Promise<Result<unknown, Refusal>> {
  const { client, tokens } = listed;
  const label = toPrintable(client.label);
  if (choice.kind === 'all') return ok(undefined);
  if (choice.kind === 'search') {
    const written = await writeView(client, { search: true }, context);
    if (written.ok) {
      const now = `${label} now searches: ${formatTokens(context.searchTokens)} instead of ${formatTokens(tokens)}.`;
      const { others } = listed;
      const reach = others.length === 0 ? '' : ` It also reaches ${others.join(', ')}.`;
      print(formatProse(`${now}${reach}`));
    }
    return written;
  }
  const servers = await chooseServers(listed, choice.servers);
  if (!servers.ok) return servers;
  const kept = new Set(servers.value.map(({ name }) => name));
  const { toolsetService, toolsets } = context.onboarding;
  const name = toolsets.find(client.id) === undefined ? toolsets.equipped?.name : client.id;
  const toolset = name === undefined ? undefined : toolsets.find(name);
  if (toolset === undefined) return ok(undefined);
  const gone = listed.servers.filter((server) => !kept.has(server.name)).map((server) => server.name);
  const removed = toolset.tools
    .map(({ namespacedName }) => namespacedName)
    .filter((member) => gone.some((server) => member.startsWith(`${server}.`)));
  const done =
    removed.length === 0
      ? ok(undefined)
      : await toolsetService.remove(toolset.name, removed, { subject: LOCAL_USER.subject });
  if (!done.ok) return done;
  const left = listed.servers.filter((server) => kept.has(server.name));
  const cost = formatTokens(left.reduce((sum, one) => sum + one.tokens, 0));
  print(
    formatProse(
      `${label} now lists the tools of ${left.map((one) => one.name).join(', ')}: ${cost} instead of ${formatTokens(tokens)}.`,
    ),
  );
  return done;
}

/** Writes the view into the entry that setup wrote. */
async function writeView(
  client: KnownClient,
  view: ViewOptions,
  { runtime, options }: ApplyContext,
): Promise<Result<unknown, Refusal>> {
  const request = {
    client: client.id,
    name: 'assay',
    url: undefined,
    view,
    project: undefined,
    force: false,
    dryRun: false,
  };
  return runtime.connectClient(request, options);
}

/** Finds servers by number, from 1, or name. */
export function findByWords<T extends { readonly name: string }>(
  servers: readonly T[],
  words: readonly string[],
): Result<readonly T[], Refusal> {
  const found: T[] = [];
  for (const word of words) {
    const server = servers.find(({ name }, index) => name === word || String(index + 1) === word);
    if (server === undefined)
      return err({
        code: 'ARGUMENTS_INVALID',
        reason: `there is no server ${JSON.stringify(word)}; there are ${servers.map(({ name }) => name).join(', ')}`,
      });
    if (!found.includes(server)) found.push(server);
  }
  return ok(found);
}

async function chooseServers(
  listed: ListedTools,
  words: Extract<ToolChoice, { readonly kind: 'choose' }>['servers'],
): Promise<Result<readonly ServerCost[], Refusal>> {
  if (words === undefined) return askServers(listed);
  return findByWords(listed.servers, words === 'proposed' ? proposeServers(listed.servers) : words);
}

async function askServers(listed: ListedTools): Promise<Result<readonly ServerCost[], Refusal>> {
  const proposed = proposeServers(listed.servers);
  const proposedCosts = listed.servers.filter(({ name }) => proposed.includes(name));
  if (!isInteractive()) return ok(proposedCosts);
  print(`\n${style.bold(toPrintable(listed.client.label))}`);
  const rows = listed.servers.map(({ name, tools, tokens }, index) => [
    ...[String(index + 1), name, String(tools), tokens.toLocaleString('en-US')],
    proposed.includes(name) ? 'yes' : '',
  ]);
  print(formatTable(['', 'SERVER', 'TOOLS', 'TOKENS', 'PROPOSED'], rows));
  for (;;) {
    const answer = await ask('Which servers, by number or name? (Enter: the proposed ones)');
    const words = splitWords(answer ?? '');
    if (words.length === 0) return ok(proposedCosts);
    const found = findByWords(listed.servers, words);
    if (found.ok) return found;
    printError(toPrintable(formatRefusal(found.error)));
  }
}

export function splitWords(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}
