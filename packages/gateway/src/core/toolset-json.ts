import type { Note } from './notes.ts';
import type { Toolset, ToolsetMaker, ToolsetTool } from './toolset.ts';
import { isWhole } from './whole-server.ts';

/** A toolset for operators and audit events, without the definitions that tools are pinned to. Times are in ISO 8601. */
export interface ToolsetJson {
  readonly name: string;
  readonly description?: string;
  /** Absent if an operator made it. */
  readonly madeBy?: ToolsetMaker;
  readonly createdAt: string;
  readonly lastModified: string;
  readonly tools: readonly ToolJson[];
  readonly toolNotes: readonly {
    readonly toolRef: { readonly namespacedName: string };
    readonly notes: readonly NoteJson[];
  }[];
}

interface ToolJson {
  /** `server.tool`, or `server.*` for all tools of a server. */
  readonly namespacedName: string;
  readonly refId?: string;
  /** For a whole server: tools that were removed. Absent if there are none. */
  readonly except?: readonly string[];
  /** For a whole server: tools that are not new. Absent until the server has listed its tools. */
  readonly known?: readonly string[];
}

export interface NoteJson {
  readonly name: string;
  readonly note: string;
  readonly author: string;
  readonly by: Note['by'];
  readonly writtenAt: string;
  readonly isHeld?: true;
}

export function toToolsetJson(toolset: Toolset): ToolsetJson {
  const { name, description, maker, createdMs, changedMs, tools, toolNotes } = toolset;
  return {
    name,
    ...(description !== undefined && { description }),
    ...(maker?.by === 'model' && { madeBy: { by: maker.by, subject: maker.subject } }),
    createdAt: new Date(createdMs).toISOString(),
    lastModified: new Date(changedMs).toISOString(),
    tools: tools.map(toolJson),
    toolNotes: toolNotes.map(({ namespacedName, notes }) => ({
      toolRef: { namespacedName },
      notes: notes.map(toNoteJson),
    })),
  };
}

function toolJson(tool: ToolsetTool): ToolJson {
  const { namespacedName } = tool;
  if (!isWhole(tool)) return { namespacedName, ...(tool.held && { refId: tool.held.refId }) };
  const { except, known } = tool;
  return { namespacedName, ...(except.length > 0 && { except }), ...(known && { known }) };
}

export function toNoteJson({ name, note, author, by, writtenMs, isHeld }: Note): NoteJson {
  const writtenAt = new Date(writtenMs).toISOString();
  return { name, note, author, by, writtenAt, ...(isHeld && { isHeld }) };
}
