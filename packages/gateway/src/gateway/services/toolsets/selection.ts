import { formatNotes } from '../../../core/notes.ts';
import type { HeldDefinition, SingleTool, Toolset } from '../../../core/toolset.ts';
import { isWhole, getWholeServerName, type WholeServer } from '../../../core/whole-server.ts';
import { getDigest } from '../../catalog/definition-facts.ts';
import type { Entry } from '../../catalog/listing.ts';
import type { Server } from '../../catalog/server.ts';
import { getEntryName, getRefId, type ToolIndex } from './tool-index.ts';

/** A toolset applied to the tools that are currently listed. */
export interface Selection {
  /** In the toolset's order, with the notes that models read. */
  readonly entries: readonly Entry[];
  /** Namespaced names of tools that are not listed: no server has them now, or the operator disabled them. */
  readonly absent: readonly string[];
  /** Namespaced names shared by tools of several servers, so none of them is shown. */
  readonly contested: readonly string[];
  /** Tools whose definition differs from the pinned one. */
  readonly changed: readonly Entry[];
  /** Tools of whole servers whose definition has changed dangerously since it was accepted. */
  readonly drifted: readonly Entry[];
  /** Shown tools of whole servers that appeared since an operator accepted those of the server. */
  readonly fresh: readonly Entry[];
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

function selectionOf(toolset: Toolset, options: SelectOptions): Selection {
  const { servers } = options;
  const found: Found = { entries: [], absent: [], contested: [], changed: [], drifted: [], fresh: [] };
  const chosen = new Set<Server>();
  const notesOn = new Map(toolset.toolNotes.map((entry) => [entry.namespacedName, entry.notes]));
  const noted = (entry: Entry): Entry => {
    const notes = formatNotes(notesOn.get(getEntryName(entry)) ?? []);
    return notes === undefined ? entry : { ...entry, notes };
  };
  for (const tool of toolset.tools) {
    const some = isWhole(tool) ? selectWhole(tool, toolset, options) : selectSingle(tool, options);
    const server = some.server ?? findServerByTool(tool.namespacedName, servers);
    if (server !== undefined && some.contested.length === 0) chosen.add(server);
    found.entries.push(...some.entries.map(noted));
    for (const kind of ['absent', 'contested'] as const) found[kind].push(...some[kind]);
    for (const kind of ['changed', 'drifted', 'fresh'] as const) found[kind].push(...some[kind]);
  }
  return { ...found, servers: servers.filter((server) => chosen.has(server)) };
}

interface Found {
  readonly entries: Entry[];
  readonly absent: string[];
  readonly contested: string[];
  readonly changed: Entry[];
  readonly drifted: Entry[];
  readonly fresh: Entry[];
}

/** What one member of a toolset selects. `server` is undefined if no tool of it is listed. */
type Part = Omit<Selection, 'servers'> & { readonly server: Server | undefined };

const NONE: Part = {
  entries: [],
  absent: [],
  contested: [],
  changed: [],
  drifted: [],
  fresh: [],
  server: undefined,
};

function selectSingle({ namespacedName, held }: SingleTool, { index, showsChanged }: SelectOptions): Part {
  const named = index.named(namespacedName);
  const entry = meant(named, held);
  if (entry === undefined)
    return named.length === 0
      ? { ...NONE, absent: [namespacedName] }
      : { ...NONE, contested: [namespacedName] };
  const isChanged = held !== undefined && getDigest(entry.definition) !== held.digest;
  return {
    ...NONE,
    server: entry.server,
    entries: !isChanged || showsChanged ? [entry] : [],
    changed: isChanged ? [entry] : [],
  };
}

/** All tools of a server, except excluded ones and those that the toolset contains individually. */
function selectWhole(whole: WholeServer, toolset: Toolset, { index, showsChanged }: SelectOptions): Part {
  const listed = index.ofServer(getWholeServerName(whole));
  if (listed.length === 0) return { ...NONE, absent: [whole.namespacedName] };
  const own = new Set(toolset.tools.map(({ namespacedName }) => namespacedName));
  const except = new Set(whole.except);
  const included = listed.filter((entry) => !except.has(entry.name) && !own.has(getEntryName(entry)));
  const drifted = included.filter(hasDangerousDrift);
  const isWithheld = new Set(showsChanged ? [] : drifted);
  const entries = included.filter((entry) => !isWithheld.has(entry));
  const known = new Set(whole.known);
  const fresh = whole.known === undefined ? [] : entries.filter(({ name }) => !known.has(name));
  return { ...NONE, server: listed[0]?.server, entries, drifted, fresh };
}

function hasDangerousDrift({ server: { claims, spec }, definition }: Entry): boolean {
  // Most tools have not drifted, and need no digest here.
  const { drift } = claims.toolRecordOf(spec, definition) ?? {};
  return drift !== undefined && claims.driftOf(spec, definition)?.severity === 'dangerous';
}

/**
 * The intended tool. If two servers' tools share a namespaced name, only a refId tells which one was chosen. Without
 * one, neither is shown: the operator never chose the other.
 */
function meant(named: readonly Entry[], held: HeldDefinition | undefined): Entry | undefined {
  return named.length < 2 ? named[0] : named.find((entry) => getRefId(entry) === held?.refId);
}

/** The server of a tool that no server lists now, judged by the tool's name. */
export function findServerByTool(namespacedName: string, servers: readonly Server[]): Server | undefined {
  return servers
    .filter(({ spec }) => namespacedName.startsWith(`${spec.name}.`))
    .toSorted((one, other) => other.spec.name.length - one.spec.name.length)[0];
}
