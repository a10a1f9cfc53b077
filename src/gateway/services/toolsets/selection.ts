import { notesText } from '../../../core/notes.ts';
import type { HeldDefinition, Toolset } from '../../../core/toolset.ts';
import { digestOf } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import type { Server } from '../../catalog/server.ts';
import { refIdIn, type ToolIndex } from './tool-index.ts';

/** A toolset applied to the tools that are currently listed. */
export interface Selection {
  /** In the toolset's order, with the notes that models read. */
  readonly entries: readonly Entry[];
  /** Namespaced names that are not listed: no server has them now, or the operator disabled them. */
  readonly absent: readonly string[];
  /** Namespaced names shared by tools of several servers, so none of them is shown. */
  readonly contested: readonly string[];
  /** Tools whose definition differs from the pinned one. */
  readonly changed: readonly Entry[];
  /** The servers of all its tools. */
  readonly servers: readonly Server[];
}

export interface SelectOptions {
  readonly index: ToolIndex;
  readonly servers: readonly Server[];
  /** Whether to show tools whose definition has changed. */
  readonly showsChanged: boolean;
}

const LAST = new WeakMap<Toolset, { readonly options: SelectOptions; readonly selection: Selection }>();

/** Cached per toolset and options, since every list and every resource update asks for it. */
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
 * The intended tool. If two servers' tools share a namespaced name, only a refId tells which one was chosen. Without
 * one, neither is shown: the operator never chose the other.
 */
function meant(named: readonly Entry[], held: HeldDefinition | undefined): Entry | undefined {
  return named.length < 2 ? named[0] : named.find((entry) => refIdIn(entry) === held?.refId);
}

/** The server, going by its name, of a tool that no server lists now. */
export function serverOf(namespacedName: string, servers: readonly Server[]): Server | undefined {
  return servers
    .filter(({ spec }) => namespacedName.startsWith(`${spec.name}.`))
    .toSorted((one, other) => other.spec.name.length - one.spec.name.length)[0];
}
