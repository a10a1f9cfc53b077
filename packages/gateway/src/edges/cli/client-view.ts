import { formatCount } from '@assay-mcp/kit/counted';
import type { AppOptions, ViewOptions } from '../../core/command-options.ts';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { computeSeenByClient, type SeenByClient } from '../../gateway/services/seen-by-client.ts';
import { quoteText } from '@assay-mcp/kit/platform/terminal/print';
import { formatTokens } from './choose-tools.ts';
import type { ClientConfigPorts, KnownClient, OpenOnboarding } from './runtime.ts';

/** The tools to give a client, as options of the command line. */
export interface WantedView extends ViewOptions {
  /** The equipped toolset, even if the client has a toolset of its own. */
  readonly equipped?: boolean;
}

export interface ChosenView {
  /** The options to write into the client's entry. */
  readonly view: ViewOptions;
  /** Undefined if that cannot be determined. */
  readonly seen: SeenByClient | undefined;
  readonly facts: Facts | undefined;
}

/** The toolsets and servers that Assay has. */
interface Facts {
  readonly servers: readonly string[];
  readonly toolsets: readonly string[];
}

/**
 * Chooses the tools to give a client. Without a flag it follows the equipped toolset; but if it has its own toolset,
 * named after it, and another one is equipped, it gets its own. If none is equipped, it gets all tools. Error: TOOLSET_UNKNOWN.
 */
export async function chooseView(
  runtime: Pick<ClientConfigPorts, 'openOnboarding'>,
  { client, wanted, isElsewhere }: ViewRequest,
  options: AppOptions,
): Promise<Result<ChosenView, Refusal>> {
  const { all, toolset, search, equipped } = wanted;
  const given = {
    ...(all && { all }),
    ...(toolset !== undefined && { toolset }),
    ...(search && { search }),
  };
  const isGiven = all === true || toolset !== undefined || search === true;
  if (isElsewhere) return ok({ view: given, seen: undefined, facts: undefined });
  const opened = await runtime.openOnboarding(options);
  // An unreadable config is reported by the commands that need it.
  if (!opened.ok)
    return toolset === undefined ? ok({ view: given, seen: undefined, facts: undefined }) : opened;
  try {
    const view = isGiven || equipped === true ? given : ownView(opened.value, client);
    const { toolsets, catalog } = opened.value;
    const seen = computeSeenByClient(opened.value, view);
    if (seen === undefined) return err(toolsets.unknown(toolset ?? client));
    const names = toolsets.all.map(({ name }) => name);
    return ok({
      view,
      seen,
      facts: { servers: catalog.servers.map(({ spec }) => spec.name), toolsets: names },
    });
  } finally {
    await opened.value.close();
  }
}

interface ViewRequest {
  /** Id of the client. */
  readonly client: string;
  readonly wanted: WantedView;
  /** The client connects to a gateway that does not use the toolsets of this home. */
  readonly isElsewhere: boolean;
}

function ownView({ toolsets }: OpenOnboarding, client: string): ViewOptions {
  const { equipped } = toolsets;
  const hasOther = equipped !== undefined && equipped.name !== client;
  // Without a toolset the client would only see the tools that make one.
  if (equipped === undefined) return { all: true };
  return hasOther && toolsets.find(client) !== undefined ? { toolset: client } : {};
}

/** The URL of a view, derived from that of another MCP endpoint. Undefined if `url` is not an MCP endpoint. */
export function toViewUrl(url: string, { all, toolset, search }: ViewOptions): string | undefined {
  if (all !== true && toolset === undefined && search !== true) return url;
  const base = url.replace(/\/$/, '');
  if (!base.endsWith('/mcp')) return undefined;
  if (search === true) return `${base}/search`;
  return all === true ? `${base}/all` : `${base}/toolsets/${toolset ?? ''}`;
}

/** "Cursor will see 58 tools: …", and how to change that. */
export function formatSeenTools(
  { seen, facts }: ChosenView,
  client: KnownClient,
): { readonly seen: string; readonly next: string | undefined } | undefined {
  if (seen === undefined) return undefined;
  const { tools, unread } = seen;
  const more =
    unread.length === 0 ? '' : ` Not counted, as their tools are not known yet: ${unread.join(', ')}.`;
  const line = toPrintable(`${client.label} will see ${whatOf(seen)}${costOf(seen)}${more}`);
  return { seen: line, next: tools + unread.length === 0 ? remedy(seen, facts, client) : undefined };
}

function costOf({ tokens }: SeenByClient): string {
  return tokens === 0 ? '' : ` They cost ${formatTokens(tokens)} in each conversation.`;
}

function whatOf({ view, toolset, tools, configurationTools: own }: SeenByClient): string {
  if (view === 'all') return `all tools of all servers: ${tools}.`;
  if (view === 'search')
    return `${own.join(', ')}, which reach ${formatCount(tools, 'tool')} of all servers.`;
  if (toolset === undefined) {
    const count = formatCount(own.length, 'configuration tool');
    return tools === 0
      ? `the ${count} only, because no toolset is equipped.`
      : `${formatCount(tools + own.length, 'tool')}: all ${tools} of the servers and the ${count}.`;
  }
  if (view === 'toolset')
    return `${formatCount(tools, 'tool')}: the toolset ${quoteText(toolset)}, whatever is equipped.`;
  const [first, ...others] = own;
  const extra =
    first === undefined
      ? ''
      : ` and ${others.length === 0 ? first : formatCount(own.length, 'configuration tool')}`;
  return `${formatCount(tools + own.length, 'tool')}: the toolset ${quoteText(toolset)}, which is equipped${extra === '' ? '' : ','}${extra}.`;
}

function remedy({ toolset }: SeenByClient, facts: Facts | undefined, { id }: KnownClient): string {
  if (facts?.servers.length === 0) return `import ${id}`;
  const [own = facts?.toolsets[0]] = facts?.toolsets.filter((name) => name === id) ?? [];
  if (toolset === undefined && own !== undefined) return `toolset equip ${own}`;
  return `connect ${id} --all`;
}
