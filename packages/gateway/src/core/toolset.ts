import { addNotes, type Addition, type Note } from './notes.ts';
import type { Refusal } from './refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { LOCAL_USER } from './subject.ts';
import { includes, isWhole, excludeTool, restoreTool, type WholeServer } from './whole-server.ts';

/** The definition to which a tool is pinned: any other is withheld until an operator accepts it. */
export interface HeldDefinition {
  readonly refId: string;
  /** SHA-256 of the definition in canonical JSON, in hexadecimal. */
  readonly digest: string;
  /** JSON text exactly as the server wrote it, to show people what changed. */
  readonly text: string;
}

/** One tool, or all tools of a server. */
export type ToolsetTool = SingleTool | WholeServer;

export interface SingleTool {
  readonly namespacedName: string;
  /** Undefined if the tool is not pinned to a definition. */
  readonly held?: HeldDefinition | undefined;
}

export interface ToolNotes {
  readonly namespacedName: string;
  readonly notes: readonly Note[];
}

/** Who made a toolset, or last edited one made by a model. */
export interface ToolsetMaker {
  readonly by: 'model' | 'operator';
  readonly subject: string;
}

/** A named selection of tools with their notes. */
export interface Toolset {
  readonly name: string;
  readonly description?: string | undefined;
  /** Undefined if an operator made it before this was recorded, or elsewhere. */
  readonly maker?: ToolsetMaker | undefined;
  readonly createdMs: number;
  readonly changedMs: number;
  readonly tools: readonly ToolsetTool[];
  readonly toolNotes: readonly ToolNotes[];
}

export const TOOLSET_LIMITS: {
  readonly toolsets: 1_000;
  readonly tools: 1_000;
  readonly descriptionLength: 200;
  /** Total size in bytes of toolsets and notes by models. */
  readonly bytesByModels: 67_108_864;
} = {
  toolsets: 1_000,
  tools: 1_000,
  descriptionLength: 200,
  bytesByModels: 67_108_864,
};

export const TOOLSET_NAME: RegExp = /^[a-z0-9-]{2,50}$/;
/** `/mcp/all` and `assay stdio --all` mean all tools. */
const RESERVED = 'all';

/** Why a toolset name is invalid, as the end of a sentence. */
export function findToolsetNameFault(name: string): string | undefined {
  if (!TOOLSET_NAME.test(name)) return 'it takes 2 to 50 lowercase letters, digits and hyphens';
  return name === RESERVED ? `"${RESERVED}" means all tools and cannot name a toolset` : undefined;
}

export function findDescriptionFault(description: string): string | undefined {
  const max = TOOLSET_LIMITS.descriptionLength;
  return description.length > max ? `it may have at most ${max} characters` : undefined;
}

/**
 * Adds tools to a toolset. One that is already in it is replaced, so that it can be pinned to another definition. A tool
 * of a server that is in the toolset as a whole is added only if it is pinned.
 */
export function addToolsetTools(toolset: Toolset, tools: readonly ToolsetTool[]): Result<Toolset, Refusal> {
  const given = new Map(tools.map((tool) => [tool.namespacedName, tool]));
  const kept = toolset.tools.map((tool) => given.get(tool.namespacedName) ?? tool);
  const there = new Set(toolset.tools.map(({ namespacedName }) => namespacedName));
  const singles = [...given.values()].filter((tool) => !isWhole(tool));
  const added = [...given.values()].filter(({ namespacedName }) => !there.has(namespacedName));
  const all = [...kept, ...added].map((tool): ToolsetTool =>
    isWhole(tool)
      ? singles.reduce<WholeServer>((whole, { namespacedName }) => restoreTool(whole, namespacedName), tool)
      : tool,
  );
  const isCovered = (tool: ToolsetTool): boolean =>
    !isWhole(tool) && tool.held === undefined && all.some((one) => includes(one, tool.namespacedName));
  const isRedundant = new Set(added.filter(isCovered));
  const left = all.filter((tool) => !isRedundant.has(tool));
  const limit = TOOLSET_LIMITS.tools;
  return left.length > limit
    ? err({ code: 'TOOLSET_FULL', toolset: toolset.name, limit })
    : ok({ ...toolset, tools: left });
}

