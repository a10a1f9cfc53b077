import { resolve } from 'node:path';
import { formatCount } from '../../core/counted.ts';
import { toWords, toPrintable } from '../../core/printable.ts';
import { ok } from '../../core/result.ts';
import { CUSTOM_SERVER } from '../../core/server-spec.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import {
  printRefusal,
  formatHints,
  parsePairs,
  print,
  printError,
  printJson,
  formatTable,
} from './output.ts';
import type { Runtime } from './runtime.ts';
import { type JsonOptions, withOpened } from './with-opened.ts';

export interface AddFunctionsOptions extends JsonOptions {
  readonly env?: readonly string[];
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly memory?: number;
}

const MAX_TOOLS = 100_000;

/** `assay function add`: takes effect at once, even in a running Assay. */
export async function addFunctions(
  runtime: Runtime,
  file: string,
  options: AddFunctionsOptions,
): Promise<number> {
  const env = parsePairs('--env', options.env ?? [], '=');
  if (!env.ok) return printRefusal(env.error);
  const absolute = (path: string): string => resolve(process.cwd(), path);
  const entry = {
    module: absolute(file),
    ...(options.env !== undefined && { env: env.value }),
    ...(options.read !== undefined && { reads: options.read.map(absolute) }),
    ...(options.write !== undefined && { writes: options.write.map(absolute) }),
    ...(options.memory !== undefined && { memoryMb: options.memory }),
  };
  return withOpened(runtime.openServices(options), async ({ functionModules, tools, start }) => {
    // Tools of other modules that are found meanwhile would count as new.
    await start(CUSTOM_SERVER);
    const before = new Set(
      (await tools.page({ server: CUSTOM_SERVER }, { limit: MAX_TOOLS })).tools.map(({ id }) => id),
    );
    const added = await functionModules.add(entry, LOCAL_USER.subject);
    if (!added.ok) return added;
    const { tools: all } = await tools.page({ server: CUSTOM_SERVER }, { limit: MAX_TOOLS });
    const fresh = all.filter(({ id, source }) => source === 'function' && !before.has(id));
    if (options.json === true) printJson({ ...added.value, tools: fresh });
    else {
      print(`${toPrintable(added.value.path)}: ${formatCount(fresh.length, 'tool')}.`);
      if (fresh.length > 0)
        print(
          formatTable(
            ['TOOL', 'HINTS'],
            fresh.map((tool) => [tool.name, formatHints(tool)]),
          ),
        );
    }
    for (const fault of added.value.faults) printError(`warning: ${toPrintable(fault)}`);
    return added;
  });
}

/** `assay function list` */
export function listFunctions(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withOpened(runtime.openServices(options), async ({ functionModules, start }) => {
    await start(CUSTOM_SERVER);
    const all = functionModules.all();
    if (options.json === true) printJson({ functions: all });
    else
      print(
        formatTable(
          ['MODULE', 'FROM', 'FAULTS'],
          all.map(({ path, origin, faults }) => [path, toWords(origin), faults.join('; ')]),
        ),
      );
    if (all.length === 0) printError('There are none. `assay function add FILE` adds one.');
    return ok(undefined);
  });
}

/** `assay function remove` */
export function removeFunctions(runtime: Runtime, file: string, options: JsonOptions): Promise<number> {
  return withOpened(runtime.openServices(options), async ({ functionModules }) => {
    const path = resolve(process.cwd(), file);
    const removed = await functionModules.remove(path, LOCAL_USER.subject);
    if (removed.ok)
      if (options.json === true) printJson({ removed: path });
      else print(`Removed ${toPrintable(path)}.`);
    return removed;
  });
}
