import { counted } from '../../core/counted.ts';
import { printable } from '../../core/printable.ts';
import { err, ok } from '../../core/result.ts';
import { toolsetJson } from '../../core/toolset-json.ts';
import type { Toolset } from '../../core/toolset.ts';
import { isWhole } from '../../core/whole-server.ts';
import { notesIn } from '../../gateway/services/notes/note-service.ts';
import { select } from '../../gateway/services/toolsets/selection.ts';
import { nameIn } from '../../gateway/services/toolsets/tool-index.ts';
import { NOTE_HEAD, noteRow } from './notes.ts';
import { print, printError, printJson, style, tableOf } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

/** `assay toolset list` */
export function listToolsets(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withToolsets(runtime, options, ({ toolsets }) => {
    const rows = toolsets.all.map((toolset) => summaryOf(toolset, toolsets.equipped));
    if (options.json === true) printJson({ toolsets: rows });
    else print(tableOf(['NAME', 'TOOLS', 'NOTES', 'EQUIPPED', 'DESCRIPTION'], rows.map(row)));
    if (rows.length === 0)
      printError('There are no toolsets. Create one with `assay toolset create NAME TOOL…`.');
    return Promise.resolve(ok(undefined));
  });
}

interface Summary {
  readonly name: string;
  readonly description?: string;
  /** Number of single tools. */
  readonly tools: number;
  /** Number of whole servers. */
  readonly servers?: number;
  readonly notes: number;
  /** Number of notes held for review. */
  readonly heldNotes: number;
  readonly isEquipped: boolean;
  readonly createdAt: string;
  readonly lastModified: string;
}

function summaryOf(toolset: Toolset, equipped: Toolset | undefined): Summary {
  const notes = toolset.toolNotes.flatMap((entry) => entry.notes);
  const servers = toolset.tools.filter(isWhole).length;
  const { name, createdAt, lastModified, description } = toolsetJson(toolset);
  return {
    name,
    ...(description !== undefined && { description }),
    tools: toolset.tools.filter((tool) => !isWhole(tool)).length,
    ...(servers > 0 && { servers }),
    notes: notes.length,
    heldNotes: notes.filter(({ isHeld }) => isHeld).length,
    isEquipped: name === equipped?.name,
    createdAt,
    lastModified,
  };
}

function row({
  name,
  tools,
  servers = 0,
  notes,
  heldNotes,
  isEquipped,
  description = '',
}: Summary): readonly string[] {
  const held = heldNotes === 0 ? '' : ` (${heldNotes} held)`;
  const count = servers === 0 ? String(tools) : `${tools} + ${counted(servers, 'server')}`;
  return [name, count, `${notes}${held}`, isEquipped ? style.green('yes') : 'no', description];
}

/** `assay toolset show`: the stored toolset, without starting servers. */
export function showToolset(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets, tools, selectOptions }) => {
    const toolset = toolsets.find(name);
    if (toolset === undefined) return err(toolsets.unknown(name));
    const isEquipped = toolsets.equipped?.name === name;
    // The last listing is enough, so no server is started.
    const index = toolset.tools.some(isWhole) ? await tools({ refs: [], isFresh: false }) : undefined;
    const fresh =
      index?.ok === true
        ? select(toolset, { index: index.value, ...selectOptions() }).fresh.map(nameIn)
        : undefined;
    if (options.json === true)
      printJson({ ...toolsetJson(toolset), isEquipped, ...(fresh && { new: fresh }) });
    else print(pageOf(toolset, isEquipped, fresh ?? []));
    return ok(undefined);
  });
}

function pageOf(toolset: Toolset, isEquipped: boolean, fresh: readonly string[]): string {
  const { name, description, tools } = toolset;
  const about = description === undefined ? '' : `: ${description}`;
  const head = printable(`${name}${isEquipped ? ' (equipped)' : ''}${about}`);
  const members = tools.flatMap((tool): readonly Member[] => [
    [tool.namespacedName, tool.held?.refId ?? ''],
    ...(isWhole(tool) ? tool.except.map((one): Member => [`  without ${one}`, '']) : []),
  ]);
  const notes = notesIn(toolset).map((note) => noteRow(note).slice(1));
  const parts = [head, membersTable(members)];
  if (notes.length > 0) parts.push(tableOf(NOTE_HEAD.slice(1), notes));
  if (fresh.length > 0) parts.push(newText(name, fresh));
  return parts.join('\n\n');
}

type Member = readonly [name: string, refId: string];

/** Omits the column of definitions if no tool is pinned, as in most toolsets. */
function membersTable(members: readonly Member[]): string {
  if (members.some(([, refId]) => refId !== '')) return tableOf(['TOOL', 'PINNED TO'], members);
  return tableOf(
    ['TOOL'],
    members.map(([name]) => [name]),
  );
}

function newText(name: string, fresh: readonly string[]): string {
  const lines = fresh.map((tool) => `  ${printable(tool)}`).join('\n');
  return `New since you accepted the tools of their servers:\n${lines}\n\`assay toolset review ${name}\` shows them; \`assay toolset accept ${name}\` accepts them.`;
}