/**
 * Removes a tool. If its server is in the toolset as a whole, the tool is excluded from then on. Its notes are kept and
 * reappear if the tool is added again.
 */
export function removeToolsetTool(toolset: Toolset, namespacedName: string): Result<Toolset, Refusal> {
  if (!hasTool(toolset, namespacedName)) return err(toAbsentToolRefusal(toolset, namespacedName));
  const others = toolset.tools.filter((tool) => tool.namespacedName !== namespacedName);
  const tools = others.map((tool) => (isWhole(tool) ? excludeTool(tool, namespacedName) : tool));
  const limit = TOOLSET_LIMITS.tools;
  return tools.some((tool) => isWhole(tool) && tool.except.length > limit)
    ? err({ code: 'TOOLSET_FULL', toolset: toolset.name, limit })
    : ok({ ...toolset, tools });
}

/** Whether the toolset contains a tool, by name or with its server. */
export function hasTool({ tools }: Pick<Toolset, 'tools'>, namespacedName: string): boolean {
  return tools.some((tool) => tool.namespacedName === namespacedName || includes(tool, namespacedName));
}

/** Pins tools of a toolset to other definitions. TOOL_NOT_IN_TOOLSET if one is no longer in it. */
export function pinTools(toolset: Toolset, tools: readonly SingleTool[]): Result<Toolset, Refusal> {
  const there = new Set(toolset.tools.map(({ namespacedName }) => namespacedName));
  const absent = tools.find(({ namespacedName }) => !there.has(namespacedName));
  return absent === undefined
    ? addToolsetTools(toolset, tools)
    : err(toAbsentToolRefusal(toolset, absent.namespacedName));
}

export function getToolNotes(toolset: Toolset, namespacedName: string): readonly Note[] {
  return toolset.toolNotes.find((entry) => entry.namespacedName === namespacedName)?.notes ?? [];
}

/** Adds notes; the same toolset if all names are taken. TOOL_NOT_IN_TOOLSET, or an error of `addNotes`. */
export function addToolNotes(
  toolset: Toolset,
  namespacedName: string,
  wanted: readonly Note[],
): Result<{ readonly toolset: Toolset; readonly addition: Addition }, Refusal> {
  if (!hasTool(toolset, namespacedName)) return err(toAbsentToolRefusal(toolset, namespacedName));
  const addition = addNotes(getToolNotes(toolset, namespacedName), wanted, namespacedName);
  if (!addition.ok) return addition;
  const { added, notes } = addition.value;
  const noted = added.length === 0 ? toolset : withNotesOf(toolset, namespacedName, notes);
  return ok({ toolset: noted, addition: addition.value });
}

/** Changes one note; if `change` returns undefined, the note is deleted. NOTE_UNKNOWN if there is none. */
export function changeNote(
  toolset: Toolset,
  position: { readonly namespacedName: string; readonly name: string },
  change: (note: Note) => Note | undefined,
): Result<Toolset, Refusal> {
  const before = getToolNotes(toolset, position.namespacedName);
  const found = before.find(({ name }) => name === position.name);
  if (found === undefined)
    return err({ code: 'NOTE_UNKNOWN', tool: position.namespacedName, note: position.name });
  const changed = change(found);
  if (changed === found) return ok(toolset);
  const notes = before.flatMap((note) => (note !== found ? [note] : changed === undefined ? [] : [changed]));
  return ok(withNotesOf(toolset, position.namespacedName, notes));
}

