import type { ServerStatus } from '../../api/status.ts';
import { isReady } from '../../core/supervision.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '@assay-mcp/kit/result';
import { LOCAL_USER } from '../../core/subject.ts';
import { findMissingReason } from '../../gateway/catalog/server-status.ts';
import { computeSeenByClient } from '../../gateway/services/seen-by-client.ts';
import type { IncludedServers } from '../../gateway/services/toolsets/toolset-view.ts';
import type { AppOptions } from '../../core/command-options.ts';
import { printError, formatProse, quoteText } from '@assay-mcp/kit/platform/terminal/print';
import type { ClientConfigPorts, KnownClient, OpenOnboarding } from './runtime.ts';

interface EquipRequest {
  /** Name of the toolset. */
  readonly name: string;
  /** The imported servers. */
  readonly servers: readonly string[];
  /** Whether to print no progress. */
  readonly isSilent: boolean;
}

/** The result of importing servers: their states, and the toolset made from them. */
export interface Equipped {
  readonly servers: readonly ServerStatus[];
  readonly toolset: IncludedServers;
  /** Number of tools that it shows now. */
  readonly tools: number;
}

/**
 * Saves imported servers as a toolset and starts them, so that their tools are known. A server that fails is included.
 */
export async function equipImported(
  runtime: Pick<ClientConfigPorts, 'openOnboarding'>,
  request: EquipRequest,
  options: AppOptions,
): Promise<Result<Equipped, Refusal>> {
  const opened = await runtime.openOnboarding(options);
  if (!opened.ok) return opened;
  try {
    return await equipIn(opened.value, request);
  } finally {
    await opened.value.close();
  }
}

async function equipIn(open: OpenOnboarding, request: EquipRequest): Promise<Result<Equipped, Refusal>> {
  const { name, servers: names, isSilent } = request;
  const ready = await open.toolsetService.names();
  if (!ready.ok) return ready;
  if (!isSilent) printError(`Starting ${formatCount(names.length, 'server')} to read the tools:`);
  const width = Math.max(...names.map((one) => toPrintable(one).length));
  const servers = await open.startServers(names, (status) => {
    if (!isSilent) printError(progressLine(status, width));
  });
  const saved = await open.toolsetService.include(name, names, LOCAL_USER);
  if (!saved.ok) return saved;
  const tools = computeSeenByClient(open, { toolset: name })?.tools ?? 0;
  return ok({ servers, toolset: saved.value, tools });
}

function progressLine(status: ServerStatus, width: number): string {
  const { name, state, cause, tools = 0 } = status;
  const missing = findMissingReason(status);
  const what =
    missing === undefined ? formatCount(tools, 'tool') : isReady({ state }) ? missing : (cause ?? state);
  const isTerminal = process.stderr.isTTY;
  const indent = ' '.repeat(width + 4);
  const text = formatProse(toPrintable(what), { indent, isTerminal });
  return `  ${toPrintable(name).padEnd(width)}  ${text.slice(indent.length)}`;
}

/** Names of the servers that could not be started: their entries stay with the client, where they may work. */
export function listDownServers(equipped: Equipped | undefined): readonly string[] {
  const servers = equipped?.servers ?? [];
  return servers.filter((status) => !isReady(status)).map(({ name }) => name);
}

/** Names the servers that showed no tools, with the command that explains them. */
export function formatDownServers({ servers }: Equipped, programName: string): readonly string[] {
  const down = servers.filter((status) => findMissingReason(status) !== undefined).map(({ name }) => name);
  if (down.length === 0) return [];
  const [which, whose, they] =
    down.length === 1 ? ['server is', 'its', 'it is'] : ['servers are', 'their', 'they are'];
  return [
    `note: ${down.length} ${which} down (${down.join(', ')}): \`${programName} doctor\` says what to do; ${whose} tools appear once ${they} up.`,
  ];
}

/** Says how the import changed what clients see, and the next command. */
export function formatImportedToolset(
  { toolset, tools }: Equipped,
  { client, programName }: { readonly client: KnownClient | undefined; readonly programName: string },
): { readonly done: string; readonly next: string } {
  const { name, equipped } = toolset;
  const connect = `${programName} connect ${client?.id ?? 'CLIENT'}`;
  return {
    done: `${changeText(toolset, tools)} ${equippedText(toolset)}`,
    next: equipped === name ? connect : `${connect} --toolset ${name}`,
  };
}

function changeText({ name, change, added, members }: IncludedServers, tools: number): string {
  const now = `${formatCount(tools, 'tool')} now`;
  switch (change) {
    case 'created':
      return `Saved the toolset ${quoteText(name)}: all tools of ${formatCount(members, 'server')}, ${now}.`;
    case 'extended':
      return `Added all tools of ${formatCount(added, 'server')} to the toolset ${quoteText(name)}, which shows ${now}.`;
    case 'same':
      return `The toolset ${quoteText(name)} already has tools of these servers and is not changed.`;
  }
}

function equippedText({ name, equipped }: IncludedServers): string {
  return equipped === name
    ? 'It is equipped: clients of Assay see these tools.'
    : `${quoteText(equipped ?? '')} stays equipped, so that its clients keep their tools.`;
}
