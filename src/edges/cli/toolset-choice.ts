import { counted } from '../../core/counted.ts';
import { err, ok } from '../../core/result.ts';
import { LOCAL } from '../../core/subject.ts';
import type { Toolset } from '../../core/toolset.ts';
import { print, printJson, quoted } from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withToolsets } from './with-opened.ts';

export interface DeleteOptions extends JsonOptions {
  readonly yes?: boolean;
}

/** `assay toolset equip`, and with no name `assay toolset unequip`. */
export function equipToolset(
  runtime: Runtime,
  name: string | undefined,
  options: JsonOptions,
): Promise<number> {
  return withToolsets(runtime, options, async ({ toolsets }) => {
    const equipped = await toolsets.equip(name, LOCAL.subject);
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
    const removed = await toolsets.remove(name, LOCAL.subject);
    if (!removed.ok) return removed;
    if (options.json === true) printJson({ deleted: name });
    else print(`Deleted the toolset ${quoted(name)}.`);
    return ok(undefined);
  });
}

function lossOf({ name, toolNotes }: Toolset): string {
  const notes = toolNotes.reduce((sum, entry) => sum + entry.notes.length, 0);
  const what = notes === 0 ? 'it cannot be had again' : `${counted(notes, 'note')} would be lost with it`;
  return `to delete the toolset "${name}", add --yes; ${what}`;
}
