import { counted } from '../../core/counted.ts';
import { argumentFault, type Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { toolsetJson } from '../../core/toolset-json.ts';
import {
  descriptionFault,
  notesOf,
  type Toolset,
  toolsetNameFault,
  type ToolsetTool,
  withoutTool,
  withTools,
} from '../../core/toolset.ts';
import {
  includes,
  isKnown,
  isWhole,
  membersText,
  wholeServer,
  wholeServerIn,
} from '../../core/whole-server.ts';
import type { Changing, Toolsets } from '../../gateway/services/toolsets/toolsets.ts';
import { printRefusal, print, printError, printJson, quoted } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, toolsNamed, withToolsets } from './with-opened.ts';

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
export async function createToolset(runtime: Runtime, input: ToolsetInput<CreateOptions>): Promise<number> {
  const { name, refs, options } = input;
  const { description, equip = false } = options;
  const wrong =
    argumentFault('name', toolsetNameFault(name)) ??
    argumentFault('--description', description === undefined ? undefined : descriptionFault(description));
  if (wrong !== undefined) return printRefusal(wrong);
  return withToolsets(runtime, options, async (open) => {
    const { toolsets } = open;
    // Checked first, so that servers are not started in vain.
    if (toolsets.find(name) !== undefined) return err({ code: 'TOOLSET_EXISTS', name });
    const tools = await toolsNamed(open, refs);
    if (!tools.ok) return tools;
    const empty = { name, description, tools: [], toolNotes: [], createdMs: 0, changedMs: 0 };
    const full = withTools(empty, tools.value);
    const created = full.ok ? await toolsets.create(full.value, { by: LOCAL_USER.subject, equip }) : full;
    if (!created.ok) return created;
    const what = `Saved the toolset ${quoted(name)} with ${membersText(created.value.tools)}.`;
    printToolset(created.value, options, equip ? `${what} It is equipped.` : what);
    return created;
  });
}

/** `assay toolset add` */
export function addTools(runtime: Runtime, { name, refs, options }: ToolsetInput): Promise<number> {
  return withToolsets(runtime, options, async (open) => {
    const { toolsets } = open;
    if (toolsets.find(name) === undefined) return err(toolsets.unknown(name));
    const tools = await toolsNamed(open, refs);
    if (!tools.ok) return tools;
    const changed = await change(toolsets, name, (toolset) => withTools(toolset, tools.value));
    if (!changed.ok) return changed;
    const { before, after } = changed.value;
    const there = new Set(before.tools.map(({ namespacedName }) => namespacedName));
    const added = after.tools.filter(({ namespacedName }) => !there.has(namespacedName));
    printToolset(
      after,
      options,
      `Added ${membersText(added)} to the toolset ${quoted(name)}, which has ${membersText(after.tools)} now.`,
    );
    for (const tool of released(before, tools.value))
      printError(
        `note: ${quoted(tool)} is no longer pinned to a definition, because it was given without its refId.`,
      );
    return changed;
  });
}

function released(before: Toolset, tools: readonly ToolsetTool[]): readonly string[] {
  const free = new Set(
    tools.filter(({ held }) => held === undefined).map(({ namespacedName }) => namespacedName),
  );
  return before.tools.flatMap(({ namespacedName, held }) =>
    held !== undefined && free.has(namespacedName) ? [namespacedName] : [],
  );
}

/** `assay toolset remove` */
export function removeTools(runtime: Runtime, { name, refs, options }: ToolsetInput): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const removed = await change(toolsets, name, (toolset) => {
      let left: Result<Toolset, Refusal> = ok(toolset);
      for (const ref of new Set(refs)) left = left.ok ? withoutTool(left.value, ref) : left;
      return left;
    });
    if (!removed.ok) return removed;
    const { before, after } = removed.value;
    const gone = [...new Set(refs)];
    printToolset(
      after,
      options,
      `Removed ${membersText(gone.map(memberNamed))} from the toolset ${quoted(name)}, which has ${membersText(after.tools)} now.`,
    );
    for (const ref of gone.filter((one) => isUnconfirmed(before, one)))
      printError(`note: ${quoted(ref)} was not among the tools of its server when those were accepted.`);
    for (const ref of new Set(refs)) {
      const notes = notesOf(after, ref).length;
      if (notes > 0)
        printError(
          `note: ${counted(notes, 'note')} on ${quoted(ref)} are kept, and apply again once the tool is added.`,
        );
    }
    return removed;
  });
}

