import { isJsonObject, withoutUndefined } from '@assay-mcp/kit/json-object';
import {
  addFault,
  type JsonPosition,
  readMemberAt,
  readMembersAt,
  readTextIfGiven,
} from '@assay-mcp/kit/json-position';
import { fitText, list, openObject, optional, type Reader, text, time } from '@assay-mcp/kit/json-reader';
import { findNoteFault, findNoteNameFault, type Note, NOTE_LIMITS } from '../notes.ts';
import { LOCAL_USER } from '../subject.ts';
import type { Toolset } from '../toolset.ts';

/** The toolsets in HyperTool's `config.json`, which has them by name. */
export interface HyperTool {
  readonly toolsets: readonly {
    readonly toolset: Toolset;
    readonly pointer: string;
    /** Tools and notes that are left out, and why. */
    readonly warnings: readonly string[];
  }[];
  readonly equipped: string | undefined;
}

export function isHyperTool(value: unknown): boolean {
  return isJsonObject(value) && !Object.hasOwn(value, 'assay') && isJsonObject(value['toolsets']);
}

/** `readBody` reads the body of a toolset's record. Notes become the local operator's. */
export function readHyperTool(
  file: JsonPosition,
  { nowMs, readBody }: { readonly nowMs: number; readonly readBody: Reader<Toolset> },
): HyperTool {
  const toolsets = readMembersAt(readMemberAt(file, 'toolsets')).map(([name, position]) => {
    const { warnings, ...body } = readToolset(position, nowMs);
    const toolset = readBody({ ...position, value: withoutUndefined({ name, ...body }) });
    return { toolset, pointer: position.pointer, warnings };
  });
  const last = readMemberAt(file, 'lastEquippedToolset');
  const name = last.value === null ? undefined : readTextIfGiven(last);
  return { toolsets, equipped: toolsets.find(({ toolset }) => toolset.name === name)?.toolset.name };
}

const REF_ID_ALONE = 'it has only a refId, and refIds of other programs are not valid here';

const ref = openObject<{ namespacedName?: string; refId?: string }>({
  namespacedName: optional(text),
  refId: optional(text),
});

const written = openObject({
  version: optional(
    fitText((version) => (version.startsWith('1.') ? undefined : 'this Assay reads only 1.0.0')),
  ),
  description: optional(text),
  createdAt: optional(time),
  lastModified: optional(time),
  tools: list(ref),
  // Older versions have none.
  toolNotes: optional(
    list(openObject({ toolRef: ref, notes: list(openObject({ name: text, note: text })) })),
  ),
});

function readToolset(
  position: JsonPosition,
  nowMs: number,
): Omit<Toolset, 'name'> & { readonly warnings: readonly string[] } {
  const {
    description,
    createdAt = nowMs,
    lastModified = createdAt,
    tools,
    toolNotes = [],
  } = written(position);
  const warnings: string[] = [];
  const leaveOut = (what: string, reason: string): void =>
    void warnings.push(`${what} is left out: ${reason}.`);
  const names = new Set<string>();
  for (const { namespacedName, refId } of tools)
    if (namespacedName !== undefined) names.add(namespacedName);
    else if (refId !== undefined) leaveOut(`The tool with the refId ${JSON.stringify(refId)}`, REF_ID_ALONE);
    else addFault(readMemberAt(position, 'tools'), 'each must have namespacedName or refId');
  const noted = new Map<string, Note[]>();
  for (const { toolRef, notes } of toolNotes)
    for (const { name, note } of notes) {
      const { namespacedName: tool = '' } = toolRef;
      const known = noted.get(tool) ?? [];
      const reason = tool === '' ? REF_ID_ALONE : findFault({ name, note }, known);
      if (reason !== undefined)
        leaveOut(`The note ${JSON.stringify(name)} on ${JSON.stringify(tool)}`, reason);
      else {
        const author = { author: LOCAL_USER.subject, by: 'operator' } as const;
        noted.set(tool, [...known, { name, note, ...author, writtenMs: lastModified, isHeld: false }]);
      }
    }
  return {
    description,
    createdMs: createdAt,
    changedMs: lastModified,
    tools: [...names].map((namespacedName) => ({ namespacedName })),
    toolNotes: [...noted].map(([namespacedName, notes]) => ({ namespacedName, notes })),
    warnings,
  };
}

/** Why a note cannot be added to its tool, as the end of a sentence. */
function findFault({ name, note }: Pick<Note, 'name' | 'note'>, known: readonly Note[]): string | undefined {
  const nameFault = findNoteNameFault(name);
  if (nameFault !== undefined) return `as the name of a note ${nameFault}`;
  const fault = findNoteFault(note);
  if (fault !== undefined) return fault;
  if (known.some((other) => other.name === name)) return 'its tool already has a note with this name';
  const max = NOTE_LIMITS.notesPerTool;
  return known.length >= max ? `its tool has ${max} notes already` : undefined;
}
