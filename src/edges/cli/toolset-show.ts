import { formatCount } from '../../core/counted.ts';
import { toPrintable } from '../../core/printable.ts';
import { parseWholeServer } from '../../core/whole-server.ts';
import type { Toolset } from '../../api/toolset.ts';
import type { Note } from '../../api/note.ts';
import { NOTE_HEAD, toNoteRow } from './notes.ts';
import { print, printError, printJson, style, formatTable } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

/** `assay toolset list` */
export function listToolsets(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const names = await toolsetService.names();
    if (!names.ok) return names;
    const rows = toolsetService.views(names.value).map(summaryOf);
    if (options.json === true) printJson({ toolsets: rows });
    else print(formatTable(['NAME', 'TOOLS', 'NOTES', 'EQUIPPED', 'DESCRIPTION'], rows.map(row)));
    if (rows.length === 0)
      printError('There are no toolsets. Create one with `assay toolset create NAME TOOL…`.');
    return names;
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

function summaryOf({ tools, toolNotes, ...toolset }: Toolset): Summary {
  const notes = toolNotes.flatMap((entry) => entry.notes);
  const servers = tools.filter(isServer).length;
  const { name, description, isEquipped, createdAt, lastModified } = toolset;
  return {
    name,
    ...(description !== undefined && { description }),
    tools: tools.length - servers,
    ...(servers > 0 && { servers }),
    notes: notes.length,
    heldNotes: notes.filter(({ isHeld }) => isHeld).length,
    isEquipped,
    createdAt,
    lastModified,
  };
}

function isServer({ namespacedName }: Toolset['tools'][number]): boolean {
  return parseWholeServer(namespacedName) !== undefined;
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
  const count = servers === 0 ? String(tools) : `${tools} + ${formatCount(servers, 'server')}`;
  return [name, count, `${notes}${held}`, isEquipped ? style.green('yes') : 'no', description];
}

/** `assay toolset show`: the stored toolset, without starting servers. */
export function showToolset(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService, notes }) => {
    const toolset = await toolsetService.view(name);
    if (!toolset.ok) return toolset;
    // No server is started, and the toolset is shown even if the config cannot be read.
    const found = toolset.value.tools.some(isServer) ? await toolsetService.newTools(name) : undefined;
    const fresh = found?.ok === true ? found.value.map(({ namespacedName }) => namespacedName) : undefined;
    if (options.json === true) printJson({ ...toolset.value, ...(fresh && { new: fresh }) });
    else {
      const noted = notes.list(name);
      print(pageOf(toolset.value, { fresh: fresh ?? [], notes: noted.ok ? noted.value : [] }));
    }
    return toolset;
  });
}

interface Page {
  readonly fresh: readonly string[];
  readonly notes: readonly Note[];
}

function pageOf(toolset: Toolset, { fresh, notes: placed }: Page): string {
  const { name, description, tools, isEquipped } = toolset;
  const about = description === undefined ? '' : `: ${description}`;
  const head = toPrintable(`${name}${isEquipped ? ' (equipped)' : ''}${about}`);
  const members = tools.flatMap((tool): readonly Member[] => [
    [tool.namespacedName, tool.refId ?? ''],
    ...(tool.except ?? []).map((one): Member => [`  without ${one}`, '']),
  ]);
  const notes = placed.map((note) => toNoteRow(note).slice(1));
  const parts = [head, membersTable(members)];
  if (notes.length > 0) parts.push(formatTable(NOTE_HEAD.slice(1), notes));
  if (fresh.length > 0) parts.push(newText(name, fresh));
  return parts.join('\n\n');
}

type Member = readonly [name: string, refId: string];

/** Omits the column of definitions if no tool is pinned, as in most toolsets. */
function membersTable(members: readonly Member[]): string {
  if (members.some(([, refId]) => refId !== '')) return formatTable(['TOOL', 'PINNED TO'], members);
  return formatTable(
    ['TOOL'],
    members.map(([name]) => [name]),
  );
}

function newText(name: string, fresh: readonly string[]): string {
  const lines = fresh.map((tool) => `  ${toPrintable(tool)}`).join('\n');
  return `New since you accepted the tools of their servers:\n${lines}\n\`assay toolset review ${name}\` shows them; \`assay toolset accept ${name}\` accepts them.`;
}