function memberNamed(ref: string): ToolsetTool {
  const server = wholeServerIn(ref);
  return server === undefined ? { namespacedName: ref } : wholeServer(server);
}

/** Whether a tool is only in the toolset through its whole server, which may not have it. */
function isUnconfirmed({ tools }: Toolset, ref: string): boolean {
  return (
    tools.every(({ namespacedName }) => namespacedName !== ref) &&
    tools.some((tool) => isWhole(tool) && includes(tool, ref) && !isKnown(tool, ref))
  );
}

/** `assay toolset rename` */
export async function renameToolset(
  runtime: Runtime,
  names: { readonly from: string; readonly to: string },
  options: JsonOptions,
): Promise<number> {
  const { from, to } = names;
  const wrong = argumentFault('new name', toolsetNameFault(to));
  if (wrong !== undefined) return printRefusal(wrong);
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const renamed = await change(toolsets, from, (toolset) =>
      ok(from === to ? toolset : { ...toolset, name: to }),
    );
    if (renamed.ok)
      printToolset(renamed.value.after, options, `The toolset ${quoted(from)} is called ${quoted(to)} now.`);
    return renamed;
  });
}

/** `assay toolset describe`: an empty text removes the description. */
export async function describeToolset(
  runtime: Runtime,
  { name, text }: { readonly name: string; readonly text: string },
  options: JsonOptions,
): Promise<number> {
  const wrong = argumentFault('text', descriptionFault(text));
  if (wrong !== undefined) return printRefusal(wrong);
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const description = text === '' ? undefined : text;
    const described = await change(toolsets, name, (toolset) => ok({ ...toolset, description }));
    const what = description === undefined ? 'no longer has a description' : 'has this description now';
    if (described.ok) printToolset(described.value.after, options, `The toolset ${quoted(name)} ${what}.`);
    return described;
  });
}

interface Changed {
  readonly before: Toolset;
  readonly after: Toolset;
}

/** Applies a change and returns the toolset before it and as stored after it. */
export async function change(
  toolsets: Toolsets,
  name: string,
  changing: (toolset: Toolset) => Result<Toolset, Refusal>,
): Promise<Result<Changed, Refusal>> {
  const both: Changing<Changed> = (before) => {
    const after = changing(before);
    return after.ok ? ok({ toolset: after.value, value: { before, after: after.value } }) : after;
  };
  const changed = await toolsets.change(name, both, LOCAL_USER.subject);
  if (!changed.ok) return changed;
  const { before, after } = changed.value;
  // Only the stored toolset has the time of the change.
  return ok({ before, after: toolsets.find(after.name) ?? after });
}

function printToolset(toolset: Toolset, options: JsonOptions, sentence: string): void {
  if (options.json === true) printJson(toolsetJson(toolset));
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
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const equipped = await toolsets.equip(name, LOCAL_USER.subject);
    if (!equipped.ok) return equipped;
    if (options.json === true) printJson({ equipped: name ?? null });
    else print(name === undefined ? 'No toolset is equipped.' : `The toolset ${quoted(name)} is equipped.`);
    return equipped;
  });
}

/** `assay toolset delete` */
export function deleteToolset(runtime: Runtime, name: string, options: DeleteOptions): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const toolset = toolsets.find(name);
    if (toolset === undefined) return err(toolsets.unknown(name));
    if (options.yes !== true) return err({ code: 'ARGUMENTS_INVALID', reason: lossOf(toolset) });
    const removed = await toolsets.remove(name, LOCAL_USER.subject);
    if (!removed.ok) return removed;
    const sessions = removed.value;
    if (options.json === true) printJson({ deleted: name, sessions });
    else if (sessions === 0) print(`Deleted the toolset ${quoted(name)}.`);
    else
      print(
        `Deleted the toolset ${quoted(name)}. ${counted(sessions, 'session')} had equipped it, and ${sessions === 1 ? 'has' : 'have'} none now.`,
      );
    return ok(undefined);
  });
}

function lossOf({ name, toolNotes }: Toolset): string {
  const notes = toolNotes.reduce((sum, entry) => sum + entry.notes.length, 0);
  const what = notes === 0 ? 'this cannot be undone' : `${counted(notes, 'note')} would be lost with it`;
  return `to delete the toolset "${name}", add --yes; ${what}`;
}
