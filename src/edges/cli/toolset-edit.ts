import { formatCount } from '../../core/counted.ts';
import { err, ok } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { parseToolRef } from '../../core/tool-ref.ts';
import { formatMembers } from '../../core/whole-server.ts';
import type { Toolset } from '../../api/toolset.ts';
import { print, printError, printJson, quoteText } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

export interface CreateOptions extends JsonOptions {
  readonly description?: string;
  readonly equip?: boolean;
}

/** Input of a command that changes one toolset. */
export interface ToolsetInput<O extends JsonOptions = JsonOptions> {
  readonly name: string;
  readonly refs: readonly string[];
  readonly options: O;
}

/** `assay toolset create` */
export function createToolset(runtime: Runtime, input: ToolsetInput<CreateOptions>): Promise<number> {
  const { name, refs, options } = input;
  const { description, equip = false } = options;
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const given = { name, description, tools: refs.map(parseToolRef), equip };
    const created = await toolsetService.create(given, LOCAL_USER);
    if (!created.ok) return created;
    const { view } = created.value;
    const what = `Saved the toolset ${quoteText(name)} with ${formatMembers(view.tools)}.`;
    printToolset(view, options, equip ? `${what} It is equipped.` : what);
    return created;
  });
}

/** `assay toolset add` */
export function addTools(runtime: Runtime, { name, refs, options }: ToolsetInput): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const changed = await toolsetService.add(name, refs.map(parseToolRef), LOCAL_USER);
    if (!changed.ok) return changed;
    const { view, added, released } = changed.value;
    const what = `Added ${formatMembers(added)} to the toolset ${quoteText(name)}`;
    printToolset(view, options, `${what}, which has ${formatMembers(view.tools)} now.`);
    for (const tool of released)
      printError(
        `note: ${quoteText(tool)} is no longer pinned to a definition, because it was given without its refId.`,
      );
    return changed;
  });
}

/** `assay toolset remove` */
export function removeTools(runtime: Runtime, { name, refs, options }: ToolsetInput): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const changed = await toolsetService.remove(name, refs, LOCAL_USER);
    if (!changed.ok) return changed;
    const { view, removed } = changed.value;
    const what = `Removed ${formatMembers(removed)} from the toolset ${quoteText(name)}`;
    printToolset(view, options, `${what}, which has ${formatMembers(view.tools)} now.`);
    for (const { namespacedName } of removed.filter(({ isUnconfirmed }) => isUnconfirmed))
      printError(
        `note: ${quoteText(namespacedName)} was not among the tools of its server when those were accepted.`,
      );
    for (const { namespacedName, notes } of removed.filter((one) => one.notes > 0))
      printError(
        `note: ${formatCount(notes, 'note')} on ${quoteText(namespacedName)} are kept, and apply again once the tool is added.`,
      );
    return changed;
  });
}

/** `assay toolset rename` */
export function renameToolset(
  runtime: Runtime,
  { from, to }: { readonly from: string; readonly to: string },
  options: JsonOptions,
): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const renamed = await toolsetService.change(from, { name: to }, LOCAL_USER);
    if (renamed.ok)
      printToolset(
        renamed.value.view,
        options,
        `The toolset ${quoteText(from)} is called ${quoteText(to)} now.`,
      );
    return renamed;
  });
}

/** `assay toolset describe`: an empty text removes the description. */
export function describeToolset(
  runtime: Runtime,
  { name, text }: { readonly name: string; readonly text: string },
  options: JsonOptions,
): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const described = await toolsetService.change(name, { description: text }, LOCAL_USER);
    const what = text === '' ? 'no longer has a description' : 'has this description now';
    if (described.ok) printToolset(described.value.view, options, `The toolset ${quoteText(name)} ${what}.`);
    return described;
  });
}

export function printToolset(toolset: Toolset, options: JsonOptions, sentence: string): void {
  if (options.json === true) printJson(toolset);
  else print(sentence);
}

export interface DeleteOptions extends JsonOptions {
  readonly yes?: boolean;
}

/** `assay toolset equip`, or without a name `assay toolset unequip`. */
export function equipToolset(
  runtime: Runtime,
  name: string | undefined,
  options: JsonOptions,
): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const equipped = await toolsetService.equip(name, LOCAL_USER);
    if (!equipped.ok) return equipped;
    if (options.json === true) printJson({ equipped: name ?? null });
    else
      print(name === undefined ? 'No toolset is equipped.' : `The toolset ${quoteText(name)} is equipped.`);
    return equipped;
  });
}

/** `assay toolset delete` */
export function deleteToolset(runtime: Runtime, name: string, options: DeleteOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const toolset = await toolsetService.view(name);
    if (!toolset.ok) return toolset;
    if (options.yes !== true) return err({ code: 'ARGUMENTS_INVALID', reason: lossOf(toolset.value) });
    const removed = await toolsetService.delete(name, LOCAL_USER);
    if (!removed.ok) return removed;
    const sessions = removed.value;
    if (options.json === true) printJson({ deleted: name, sessions });
    else if (sessions === 0) print(`Deleted the toolset ${quoteText(name)}.`);
    else
      print(
        `Deleted the toolset ${quoteText(name)}. ${formatCount(sessions, 'session')} had equipped it, and ${sessions === 1 ? 'has' : 'have'} none now.`,
      );
    return ok(undefined);
  });
}

function lossOf({ name, toolNotes }: Toolset): string {
  const notes = toolNotes.reduce((sum, entry) => sum + entry.notes.length, 0);
  const what = notes === 0 ? 'this cannot be undone' : `${formatCount(notes, 'note')} would be lost with it`;
  return `to delete the toolset "${name}", add --yes; ${what}`;
}
