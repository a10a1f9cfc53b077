import { counted } from '../../core/counted.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { readToolsetJson, type LeftOut, type ReadToolsets } from '../../core/read-toolset-json.ts';
import { sentenceOf } from '../../core/sentences.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import { toolsetsJson } from '../../core/toolset-json.ts';
import type { Toolset } from '../../core/toolset.ts';
import type { Toolsets } from '../../gateway/services/toolsets/toolsets.ts';
import { UNSERVED_CAUSES, unservedIn, type Unserved } from '../../gateway/services/toolsets/unserved.ts';
import { printRefusal, jsonText, print, printError, printJson, printText, quoted } from './output.ts';
import type { OpenToolsets, Runtime } from './runtime.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

export interface ExportOptions extends JsonOptions {
  readonly file?: string;
}

export interface ImportToolsetsOptions extends JsonOptions {
  readonly replace?: boolean;
}

/** `assay toolset export`: to stdout or a file. */
export function exportToolsets(
  runtime: Runtime,
  names: readonly string[],
  options: ExportOptions,
): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const chosen = choose(toolsets, names);
    if (!chosen.ok) return chosen;
    const equipped = chosen.value.find(({ name }) => name === toolsets.equipped?.name);
    const text = jsonText(toolsetsJson(chosen.value, equipped?.name));
    const { file, json = false } = options;
    if (file === undefined) {
      printText(text);
      return ok(undefined);
    }
    const written = await runtime.writeFile(file, `${text}\n`);
    if (!written.ok) return written;
    const report = { file, toolsets: chosen.value.map(({ name }) => name) };
    if (json) printJson(report);
    else print(`Wrote ${counted(chosen.value.length, 'toolset')} to ${quoted(file)}.`);
    return ok(undefined);
  });
}

function choose(toolsets: Toolsets, names: readonly string[]): Result<readonly Toolset[], Refusal> {
  const unknown = names.find((name) => toolsets.find(name) === undefined);
  if (unknown !== undefined) return err(toolsets.unknown(unknown));
  const wanted = new Set(names);
  return ok(names.length === 0 ? toolsets.all : toolsets.all.filter(({ name }) => wanted.has(name)));
}

/** `assay toolset import`: the imported toolsets on stdout, omissions on stderr. */
export async function importToolsets(
  runtime: Runtime,
  file: string,
  options: ImportToolsetsOptions,
): Promise<number> {
  const text = await runtime.readFile(file);
  if (!text.ok) return printRefusal(text.error);
  const read = readToolsetJson(text.value, Date.now());
  if (!read.ok) return printRefusal(read.error);
  return withToolsets(runtime, options, async (open) => {
    const restored = await restore(open.toolsets, read.value, options.replace === true);
    if (!restored.ok) return restored;
    const missing = await missingIn(open, read.value.toolsets);
    const { leftOut } = read.value;
    const report = { ...restored.value, leftOut, ...(missing.ok && { missing: missing.value }) };
    if (options.json === true) printJson(report);
    else print(summaryOf(restored.value));
    for (const line of [...leftOut.map(leftOutLine), ...equipLines(read.value, open.toolsets)])
      printError(line);
    for (const line of missingLines(missing)) printError(line);
    return ok(undefined);
  });
}

interface Restored {
  readonly imported: readonly { readonly name: string; readonly outcome: 'created' | 'replaced' }[];
  /** The toolset that the import equipped. */
  readonly equipped?: string;
}

/** Imports all toolsets in one transaction. */
async function restore(
  toolsets: Toolsets,
  { toolsets: given, equipped }: ReadToolsets,
  replaces: boolean,
): Promise<Result<Restored, Refusal>> {
  const taken = given.filter(({ name }) => toolsets.find(name) !== undefined).map(({ name }) => name);
  if (taken.length > 0 && !replaces) return err({ code: 'ARGUMENTS_INVALID', reason: takenReason(taken) });
  // An already equipped toolset stays equipped, so that an import never changes what clients see.
  const kept = await toolsets.restore(given, { by: LOCAL_USER.subject, replaces, equip: equipped });
  if (!kept.ok) return kept;
  const imported = given.map(({ name }) => {
    const outcome = taken.includes(name) ? ('replaced' as const) : ('created' as const);
    return { name, outcome };
  });
  return ok({ imported, ...(kept.value !== undefined && { equipped: kept.value }) });
}

function takenReason(names: readonly string[]): string {
  const these = names.map((name) => `"${name}"`).join(', ');
  return names.length === 1
    ? `there is a toolset ${these} already; --replace replaces it with the one in the file`
    : `there are toolsets ${these} already; --replace replaces them with those in the file`;
}

function summaryOf({ imported, equipped }: Restored): string {
  const names = imported.map(({ name, outcome }) =>
    outcome === 'created' ? quoted(name) : `${quoted(name)} (replaced)`,
  );
  const count = counted(imported.length, 'toolset');
  const what = names.length === 0 ? `Imported ${count}.` : `Imported ${count}: ${names.join(', ')}.`;
  return equipped === undefined ? what : `${what} ${quoted(equipped)} is equipped.`;
}

function leftOutLine({ toolset, tool, note, reason }: LeftOut): string {
  const what =
    note === undefined ? `the tool ${quoted(tool)}` : `the note ${quoted(note)} on ${quoted(tool)}`;
  return `left out: ${what} of the toolset ${quoted(toolset)}: ${reason}.`;
}

function equipLines({ equipped }: ReadToolsets, toolsets: Toolsets): readonly string[] {
  const here = toolsets.equipped?.name;
  if (equipped === undefined || here === undefined || here === equipped) return [];
  return [`note: the file has ${quoted(equipped)} equipped; here ${quoted(here)} stays equipped.`];
}

interface Missing extends Unserved {
  readonly toolset: string;
}

/** Tools that are currently not served, and why. They stay in the toolset. */
async function missingIn(
  { tools, selectOptions }: OpenToolsets,
  toolsets: readonly Toolset[],
): Promise<Result<readonly Missing[], Refusal>> {
  if (toolsets.every((toolset) => toolset.tools.length === 0)) return ok([]);
  const refs = toolsets.flatMap((toolset) => toolset.tools.map(({ namespacedName }) => ({ namespacedName })));
  const index = await tools({ refs, isFresh: false });
  if (!index.ok) return index;
  const selecting = { index: index.value, ...selectOptions() };
  return ok(
    toolsets.flatMap((toolset) =>
      unservedIn(toolset, selecting).map((unserved) => ({ toolset: toolset.name, ...unserved })),
    ),
  );
}

function missingLines(missing: Result<readonly Missing[], Refusal>): readonly string[] {
  if (!missing.ok)
    return [`note: whether servers have these tools could not be determined: ${sentenceOf(missing.error)}`];
  return missing.value.map(
    ({ toolset, tool, reason }) =>
      `note: the tool ${quoted(tool)} of the toolset ${quoted(toolset)} is kept, but not served now: ${UNSERVED_CAUSES[reason]}.`,
  );
}
