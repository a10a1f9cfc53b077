import { notesText } from '../../core/notes.ts';
import { notesOf, type HeldDefinition, type Toolset } from '../../core/toolset.ts';
import type { Entry } from '../listing.ts';
import type { Server } from '../server.ts';
import { digestOf, nameIn, refIdIn, type ToolIndex } from './tool-index.ts';

/** What becomes of a toolset with the tools that there are. */
export interface Selection {
  /** With the notes that models read, in the toolset's order. */
  readonly entries: readonly Entry[];
  /** Namespaced names of tools that no server has at the moment. */
  readonly absent: readonly string[];
  /** Tools whose definition is not the one that the toolset holds them to. */
  readonly changed: readonly Entry[];
  /** The servers of all its tools. */
  readonly servers: readonly Server[];
}

export interface Selecting {
  readonly index: ToolIndex;
  readonly servers: readonly Server[];
  /** Whether a tool is shown although its definition has changed. */
  readonly showsChanged: boolean;
}

export function select(toolset: Toolset, { index, servers, showsChanged }: Selecting): Selection {
  const entries: Entry[] = [];
  const absent: string[] = [];
  const changed: Entry[] = [];
  const chosen = new Set<Server>();
  for (const { namespacedName, held } of toolset.tools) {
    const named = meant(index.named(namespacedName), held);
    const notes = notesText(notesOf(toolset, namespacedName));
    for (const entry of named) {
      chosen.add(entry.server);
      const isChanged = held !== undefined && digestOf(entry.definition) !== held.digest;
      if (isChanged) changed.push(entry);
      if (!isChanged || showsChanged) entries.push(notes === undefined ? entry : { ...entry, notes });
    }
    if (named.length > 0) continue;
    absent.push(namespacedName);
    const [server] = servers
      .filter(({ spec }) => namespacedName.startsWith(`${spec.name}.`))
      .toSorted((one, other) => other.spec.name.length - one.spec.name.length);
    if (server !== undefined) chosen.add(server);
  }
  return { entries, absent, changed, servers: servers.filter((server) => chosen.has(server)) };
}

/**
 * The tool that is meant. Where a server has taken a name that, with its own, makes up that of another one's tool, only a
 * refId tells which one was chosen; without one neither is shown, as nobody chose the other.
 */
function meant(named: readonly Entry[], held: HeldDefinition | undefined): readonly Entry[] {
  return named.length < 2 ? named : named.filter((entry) => refIdIn(entry) === held?.refId);
}

/** Whether the toolset has the tool, under whatever name it is asked for. */
export function hasTool(toolset: Toolset, entry: Entry): boolean {
  const name = nameIn(entry);
  return toolset.tools.some(({ namespacedName }) => namespacedName === name);
}
