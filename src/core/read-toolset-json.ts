import { hashDefinition } from './digest.ts';
import {
  addFault,
  type Fault,
  toField,
  readFitTextAt,
  isGiven,
  readItemsAt,
  readMemberAt,
  readMembersAt,
  type JsonPosition,
  readTextAt,
  readTextIfGiven,
} from './json-position.ts';
import { fitText, flag, list, oneOf, openObject, optional, text, time } from './json-reader.ts';
import { NOTE_LIMITS, findNoteFault, findNoteNameFault, type Note } from './notes.ts';
import type { Refusal } from './refusal.ts';
import { err, ok, type Result } from './result.ts';
import { LOCAL_USER } from './subject.ts';
import { isIdOfRef } from './record-ids.ts';
import {
  findDescriptionFault,
  TOOLSET_LIMITS,
  findToolsetNameFault,
  type ToolNotes,
  type Toolset,
  type ToolsetMaker,
  type ToolsetTool,
} from './toolset.ts';
import { parseJson } from './json-object.ts';
import { WHOLE_SERVER_LIMIT, toWholeServer, parseWholeServer } from './whole-server.ts';

/** The content of an imported toolset file. */
export interface ReadToolsets {
  readonly toolsets: readonly Toolset[];
  /** Name of one of the toolsets. */
  readonly equipped?: string | undefined;
  readonly leftOut: readonly LeftOut[];
}

/** A tool or note that cannot be imported. */
export interface LeftOut {
  readonly toolset: string;
  readonly tool: string;
  /** Name of the note. Undefined if the tool itself was left out. */
  readonly note?: string;
  /** The end of a sentence. */
  readonly reason: string;
}

/**
 * Reads an export, one bare toolset, or HyperTool's `config.json`. A note without author or date is attributed to the
 * local operator, at the time its toolset last changed. PARAMS_INVALID names the first invalid field.
 */
export function readToolsetJson(json: string, nowMs: number): Result<ReadToolsets, Refusal> {
  const faults: Fault[] = [];
  const leftOut: LeftOut[] = [];
  const file: JsonPosition = { value: parseJson(json), pointer: '', faults };
  const toolsets = toolsetsIn(file).map((position) => readToolset(position, { nowMs, leftOut }));
  const twice = toolsets.find(({ name }, at) => toolsets.findIndex((other) => other.name === name) !== at);
  if (twice !== undefined)
    addFault(readMemberAt(file, 'toolsets'), `two are called ${JSON.stringify(twice.name)}`);
  const equipped = equippedIn(file);
  const isThere = toolsets.some(({ name }) => name === equipped);
  const [wrong] = faults;
  if (wrong !== undefined) {
    const field = wrong.pointer === '' ? 'the document' : toField(wrong.pointer);
    return err({ code: 'PARAMS_INVALID', field, reason: wrong.reason });
  }
  return ok({ toolsets, equipped: isThere ? equipped : undefined, leftOut });
}

export interface ToolsetPosition {
  readonly position: JsonPosition;
  readonly name: JsonPosition;
}

function toolsetsIn(file: JsonPosition): readonly ToolsetPosition[] {
  const toolsets = readMemberAt(file, 'toolsets');
  if (!isGiven(file)) addFault(file, 'it is not JSON');
  else if (!isGiven(toolsets) && !isGiven(readMemberAt(file, 'tools')))
    addFault(file, 'it must be an object with "toolsets" or "tools"');
  else if (!isGiven(toolsets)) return [{ position: file, name: readMemberAt(file, 'name') }];
  else if (Array.isArray(toolsets.value))
    return readItemsAt(toolsets).map((position) => ({ position, name: readMemberAt(position, 'name') }));
  // HyperTool stores them by name.
  else
    return readMembersAt(toolsets).map(([name, position]) => ({
      position,
      name: { ...position, value: name },
    }));
  return [];
}

/** On startup HyperTool equips the toolset that was equipped last, or writes null if there was none. */
function equippedIn(file: JsonPosition): string | undefined {
  const last = readMemberAt(file, 'lastEquippedToolset');
  return (
    readTextIfGiven(readMemberAt(file, 'equipped')) ??
    (last.value === null ? undefined : readTextIfGiven(last))
  );
}

export interface ToolsetReader {
  readonly nowMs: number;
  readonly leftOut: LeftOut[];
}

const writer = oneOf(['model', 'operator']);

const written = openObject({
  version: optional(
    fitText((version) => (version.startsWith('1.') ? undefined : 'this Assay reads only 1.0.0')),
  ),
  description: optional(fitText(findDescriptionFault)),
  madeBy: optional(openObject<ToolsetMaker>({ by: writer, subject: text })),
  createdAt: optional(time),
  lastModified: optional(time),
});

