import { printable } from '../../core/printable.ts';
import { err, ok } from '../../core/result.ts';
import { toolsetJson } from '../../core/toolset-json.ts';
import type { Toolset } from '../../core/toolset.ts';
import { NOTE_HEAD, noteRow, placedNotes } from './notes.ts';
import { print, printError, printJson, style, tableOf } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

/** `assay toolset list` */
export function listToolsets(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withToolsets(runtime, options, ({ toolsets }) => {
    const rows = toolsets.all.map((toolset) => summaryOf(toolset, toolsets.equipped));
    if (options.json === true) printJson({ toolsets: rows });
    else print(tableOf(['NAME', 'TOOLS', 'NOTES', 'EQUIPPED', 'DESCRIPTION'], rows.map(row)));
    if (rows.length === 0) printError('There are no toolsets. `assay toolset create NAME TOOL…` makes one.');
    return Promise.resolve(ok(undefined));
  });
}

interface Summary {
  readonly name: string;
  readonly description?: string;
  readonly tools: number;
  readonly notes: number;
  /** Number of notes held for review. */
  readonly heldNotes: number;
  readonly isEquipped: boolean;
  readonly createdAt: string;
  readonly lastModified: string;
}

function summaryOf(toolset: Toolset, equipped: Toolset | undefined): Summary {
  const notes = toolset.toolNotes.flatMap((entry) => entry.notes);
  const { name, createdAt, lastModified, description } = toolsetJson(toolset);
  return {
    name,
    ...(description !== undefined && { description }),
    tools: toolset.tools.length,
    notes: notes.length,
    heldNotes: notes.filter(({ isHeld }) => isHeld).length,
    isEquipped: name === equipped?.name,
    createdAt,
    lastModified,
  };
}

function row({ name, tools, notes, heldNotes, isEquipped, description = '' }: Summary): readonly string[] {
  const held = heldNotes === 0 ? '' : ` (${heldNotes} held)`;
  return [name, String(tools), `${notes}${held}`, isEquipped ? style.green('yes') : 'no', description];
}

/** `assay toolset show`: the stored toolset, without starting servers. */
export function showToolset(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return withToolsets(runtime, options, ({ toolsets }) => {
    const toolset = toolsets.find(name);
    if (toolset === undefined) return Promise.resolve(err(toolsets.unknown(name)));
    const isEquipped = toolsets.equipped?.name === name;
    if (options.json === true) printJson({ ...toolsetJson(toolset), isEquipped });
    else print(pageOf(toolset, isEquipped));
    return Promise.resolve(ok(undefined));
  });
}

function pageOf(toolset: Toolset, isEquipped: boolean): string {
  const { name, description, tools } = toolset;
  const about = description === undefined ? '' : `: ${description}`;
  const head = printable(`${name}${isEquipped ? ' (equipped)' : ''}${about}`);
  const held = tools.map((tool) => [tool.namespacedName, tool.held?.refId ?? 'no definition']);
  const notes = placedNotes([toolset]).map((note) => noteRow(note).slice(1));
  const parts = [head, tableOf(['TOOL', 'HELD TO'], held)];
  return [...parts, ...(notes.length === 0 ? [] : [tableOf(NOTE_HEAD.slice(1), notes)])].join('\n\n');
}
