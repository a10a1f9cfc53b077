import { notesText } from '../../../core/notes.ts';
import type { HeldDefinition, Toolset } from '../../../core/toolset.ts';
import { digestOf } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import type { Server } from '../../catalog/server.ts';
import { refIdIn, type ToolIndex } from './tool-index.ts';

/** What becomes of a toolset with the tools that there are. */
export interface Selection {
  /** With the notes that models read, in the toolset's order. */
  readonly entries: readonly Entry[];
  /** Namespaced names of tools that are not listed: no server has them at the moment, or an operator has disabled them. */
  readonly absent: readonly string[];
  /** Namespaced names that tools of several servers make up, so that none of them is shown. */
  readonly contested: readonly string[];
  /** Tools whose definition is not the one that the toolset holds them to. */
  readonly changed: readonly Entry[];
  /** The servers of all its tools. */
  readonly servers: readonly Server[];
}

export interface SelectOptions {
  readonly index: ToolIndex;
  readonly servers: readonly Server[];
  /** Whether a tool is shown although its definition has changed. */
  readonly showsChanged: boolean;
}

const LAST = new WeakMap<Toolset, { readonly options: SelectOptions; readonly selection: Selection }>();

/** Made once for a toolset and what there is: it is asked for with each list and each update of a resource. */
export function select(toolset: Toolset, options: SelectOptions): Selection {
  const last = LAST.get(toolset);
  if (last !== undefined && isSame(last.options, options)) return last.selection;
  const selection = selectionOf(toolset, options);
  LAST.set(toolset, { options, selection });
  return selection;
}

function isSame(one: SelectOptions, other: SelectOptions): boolean {
  return (
    one.index === other.index && one.servers === other.servers && one.showsChanged === other.showsChanged
  );
}

function selectionOf(toolset: Toolset, { index, servers, showsChanged }: SelectOptions): Selection {
  const entries: Entry[] = [];
  const absent: string[] = [];
  const contested: string[] = [];
  const changed: Entry[] = [];
  const chosen = new Set<Server>();
  const notesOn = new Map(toolset.toolNotes.map((entry) => [entry.namespacedName, entry.notes]));
  for (const { namespacedName, held } of toolset.tools) {
    const named = index.named(namespacedName);
    const entry = meant(named, held);
    if (entry === undefined) {
      (named.length === 0 ? absent : contested).push(namespacedName);
      const server = named.length === 0 ? serverOf(namespacedName, servers) : undefined;
      if (server !== undefined) chosen.add(server);
      continue;
    }
    chosen.add(entry.server);
    const isChanged = held !== undefined && digestOf(entry.definition) !== held.digest;
    if (isChanged) changed.push(entry);
    const notes = notesText(notesOn.get(namespacedName) ?? []);
    if (!isChanged || showsChanged) entries.push(notes === undefined ? entry : { ...entry, notes });
  }
  const chosenServers = servers.filter((server) => chosen.has(server));
  return { entries, absent, contested, changed, servers: chosenServers };
}

/**
 * The tool that is meant. Where a server has taken a name that, with its own, makes up that of another one's tool, only a
 * refId tells which one was chosen; without one neither is shown, as nobody chose the other.
 */
function meant(named: readonly Entry[], held: HeldDefinition | undefined): Entry | undefined {
  return named.length < 2 ? named[0] : named.find((entry) => refIdIn(entry) === held?.refId);
}

/** The server that a tool belongs to which none has at the moment, by its name. */
export function serverOf(namespacedName: string, servers: readonly Server[]): Server | undefined {
  return servers
    .filter(({ spec }) => namespacedName.startsWith(`${spec.name}.`))
    .toSorted((one, other) => other.spec.name.length - one.spec.name.length)[0];
}