/** Reads one toolset; errors are reported at their position. */
export function readToolset(
  { position, name: namePosition }: ToolsetPosition,
  { nowMs, leftOut }: ToolsetReader,
): Toolset {
  const name = readFitTextAt(namePosition, findToolsetNameFault);
  const { description, madeBy, createdAt = nowMs, lastModified = createdAt } = written(position);
  const within = { toolset: name, changedMs: lastModified, leftOut };
  return {
    name,
    ...(description !== undefined && { description }),
    ...(madeBy && { maker: madeBy }),
    createdMs: createdAt,
    changedMs: lastModified,
    tools: readTools(readMemberAt(position, 'tools'), within),
    toolNotes: readToolNotes(readMemberAt(position, 'toolNotes'), within),
  };
}

interface Within {
  readonly toolset: string;
  readonly changedMs: number;
  readonly leftOut: LeftOut[];
}

const REF_ID_ALONE = 'it has only a refId, and refIds of other programs are not valid here';

function readTools(position: JsonPosition, { toolset, leftOut }: Within): readonly ToolsetTool[] {
  const tools = new Map<string, ToolsetTool>();
  for (const item of readItemsAt(position)) {
    const name = readName(item);
    if (typeof name !== 'string') leftOut.push({ toolset, tool: name.label, reason: REF_ID_ALONE });
    else if (!tools.has(name)) tools.set(name, readTool(item, name));
  }
  const max = TOOLSET_LIMITS.tools;
  if (tools.size > max) addFault(position, `it may have at most ${max} tools`);
  return [...tools.values()];
}

/** The namespaced name of a ref, or a label for a tool without one. */
function readName(ref: JsonPosition): string | { readonly label: string } {
  const name = readTextIfGiven(readMemberAt(ref, 'namespacedName'));
  const refId = readTextIfGiven(readMemberAt(ref, 'refId'));
  if (name === undefined && refId === undefined) addFault(ref, 'it must have namespacedName or refId');
  return name ?? { label: `refId ${refId ?? ''}` };
}

/** A refId is ignored without its definition: it could not pin the tool to anything. */
function readTool(position: JsonPosition, namespacedName: string): ToolsetTool {
  const server = parseWholeServer(namespacedName);
  if (server !== undefined) {
    const known = readMemberAt(position, 'known');
    const whole = toWholeServer(server, isGiven(known) ? readNames(known) : undefined);
    return { ...whole, except: readNames(readMemberAt(position, 'except')) };
  }
  const definition = readMemberAt(position, 'definition');
  if (!isGiven(definition)) return { namespacedName };
  const source = readTextAt(definition);
  const digest = hashDefinition(source);
  const refId = readFitTextAt(readMemberAt(position, 'refId'), (given) =>
    isIdOfRef(given, namespacedName, digest) ? undefined : 'it is not that of the definition beside it',
  );
  return { namespacedName, held: { refId, digest, text: source } };
}

/** Names of tools of one server. */
function readNames(position: JsonPosition): readonly string[] {
  const names = isGiven(position) ? list(text)(position) : [];
  const most = WHOLE_SERVER_LIMIT;
  if (names.length > most) addFault(position, `it may have at most ${most} names`);
  return [...new Set(names)];
}

/** Toolsets of older HyperTool versions have none. */
function readToolNotes(position: JsonPosition, within: Within): readonly ToolNotes[] {
  const byTool = new Map<string, Note[]>();
  for (const item of isGiven(position) ? readItemsAt(position) : []) {
    const name = readName(readMemberAt(item, 'toolRef'));
    const isNamed = typeof name === 'string';
    const tool = isNamed ? name : name.label;
    const known = byTool.get(tool) ?? [];
    for (const note of readItemsAt(readMemberAt(item, 'notes')).map((one) => readNote(one, within))) {
      const reason = isNamed ? fieldError(note, known) : REF_ID_ALONE;
      if (reason === undefined) known.push(note);
      else within.leftOut.push({ toolset: within.toolset, tool, note: note.name, reason });
    }
    if (known.length > 0) byTool.set(tool, known);
  }
  return [...byTool].map(([namespacedName, notes]) => ({ namespacedName, notes }));
}

/** Why a note cannot be added to its tool, as the end of a sentence. */
function fieldError({ name, note }: Note, known: readonly Note[]): string | undefined {
  const nameFault = findNoteNameFault(name);
  if (nameFault !== undefined) return `as the name of a note ${nameFault}`;
  const fault = findNoteFault(note);
  if (fault !== undefined) return fault;
  if (known.some((other) => other.name === name)) return 'its tool already has a note with this name';
  const max = NOTE_LIMITS.notesPerTool;
  return known.length >= max ? `its tool has ${max} notes already` : undefined;
}

const writtenNote = openObject({
  name: text,
  note: text,
  author: optional(text),
  by: optional(writer),
  writtenAt: optional(time),
  isHeld: optional(flag),
});

function readNote(position: JsonPosition, { changedMs }: Within): Note {
  const {
    author = LOCAL_USER.subject,
    by = 'operator',
    writtenAt,
    isHeld = false,
    ...note
  } = writtenNote(position);
  return { ...note, author, by, writtenMs: writtenAt ?? changedMs, isHeld };
}
