import type { Note as NoteView, ToolNotes } from '../../../api/note.ts';
import {
  type Addition,
  type Note,
  findNoteFault,
  findNoteNameFault,
  formatNotes,
} from '../../../core/notes.ts';
import { toArgumentRefusal, type Refusal } from '../../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { toNoteJson } from '../../../core/toolset-json.ts';
import {
  acceptNotes,
  changeNote,
  hasTool,
  moveNote,
  getToolNotes,
  type Toolset,
  addToolNotes,
} from '../../../core/toolset.ts';
import type { Tool } from '../../../api/tool.ts';
import type { Changer, Toolsets } from '../toolsets/toolsets.ts';

type NotePlace = Pick<NoteView, 'toolset' | 'tool'>;

export interface NoteTarget extends NotePlace {
  readonly name: string;
}

export type NoteText = Pick<Note, 'name' | 'note'>;

/** The operator who makes a change. `objection` gets the toolset as it is before. */
export interface NoteChanger {
  readonly by: string;
  readonly objection?: (toolset: Toolset) => Refusal | undefined;
}

interface NoteAuthor extends Omit<NoteChanger, 'by'> {
  readonly by: Changer;
  readonly isHeld?: boolean;
}

type NotedTool = Pick<Tool, 'namespacedName' | 'description'>;

type Changed = Promise<Result<readonly NoteView[], Refusal>>;

/**
 * Notes on the tools of toolsets. Changes resolve with the notes on the tool in the toolset. All may fail with
 * TOOLSET_UNKNOWN, and with the objection of the changer.
 */
export class NoteService {
  readonly #toolsets: Toolsets;
  readonly #nowMs: () => number;

  constructor(toolsets: Toolsets, nowMs: () => number) {
    this.#toolsets = toolsets;
    this.#nowMs = nowMs;
  }

  /** Grouped by toolset and tool, in the order in which models read them; of all toolsets by default. */
  list(toolset?: string): Result<readonly NoteView[], Refusal> {
    if (toolset === undefined) return ok(this.#toolsets.all.flatMap((one) => listToolsetNotes(one)));
    const found = this.#toolsets.find(toolset);
    return found === undefined ? err(this.#toolsets.unknown(toolset)) : ok(listToolsetNotes(found));
  }

  /** `fresh` replaces the stored toolset of its name: it is the state during a change. */
  onTool(tool: NotedTool, fresh?: Toolset): ToolNotes {
    const all = this.#toolsets.all.map((toolset) => (toolset.name === fresh?.name ? fresh : toolset));
    const having = all.filter((toolset) => hasTool(toolset, tool.namespacedName));
    return {
      notes: all.flatMap((toolset) => listToolsetNotes(toolset, tool.namespacedName)),
      descriptions: having.map((toolset) => ({
        toolset: toolset.name,
        description: describedIn(toolset, tool),
      })),
    };
  }

  /** Adds a note after the others. ARGUMENTS_INVALID, TOOL_NOT_IN_TOOLSET, NOTE_EXISTS, NOTES_FULL */
  async add(target: NoteTarget, note: string, changer: NoteChanger): Changed {
    const { tool, name } = target;
    const fault = textFault({ name, note });
    if (fault !== undefined) return err(fault);
    const written = this.#written([{ name, note }], changer);
    return this.#change(target, changer, (toolset) => {
      const noted = addToolNotes(toolset, tool, written);
      if (!noted.ok) return noted;
      return noted.value.addition.added.length === 0
        ? err({ code: 'NOTE_EXISTS', tool, note: name })
        : ok(noted.value.toolset);
    });
  }

  /** Adds the notes whose names are free. ARGUMENTS_INVALID, TOOL_NOT_IN_TOOLSET, NOTES_FULL */
  async addMissing(
    { toolset: name, tool }: NotePlace,
    notes: readonly NoteText[],
    author: NoteAuthor,
  ): Promise<Result<Addition, Refusal>> {
    for (const [index, note] of notes.entries()) {
      const fault = textFault(note, `notes.${index}.`);
      if (fault !== undefined) return err(fault);
    }
    const written = this.#written(notes, author);
    const adding = (toolset: Toolset): Result<{ toolset: Toolset; value: Addition }, Refusal> => {
      const refusal = author.objection?.(toolset);
      if (refusal !== undefined) return err(refusal);
      const noted = addToolNotes(toolset, tool, written);
      return noted.ok ? ok({ toolset: noted.value.toolset, value: noted.value.addition }) : noted;
    };
    return this.#toolsets.change(name, adding, author.by);
  }

