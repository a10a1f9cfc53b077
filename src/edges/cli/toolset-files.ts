import { formatCount } from '../../core/counted.ts';
import type { LeftOut } from '../../core/read-toolset-json.ts';
import { ok } from '../../core/result.ts';
import { formatRefusal } from '../../core/sentences.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { ImportedToolsets } from '../../gateway/services/toolsets/toolset-view.ts';
import { UNSERVED_CAUSES } from '../../gateway/services/toolsets/unserved.ts';
import { printRefusal, formatJson, print, printError, printJson, printText, quoteText } from './output.ts';
import type { Runtime } from './runtime.ts';
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
  return withToolsets(runtime, options, async ({ toolsetService }) => {
    const exported = await toolsetService.export(names);
    if (!exported.ok) return exported;
    const { toolsets } = exported.value;
    const text = formatJson(exported.value);
    const { file, json = false } = options;
    if (file === undefined) {
      printText(text);
      return ok(undefined);
    }
    const written = await runtime.writeFile(file, `${text}\n`);
    if (!written.ok) return written;
    const report = { file, toolsets: toolsets.map(({ name }) => name) };
    if (json) printJson(report);
    else print(`Wrote ${formatCount(toolsets.length, 'toolset')} to ${quoteText(file)}.`);
    return ok(undefined);
  });
}

/** `assay toolset import`: the imported toolsets on stdout, omissions on stderr. */
export async function importToolsets(
  runtime: Runtime,
  file: string,
  options: ImportToolsetsOptions,
): Promise<number> {
  const text = await runtime.readFile(file);
  if (!text.ok) return printRefusal(text.error);
  const replaces = options.replace === true;
  const refused = { isTaken: false };
  const code = await withToolsets(runtime, options, async ({ toolsetService }) => {
    const done = await toolsetService.import(text.value, { replaces, nowMs: Date.now() }, LOCAL_USER);
    refused.isTaken = !done.ok && done.error.code === 'TOOLSET_EXISTS';
    if (!done.ok) return done;
    const { missing, notEquipped, ...report } = done.value;
    if (options.json === true) printJson({ ...report, ...(missing.ok && { missing: missing.value }) });
    else print(summaryOf(report));
    for (const line of [...report.leftOut.map(leftOutLine), ...missingLines(missing)]) printError(line);
    if (notEquipped !== undefined)
      printError(
        `note: the file has ${quoteText(notEquipped.wanted)} equipped; here ${quoteText(notEquipped.now)} stays equipped.`,
      );
    return ok(undefined);
  });
  if (refused.isTaken)
    printError('note: --replace replaces toolsets of the same names with those in the file.');
  return code;
}

function summaryOf({ imported, equipped }: Pick<ImportedToolsets, 'imported' | 'equipped'>): string {
  const names = imported.map(({ name, outcome }) =>
    outcome === 'created' ? quoteText(name) : `${quoteText(name)} (replaced)`,
  );
  const count = formatCount(imported.length, 'toolset');
  const what = names.length === 0 ? `Imported ${count}.` : `Imported ${count}: ${names.join(', ')}.`;
  return equipped === undefined ? what : `${what} ${quoteText(equipped)} is equipped.`;
}

function leftOutLine({ toolset, tool, note, reason }: LeftOut): string {
  const what =
    note === undefined ? `the tool ${quoteText(tool)}` : `the note ${quoteText(note)} on ${quoteText(tool)}`;
  return `left out: ${what} of the toolset ${quoteText(toolset)}: ${reason}.`;
}

function missingLines(missing: ImportedToolsets['missing']): readonly string[] {
  if (!missing.ok)
    return [
      `note: whether servers have these tools could not be determined: ${formatRefusal(missing.error)}`,
    ];
  return missing.value.map(
    ({ toolset, tool, reason }) =>
      `note: the tool ${quoteText(tool)} of the toolset ${quoteText(toolset)} is kept, but not served now: ${UNSERVED_CAUSES[reason]}.`,
  );
}
