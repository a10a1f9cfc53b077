import { notesText } from '../../core/notes.ts';
import { notesOf, type Toolset } from '../../core/toolset.ts';
import type { Entry } from '../listing.ts';
import type { Server } from '../server.ts';
import { digestOf, nameIn, type ToolIndex } from './tool-index.ts';

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
    const named = index.named(namespacedName);
    const notes = notesText(notesOf(toolset, namespacedName));
    for (const entry of named) {
      chosen.add(entry.server);
      const isChanged = held !== undefined && digestOf(entry.definition) !== held.digest;
      if (isChanged) changed.push(entry);
      if (!isChanged || showsChanged) entries.push(notes === undefined ? entry : { ...entry, notes });
    }
    if (named.length > 0) continue;
    absent.push(namespacedName);
    for (const server of servers) if (namespacedName.startsWith(`${server.spec.name}.`)) chosen.add(server);
  }
  return { entries, absent, changed, servers: servers.filter((server) => chosen.has(server)) };
}

/** Whether the toolset has the tool, under whatever name it is asked for. */
export function hasTool(toolset: Toolset, entry: Entry): boolean {
  const name = nameIn(entry);
  return toolset.tools.some(({ namespacedName }) => namespacedName === name);
}
