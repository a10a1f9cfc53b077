import type { UnservedTools } from '../../../api/toolset.ts';
import { allowsTool } from '../../../core/tool-filter.ts';
import type { Toolset } from '../../../core/toolset.ts';
import { includes, isWhole, getWholeServerName, type WholeServer } from '../../../core/whole-server.ts';
import { isWithheld } from '../../catalog/definition-facts.ts';
import type { Server } from '../../catalog/server.ts';
import { select, findServerByTool, type SelectOptions } from './selection.ts';
import { getEntryName } from './tool-index.ts';

/** A tool of a toolset that is not served, and why. */
export type Unserved = UnservedTools['unserved'][number];

export type UnservedReason = Unserved['reason'];

/** Phrases for several tools. */
export const UNSERVED_TEXTS: Readonly<Record<UnservedReason, string>> = {
  disabled: 'Disabled by an operator',
  withheld: 'Withheld, as clients cannot read the definition',
  definition_changed: 'Changed since they were put in',
  definition_dangerous: 'Changed in a dangerous way',
  name_collision: 'Not shown, as several servers have tools of these names',
  server_starting: 'Not listed yet, as the server is starting',
  server_down: 'Absent, as the server is down',
  server_unknown: 'Absent, as there is no such server',
  tool_filtered: 'Left out by "tools" of the server in the config',
  tool_gone: 'Absent, as the server does not have them now',
};

/** Phrases for one tool. */
export const UNSERVED_CAUSES: Readonly<Record<UnservedReason, string>> = {
  disabled: 'an operator has disabled it',
  withheld: 'clients cannot read its definition',
  definition_changed: 'its definition has changed',
  definition_dangerous:
    'its definition has changed in a dangerous way, which `assay review` shows and accepts',
  name_collision: 'several servers have a tool of this name',
  server_starting: 'its server is starting',
  server_down: 'its server is down',
  server_unknown: 'there is no such server',
  tool_filtered: 'excluded by "tools" of its server in the config file',
  tool_gone: 'its server does not list it now',
};

/** The toolset's tools that are not served, in its order. */
export function listUnserved(toolset: Toolset, options: SelectOptions): readonly Unserved[] {
  const { contested, changed, drifted } = select(toolset, options);
  const collided = new Set(contested);
  const held = new Set(options.showsChanged ? [] : changed.map(getEntryName));
  const dangerous = new Set(options.showsChanged ? [] : drifted.map(getEntryName));
  const own = new Set(toolset.tools.map(({ namespacedName }) => namespacedName));
  return toolset.tools.flatMap((member): readonly Unserved[] => {
    if (isWhole(member)) return unservedOf(member, { ...options, dangerous, own });
    const { namespacedName: tool } = member;
    if (collided.has(tool)) return [{ tool, reason: 'name_collision' }];
    if (held.has(tool)) return [{ tool, reason: 'definition_changed' }];
    const reason = findUnservedReason(tool, options);
    return reason === undefined ? [] : [{ tool, reason }];
  });
}

interface WithinToolset extends Pick<SelectOptions, 'index' | 'servers'> {
  readonly dangerous: ReadonlySet<string>;
  /** Tools that the toolset contains individually. */
  readonly own: ReadonlySet<string>;
}

/** The server if it lists nothing, else its tools that are not served. */
function unservedOf(
  whole: WholeServer,
  { index, servers, dangerous, own }: WithinToolset,
): readonly Unserved[] {
  const server = getWholeServerName(whole);
  const names = [...index.ofServer(server).map(getEntryName), ...index.disabledOf(server)];
  if (names.length === 0) {
    const reason = absenceOf(servers.find(({ spec }) => spec.name === server));
    return reason === 'tool_gone' ? [] : [{ tool: whole.namespacedName, reason }];
  }
  return names.flatMap((tool): readonly Unserved[] => {
    if (own.has(tool) || !includes(whole, tool)) return [];
    const reason = dangerous.has(tool)
      ? 'definition_dangerous'
      : findUnservedReason(tool, { index, servers });
    return reason === undefined ? [] : [{ tool, reason }];
  });
}

/** Why no tool of this name is listed, or why the listed one is not served. Undefined if it is served. */
export function findUnservedReason(
  namespacedName: string,
  { index, servers }: Pick<SelectOptions, 'index' | 'servers'>,
): UnservedReason | undefined {
  const named = index.named(namespacedName);
  if (named.length > 0)
    return named.every(({ definition }) => isWithheld(definition)) ? 'withheld' : undefined;
  if (index.isDisabled(namespacedName)) return 'disabled';
  const server = findServerByTool(namespacedName, servers);
  const filter = server?.spec.toolFilter;
  const name = namespacedName.slice((server?.spec.name.length ?? 0) + 1);
  return filter !== undefined && !allowsTool(filter, name) ? 'tool_filtered' : absenceOf(server);
}

/** Why a server lists nothing, or not this tool. */
function absenceOf(server: Server | undefined): UnservedReason {
  const state = server?.state.state;
  if (state === undefined) return 'server_unknown';
  const isListed = state === 'up' || (state === 'idle' && server?.lists.isKnown('tools') === true);
  if (isListed) return 'tool_gone';
  return state === 'starting' || state === 'idle' ? 'server_starting' : 'server_down';
}
