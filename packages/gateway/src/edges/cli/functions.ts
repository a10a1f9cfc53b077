import { Command, InvalidArgumentError } from 'commander';
import { resolve } from 'node:path';
import { formatCount } from '@assay-mcp/kit/counted';
import { toWords, toPrintable } from '@assay-mcp/kit/printable';
import type { FunctionModule } from '../../api/function-module.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import { print, printError, printJson, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal, formatHints } from './output.ts';
import { parsePairs } from '@assay-mcp/kit/platform/terminal/options';
import type { Runtime } from './runtime.ts';
import { listOwnTools } from './rest.ts';
import { withApi } from './with-api.ts';

/** `assay function` with its subcommands. */
export function functionCommand(runtime: Runtime, done: Done): Command {
  const command = new Command('function').description(
    'create tools from the exports of JavaScript and TypeScript modules',
  );
  const commands = [
    new Command('add')
      .argument('<file>', 'a .js, .mjs or .ts module')
      .description('create tools from the exports of a module')
      .option('--env <NAME=value...>', 'environment variables for its process')
      .option('--read <path...>', 'paths it may read, in addition to its own folder')
      .option('--write <path...>', 'paths it may write')
      .option('--memory <MB>', 'memory limit of its process', whole)
      .action(async (file: string, options: AddFunctionsOptions) =>
        done(await addFunctions(runtime, file, options)),
      ),
    new Command('list')
      .description('list the modules')
      .action(async (options: JsonOptions) => done(await listFunctions(runtime, options))),
    new Command('remove')
      .argument('<file>')
      .description('remove the tools of a module; its file is kept')
      .action(async (file: string, options: JsonOptions) =>
        done(await removeFunctions(runtime, file, options)),
      ),
  ];
  for (const one of commands) command.addCommand(withConfig(one).option('--json', 'print JSON'));
  return command;
}

function whole(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('It is not a whole number.');
  return Number(text);
}

interface AddFunctionsOptions extends JsonOptions {
  readonly env?: readonly string[];
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly memory?: number;
}

/** `assay function add`: takes effect at once, even in a running Assay. */
async function addFunctions(runtime: Runtime, file: string, options: AddFunctionsOptions): Promise<number> {
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
  return withApi(runtime, options, async (api) => {
    // Tools of other modules that are found meanwhile would count as new.
    const before = await listOwnTools(api, 'function');
    if (!before.ok) return before;
    const known = new Set(before.value.map(({ id }) => id));
    const added = await api.send<FunctionModule>({ method: 'POST', path: '/functions', body: entry });
    if (!added.ok) return added;
    const all = await listOwnTools(api, 'function');
    if (!all.ok) return all;
    const fresh = all.value.filter(({ id }) => !known.has(id));
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
function listFunctions(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const listed = await api.send<{ readonly functions: readonly FunctionModule[] }>({
      ...{ method: 'GET', path: '/functions' },
    });
    if (!listed.ok) return listed;
    const { functions: all } = listed.value;
    if (options.json === true) printJson(listed.value);
    else
      print(
        formatTable(
          ['MODULE', 'FROM', 'FAULTS'],
          all.map(({ path, origin, faults }) => [path, toWords(origin), faults.join('; ')]),
        ),
      );
    if (all.length === 0) printError('There are none. `assay function add FILE` adds one.');
    return listed;
  });
}

/** `assay function remove` */
function removeFunctions(runtime: Runtime, file: string, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const path = resolve(process.cwd(), file);
    const removed = await api.send({ method: 'DELETE', path: '/functions', query: { path } });
    if (removed.ok)
      if (options.json === true) printJson({ removed: path });
      else print(`Removed ${toPrintable(path)}.`);
    return removed;
  });
}
