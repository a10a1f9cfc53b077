import { digestOfDefinition } from './digest.ts';
import {
  complainAt,
  type Fault,
  fitTextAt,
  flagAt,
  isGiven,
  itemsAt,
  memberAt,
  membersAt,
  type Place,
  textAt,
  textIfGiven,
  timeMsAt,
} from './json-place.ts';
import { NOTE_LIMITS, noteFault, noteNameFault, type Note } from './notes.ts';
import type { Refusal } from './refusal.ts';
import { err, ok, type Result } from './result.ts';
import { LOCAL_USER } from './subject.ts';
import { isRefIdOf } from './tool-ref.ts';
import {
  descriptionFault,
  TOOLSET_LIMITS,
  toolsetNameFault,
  type ToolNotes,
  type Toolset,
  type ToolsetMaker,
  type ToolsetTool,
} from './toolset.ts';
import { parsedJson } from './json-object.ts';
import { WHOLE_SERVER_LIMIT, wholeServer, wholeServerIn } from './whole-server.ts';

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
export function readToolsetJson(text: string, nowMs: number): Result<ReadToolsets, Refusal> {
  const faults: Fault[] = [];
  const leftOut: LeftOut[] = [];
  const file: Place = { value: parsedJson(text), field: '', faults };
  const toolsets = toolsetsIn(file).map((place) => readToolset(place, { nowMs, leftOut }));
  const twice = toolsets.find(({ name }, at) => toolsets.findIndex((other) => other.name === name) !== at);
  if (twice !== undefined)
    complainAt(memberAt(file, 'toolsets'), `two are called ${JSON.stringify(twice.name)}`);
  const equipped = equippedIn(file);
  const isThere = toolsets.some(({ name }) => name === equipped);
  const [wrong] = faults;
  if (wrong !== undefined) return err({ code: 'PARAMS_INVALID', ...wrong });
  return ok({ toolsets, equipped: isThere ? equipped : undefined, leftOut });
}

export interface ToolsetPlace {
  readonly place: Place;
  readonly name: Place;
}

function toolsetsIn(file: Place): readonly ToolsetPlace[] {
  const toolsets = memberAt(file, 'toolsets');
  if (!isGiven(file)) complainAt(file, 'it is no JSON');
  else if (!isGiven(toolsets) && !isGiven(memberAt(file, 'tools')))
    complainAt(file, 'it must be an object with "toolsets" or "tools"');
  else if (!isGiven(toolsets)) return [{ place: file, name: memberAt(file, 'name') }];
  else if (Array.isArray(toolsets.value))
    return itemsAt(toolsets).map((place) => ({ place, name: memberAt(place, 'name') }));
  // HyperTool stores them by name.
  else return membersAt(toolsets).map(([name, place]) => ({ place, name: { ...place, value: name } }));
  return [];
}

/** On startup HyperTool equips the toolset that was equipped last, or writes null if there was none. */
function equippedIn(file: Place): string | undefined {
  const last = memberAt(file, 'lastEquippedToolset');
  return textIfGiven(memberAt(file, 'equipped')) ?? (last.value === null ? undefined : textIfGiven(last));
}

export interface ToolsetReader {
  readonly nowMs: number;
  readonly leftOut: LeftOut[];
}

/** Reads one toolset; errors are reported at their place. */
export function readToolset(
  { place, name: namePlace }: ToolsetPlace,
  { nowMs, leftOut }: ToolsetReader,
): Toolset {
  const name = fitTextAt(namePlace, toolsetNameFault);
  const version = memberAt(place, 'version');
  if (isGiven(version)) fitTextAt(version, versionFault);
  const description = memberAt(place, 'description');
  const madeBy = memberAt(place, 'madeBy');
  const createdMs = timeMsAt(memberAt(place, 'createdAt'), nowMs);
  const changedMs = timeMsAt(memberAt(place, 'lastModified'), createdMs);
  const within = { toolset: name, changedMs, leftOut };
  return {
    name,
    ...(isGiven(description) && { description: fitTextAt(description, descriptionFault) }),
    ...(isGiven(madeBy) && { maker: readMaker(madeBy) }),
    createdMs,
    changedMs,
    tools: readTools(memberAt(place, 'tools'), within),
    toolNotes: readToolNotes(memberAt(place, 'toolNotes'), within),
  };
}