  /**
   * Replaces the text, moves the note to a position counted from 1, or both. With a new text the operator becomes the
   * author, and models read the note at once. ARGUMENTS_INVALID, NOTE_UNKNOWN
   */
  async edit(
    target: NoteTarget,
    { note, position }: { readonly note?: string | undefined; readonly position?: number | undefined },
    changer: NoteChanger,
  ): Changed {
    const { name } = target;
    const fault = note === undefined ? undefined : textFault({ note });
    if (fault !== undefined) return err(fault);
    const [written] = note === undefined ? [] : this.#written([{ name, note }], changer);
    return this.#change(target, changer, (toolset, at) => {
      const edited = changeNote(toolset, at, (former) =>
        written === undefined || isSame(former, written) ? former : written,
      );
      return edited.ok && position !== undefined ? moveNote(edited.value, at, position) : edited;
    });
  }

  /** NOTE_UNKNOWN */
  delete(target: NoteTarget, changer: NoteChanger): Changed {
    return this.#change(target, changer, (toolset, at) => changeNote(toolset, at, () => undefined));
  }

  /** Lets models read a held note, which keeps its author, or deletes it. NOTE_UNKNOWN, NOTE_ACCEPTED */
  review(target: NoteTarget, isAccepted: boolean, changer: NoteChanger): Changed {
    const { tool, name } = target;
    return this.#change(target, changer, (toolset, at) => {
      const note = getToolNotes(toolset, tool).find((one) => one.name === name);
      if (note?.isHeld === false) return err({ code: 'NOTE_ACCEPTED', tool, note: name });
      return changeNote(toolset, at, (held) => (isAccepted ? { ...held, isHeld: false } : undefined));
    });
  }

  /** Lets models read all held notes. Resolves with those that it accepted. */
  async acceptAll(by: string): Changed {
    const accepted: NoteView[] = [];
    for (const { name } of this.#toolsets.all) {
      const accepting = (
        toolset: Toolset,
      ): Result<{ toolset: Toolset; value: readonly NoteView[] }, Refusal> =>
        ok({
          toolset: acceptNotes(toolset),
          value: listToolsetNotes(toolset).filter(({ isHeld }) => isHeld),
        });
      const changed = await this.#toolsets.change(name, accepting, by);
      if (!changed.ok) return changed;
      accepted.push(...changed.value.map((note) => ({ ...note, isHeld: false })));
    }
    return ok(accepted);
  }

  #written(notes: readonly NoteText[], { by, isHeld = false }: NoteAuthor): readonly Note[] {
    const written = { writtenMs: this.#nowMs(), isHeld };
    return notes.map(({ name, note }) =>
      typeof by === 'string'
        ? { name, note, author: by, by: 'operator', ...written }
        : { name, note, author: by.model, by: 'model', ...written },
    );
  }

  #change(
    { toolset: inToolset, tool, name }: NoteTarget,
    { by, objection }: NoteChanger,
    change: (toolset: Toolset, at: Parameters<typeof changeNote>[1]) => Result<Toolset, Refusal>,
  ): Changed {
    const changing = (before: Toolset): Result<{ toolset: Toolset; value: readonly NoteView[] }, Refusal> => {
      const refusal = objection?.(before);
      if (refusal !== undefined) return err(refusal);
      const changed = change(before, { namespacedName: tool, name });
      return changed.ok
        ? ok({ toolset: changed.value, value: listToolsetNotes(changed.value, tool) })
        : changed;
    };
    return this.#toolsets.change(inToolset, changing, by);
  }
}

/** The notes of a toolset, by default on all its tools. */
export function listToolsetNotes({ name: toolset, toolNotes }: Toolset, tool?: string): readonly NoteView[] {
  return toolNotes
    .filter(({ namespacedName }) => tool === undefined || namespacedName === tool)
    .flatMap(({ namespacedName, notes }) =>
      notes.map((note) => ({ toolset, tool: namespacedName, ...toNoteJson(note), isHeld: note.isHeld })),
    );
}

/** The description as in the lists that clients get. */
function describedIn(toolset: Toolset, { namespacedName, description = '' }: NotedTool): string {
  const texts = [description, formatNotes(getToolNotes(toolset, namespacedName)) ?? ''];
  return texts.filter((text) => text !== '').join('\n\n');
}

/** Author and time alone do not count as a change. */
function isSame(one: Note, other: Note): boolean {
  return one.note === other.note && one.by === other.by && one.isHeld === other.isHeld;
}

function textFault(
  { name, note }: { readonly name?: string; readonly note: string },
  path = '',
): Refusal | undefined {
  const ofName = name === undefined ? undefined : findNoteNameFault(name);
  return toArgumentRefusal(`${path}name`, ofName) ?? toArgumentRefusal(`${path}note`, findNoteFault(note));
}
