import { counted } from '../../core/counted.ts';
import { printable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { ok, type Result } from '../../core/result.ts';
import { LOCAL } from '../../core/subject.ts';
import { missingFrom, type ServerStatus } from '../../gateway/catalog/server-status.ts';
import {
  type ImportedMembers,
  type ImportedToolset,
  saveImported,
} from '../../gateway/services/toolsets/imported-toolset.ts';
import { nameIn } from '../../gateway/services/toolsets/tool-index.ts';
import { printError, proseOf, quoted } from './output.ts';
import type { AppOptions } from '../../core/command-options.ts';
import type { ClientConfigPorts, OpenOnboarding } from './runtime.ts';

export interface EquipRequest {
  /** Name of the toolset. */
  readonly name: string;
  /** The imported servers. */
  readonly servers: readonly string[];
  /** Prints no progress. */
  readonly isSilent: boolean;
}

/** What became of imported servers: their state, and the toolset made of them. */
export interface Equipped {
  readonly servers: readonly ServerStatus[];
  /** Undefined if no server has a tool. */
  readonly toolset: ImportedToolset | undefined;
}

/** Starts imported servers to read their tools, and saves these as a toolset. A server that fails costs only its own. */
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
  const { toolsets, catalog } = open;
  const ready = await toolsets.ready();
  if (!ready.ok) return ready;
  if (!isSilent) printError(`Starting ${counted(names.length, 'server')} to read the tools:`);
  const width = Math.max(...names.map((one) => printable(one).length));
  const servers = await open.startServers(names, (status) => {
    if (!isSilent) printError(progressLine(status, width));
  });
  const members = membersOf(catalog, names);
  if (members.size === 0) return ok({ servers, toolset: undefined });
  const saved = await saveImported(toolsets, { name, members, by: LOCAL.subject });
  return saved.ok ? ok({ servers, toolset: saved.value }) : saved;
}

function membersOf({ all }: OpenOnboarding['catalog'], names: readonly string[]): ImportedMembers {
  const entries = all.listing('tools').entries;
  const members = names.map((name) => {
    const tools = entries.filter(({ server }) => server.spec.name === name);
    return [name, tools.map((entry) => ({ namespacedName: nameIn(entry) }))] as const;
  });
  return new Map(members.filter(([, tools]) => tools.length > 0));
}

function progressLine(status: ServerStatus, width: number): string {
  const { name, state, cause, tools = 0 } = status;
  const missing = missingFrom(status);
  const what = missing === undefined ? counted(tools, 'tool') : state === 'up' ? missing : (cause ?? state);
  const isTerminal = process.stderr.isTTY;
  const indent = ' '.repeat(width + 4);
  const text = proseOf(printable(what), { indent, isTerminal });
  return `  ${printable(name).padEnd(width)}  ${text.slice(indent.length)}`;
}

/** Names of the servers that could not be started: their entries stay with the client, where they may work. */
export function downIn(equipped: Equipped | undefined): readonly string[] {
  const servers = equipped?.servers ?? [];
  return servers.filter(({ state }) => state !== 'up').map(({ name }) => name);
}

/** Names the servers that showed no tools, with the command that explains them. */
export function downLines({ servers, toolset }: Equipped): readonly string[] {
  const down = servers.filter((status) => missingFrom(status) !== undefined).map(({ name }) => name);
  if (down.length === 0 || toolset === undefined) return [];
  const which = down.length === 1 ? 'server is' : 'servers are';
  return [
    `note: ${down.length} ${which} not ready (${down.join(', ')}): \`assay doctor\` says what to do; then import again to add the tools.`,
  ];
}

/** What the import changed about what clients see, and the next command. `client`: its id and label. */
export function toolsetLines(
  { toolset }: Equipped,
  client: { readonly id: string; readonly label: string } | undefined,
): { readonly done: string; readonly next: string } {
  const connect = `assay connect ${client?.id ?? 'CLIENT'}`;
  if (toolset === undefined)
    return {
      done: 'No server has shown a tool yet, so there is no toolset of them.',
      next: '`assay doctor` says what is wrong with the servers; then import again.',
    };
  const { name, equipped } = toolset;
  const done = `${changeText(toolset)} ${equippedText(toolset)}`;
  if (equipped === name) return { done, next: connect };
  return { done, next: `${connect} --toolset ${name}` };
}

function changeText({ name, change, added, members }: ImportedToolset): string {
  switch (change) {
    case 'created':
      return `Saved the toolset ${quoted(name)} with ${counted(members, 'tool')}.`;
    case 'extended':
      return `Added ${counted(added, 'tool')} to the toolset ${quoted(name)}, which has ${members} now.`;
    case 'same':
      return `The toolset ${quoted(name)} has tools of these servers already and stays as it is.`;
  }
}

function equippedText({ name, equipped }: ImportedToolset): string {
  return equipped === name
    ? 'It is equipped: clients of Assay see these tools.'
    : `${quoted(equipped ?? '')} stays equipped, so that its clients keep their tools.`;
}