/** Releases all held notes to models. Returns the same toolset if there are none. */
export function acceptNotes(toolset: Toolset): Toolset {
  if (!toolset.toolNotes.some(({ notes }) => notes.some(({ isHeld }) => isHeld))) return toolset;
  const toolNotes = toolset.toolNotes.map(({ namespacedName, notes }) => ({
    namespacedName,
    notes: notes.map((note) => ({ ...note, isHeld: false })),
  }));
  return { ...toolset, toolNotes };
}

/** Moves a note to another position, counted from 1. NOTE_UNKNOWN, ARGUMENTS_INVALID */
export function moveNote(
  toolset: Toolset,
  { namespacedName, name }: { readonly namespacedName: string; readonly name: string },
  position: number,
): Result<Toolset, Refusal> {
  const before = getToolNotes(toolset, namespacedName);
  const found = before.find((note) => note.name === name);
  if (found === undefined) return err({ code: 'NOTE_UNKNOWN', tool: namespacedName, note: name });
  if (!Number.isInteger(position) || position < 1 || position > before.length) {
    const reason = `it must be a whole number from 1 to ${before.length}`;
    return err({ code: 'ARGUMENTS_INVALID', field: 'position', reason });
  }
  const others = before.filter((note) => note !== found);
  return ok(withNotesOf(toolset, namespacedName, others.toSpliced(position - 1, 0, found)));
}

/** What models have written of a toolset: all of it, or notes. Undefined: nothing. */
export function pickModelPart(toolset: Toolset): unknown {
  if (toolset.maker?.by === 'model') return toolset;
  const notes = toolset.toolNotes.flatMap((entry) => entry.notes.filter(({ by }) => by === 'model'));
  return notes.length === 0 ? undefined : notes;
}

/** Which toolsets models may change, delete and annotate. */
export type ModelRights = 'none' | 'own' | 'all';

/**
 * Whether a model that works for `subject` may change a toolset. With `own`: one made by any model, or by the same
 * subject as an operator. All callers without a token are `local`, so its toolsets do not count as anyone's own.
 */
export function mayModelChange(toolset: Toolset, subject: string, rights: ModelRights): boolean {
  if (rights !== 'own') return rights === 'all';
  const { maker } = toolset;
  return maker?.by === 'model' || (maker?.subject === subject && subject !== LOCAL_USER.subject);
}

/**
 * A toolset after an operator's change. A model's toolset becomes the operator's if its name, description or tools
 * changed, or the operator wrote a note. Accepting definitions, and accepting or rejecting notes, is only a review.
 */
export function applyOperatorChange(before: Toolset, after: Toolset, subject: string): Toolset {
  if (before.maker?.by !== 'model') return after;
  const isEdited = editedParts(before) !== editedParts(after);
  return isEdited ? { ...after, maker: { by: 'operator', subject } } : after;
}

function editedParts({ name, description, tools, toolNotes }: Toolset): string {
  const notes = toolNotes.flatMap(({ namespacedName, notes: all }) =>
    all
      .filter(({ by }) => by === 'operator')
      .map(({ name: note, note: text }) => [namespacedName, note, text]),
  );
  const members = tools.map((tool) => [tool.namespacedName, isWhole(tool) ? tool.except : []]);
  return JSON.stringify([name, description, members, notes]);
}

function withNotesOf(toolset: Toolset, namespacedName: string, notes: readonly Note[]): Toolset {
  const isThere = toolset.toolNotes.some((entry) => entry.namespacedName === namespacedName);
  const toolNotes = isThere
    ? toolset.toolNotes.map((entry) =>
        entry.namespacedName === namespacedName ? { ...entry, notes } : entry,
      )
    : [...toolset.toolNotes, { namespacedName, notes }];
  return { ...toolset, toolNotes: toolNotes.filter((entry) => entry.notes.length > 0) };
}

export function toAbsentToolRefusal(toolset: Toolset, tool: string): Refusal {
  return { code: 'TOOL_NOT_IN_TOOLSET', tool, toolset: toolset.name };
}