function readMaker(place: Place): ToolsetMaker {
  const by = fitTextAt(memberAt(place, 'by'), writerFault);
  return { by: by === 'model' ? by : 'operator', subject: textAt(memberAt(place, 'subject')) };
}

function versionFault(version: string): string | undefined {
  return version.startsWith('1.') ? undefined : 'this Assay reads only 1.0.0';
}

interface Within {
  readonly toolset: string;
  readonly changedMs: number;
  readonly leftOut: LeftOut[];
}

const REF_ID_ALONE = 'it has a refId alone, and the refIds of other programs mean nothing here';

function readTools(place: Place, { toolset, leftOut }: Within): readonly ToolsetTool[] {
  const tools = new Map<string, ToolsetTool>();
  for (const item of itemsAt(place)) {
    const name = readName(item);
    if (typeof name !== 'string') leftOut.push({ toolset, tool: name.label, reason: REF_ID_ALONE });
    else if (!tools.has(name)) tools.set(name, readTool(item, name));
  }
  const max = TOOLSET_LIMITS.tools;
  if (tools.size > max) complainAt(place, `it may have at most ${max} tools`);
  return [...tools.values()];
}

/** The namespaced name of a ref, or a label for a tool without one. */
function readName(ref: Place): string | { readonly label: string } {
  const name = textIfGiven(memberAt(ref, 'namespacedName'));
  const refId = textIfGiven(memberAt(ref, 'refId'));
  if (name === undefined && refId === undefined) complainAt(ref, 'it must have namespacedName or refId');
  return name ?? { label: `refId ${refId ?? ''}` };
}

/** A refId is ignored without its definition: it could not pin the tool to anything. */
function readTool(place: Place, namespacedName: string): ToolsetTool {
  const server = wholeServerIn(namespacedName);
  if (server !== undefined) {
    const known = memberAt(place, 'known');
    const whole = wholeServer(server, isGiven(known) ? readNames(known) : undefined);
    return { ...whole, except: readNames(memberAt(place, 'except')) };
  }
  const definition = memberAt(place, 'definition');
  if (!isGiven(definition)) return { namespacedName };
  const text = textAt(definition);
  const digest = digestOfDefinition(text);
  const refId = fitTextAt(memberAt(place, 'refId'), (given) =>
    isRefIdOf(given, namespacedName, digest) ? undefined : 'it is not that of the definition beside it',
  );
  return { namespacedName, held: { refId, digest, text } };
}

/** Names of tools of one server. */
function readNames(place: Place): readonly string[] {
  const names = isGiven(place) ? itemsAt(place).map(textAt) : [];
  const most = WHOLE_SERVER_LIMIT;
  if (names.length > most) complainAt(place, `it may have at most ${most} names`);
  return [...new Set(names)];
}

/** Toolsets of older HyperTool versions have none. */
function readToolNotes(place: Place, within: Within): readonly ToolNotes[] {
  const byTool = new Map<string, Note[]>();
  for (const item of isGiven(place) ? itemsAt(place) : []) {
    const name = readName(memberAt(item, 'toolRef'));
    const isNamed = typeof name === 'string';
    const tool = isNamed ? name : name.label;
    const known = byTool.get(tool) ?? [];
    for (const note of itemsAt(memberAt(item, 'notes')).map((one) => readNote(one, within))) {
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
  const nameFault = noteNameFault(name);
  if (nameFault !== undefined) return `as the name of a note ${nameFault}`;
  const fault = noteFault(note);
  if (fault !== undefined) return fault;
  if (known.some((other) => other.name === name)) return 'its tool has another note of this name';
  const max = NOTE_LIMITS.notesPerTool;
  return known.length >= max ? `its tool has ${max} notes already` : undefined;
}

function readNote(place: Place, { changedMs }: Within): Note {
  const by = memberAt(place, 'by');
  if (isGiven(by)) fitTextAt(by, writerFault);
  return {
    name: textAt(memberAt(place, 'name')),
    note: textAt(memberAt(place, 'note')),
    author: textIfGiven(memberAt(place, 'author')) ?? LOCAL_USER.subject,
    by: by.value === 'model' ? 'model' : 'operator',
    writtenMs: timeMsAt(memberAt(place, 'writtenAt'), changedMs),
    isHeld: flagAt(memberAt(place, 'isHeld'), false),
  };
}

function writerFault(by: string): string | undefined {
  return by === 'model' || by === 'operator' ? undefined : 'it must be "model" or "operator"';
}
