import { Command } from 'commander';
import { toPrintable } from '@assay-mcp/kit/printable';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { Refusal } from '../../core/refusal.ts';
import { CUSTOM_SERVER } from '../../core/server-spec.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { Tool } from '../../api/tool.ts';
import { isJsonObject, parseJson } from '@assay-mcp/kit/json-object';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import type { Api } from './api.ts';
import { print, printError, printJson, formatTable } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal, formatHints } from './output.ts';
import { parsePairs } from '@assay-mcp/kit/platform/terminal/options';
import type { Runtime } from './runtime.ts';
import { listAll, toToolPath, withApi } from './with-api.ts';

/** `assay rest` with its subcommands. */
export function restCommand(runtime: Runtime, done: Done): Command {
  const command = new Command('rest').description('create tools from HTTP requests');
  const commands = [
    new Command('add')
      .argument('<name>')
      .argument('<url>', 'absolute URL; {argument} in its path or query is replaced by that argument')
      .description('create a tool from an HTTP request')
      .option('--method <method>', 'HTTP method (default: POST, without deriving hints from it)')
      .option('--title <text>')
      .option('--description <text>', 'description for the model')
      .option('--header <name: value...>', 'header to send with each request')
      .option('--bearer <token>', 'bearer token to send in the Authorization header')
      .option('--entry <json>', 'all other fields, as in the config file')
      .action(async (name: string, url: string, options: AddRestOptions) =>
        done(await addRestTool(runtime, { name, url, options })),
      ),
    new Command('list')
      .description('list your tools')
      .action(async (options: JsonOptions) => done(await listRestTools(runtime, options))),
    new Command('remove')
      .argument('<name>')
      .description('remove a tool')
      .action(async (name: string, options: JsonOptions) =>
        done(await removeRestTool(runtime, name, options)),
      ),
  ];
  for (const one of commands) command.addCommand(withConfig(one).option('--json', 'print JSON'));
  return command;
}

interface AddRestOptions extends JsonOptions {
  readonly method?: string;
  readonly title?: string;
  readonly description?: string;
  readonly header?: readonly string[];
  readonly bearer?: string;
  readonly entry?: string;
}

interface AddRestInput {
  readonly name: string;
  readonly url: string;
  readonly options: AddRestOptions;
}

/** `assay rest add`: takes effect at once, even in a running Assay. */
async function addRestTool(runtime: Runtime, { name, url, options }: AddRestInput): Promise<number> {
  const { method, title, description, bearer } = options;
  const headers = parsePairs('--header', options.header ?? [], ':');
  if (!headers.ok) return printRefusal(headers.error);
  const members = membersIn(options.entry ?? '{}');
  if (!members.ok) return printRefusal(members.error);
  const entry = {
    ...members.value,
    url,
    ...(method !== undefined && { method }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    ...(options.header !== undefined && { headers: headers.value }),
    ...(bearer !== undefined && { auth: { type: 'bearer', token: bearer } }),
  };
  return withApi(runtime, options, async (api) => {
    const body = { ...entry, name };
    const created = await api.send<Tool>({ method: 'POST', path: '/tools', body });
    if (!created.ok) return created;
    if (options.json === true) printJson(created.value);
    else
      print(`${toPrintable(created.value.name)}: ${requestOf(created.value)}. ${formatHints(created.value)}`);
    if (created.value.methodOrigin === 'default')
      printError(
        'No method given, assuming POST; the tool is treated as destructive. Set the method with --method.',
      );
    return created;
  });
}

/** The error does not repeat the text: it may contain a secret. */
function membersIn(text: string): Result<Readonly<Record<string, unknown>>, Refusal> {
  const value = parseJson(text);
  if (isJsonObject(value)) return ok(value);
  return err({ code: 'ARGUMENTS_INVALID', reason: '--entry: write it as a JSON object' });
}

/** `assay rest list` */
function listRestTools(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api) => {
    const listed = await listOwnTools(api, 'rest');
    if (!listed.ok) return listed;
    const tools = listed.value;
    if (options.json === true) printJson({ tools });
    else
      print(
        formatTable(
          ['TOOL', 'REQUEST', 'HINTS'],
          tools.map((tool) => [tool.name, requestOf(tool), formatHints(tool)]),
        ),
      );
    if (tools.length === 0) printError('There are no REST tools. Add one with `assay rest add NAME URL`.');
    return listed;
  });
}

/** `assay rest remove` */
function removeRestTool(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return withApi(runtime, options, async (api): Promise<Result<unknown, CodedProblem | Refusal>> => {
    const listed = await listOwnTools(api, 'rest');
    if (!listed.ok) return listed;
    const found = listed.value.find((tool) =>
      [tool.name, tool.originalName, tool.namespacedName].includes(name),
    );
    // A tool that is currently unusable is not listed, but can still be removed.
    const path = toToolPath(found?.id ?? name);
    if (!path.ok) return path;
    const removed = await api.send({ method: 'DELETE', path: path.value });
    if (removed.ok)
      if (options.json === true) printJson({ removed: name });
      else print(`Removed ${toPrintable(name)}.`);
    return removed;
  });
}

/** The tools that operators made from HTTP requests, or from functions. */
export async function listOwnTools(
  api: Api,
  source: 'rest' | 'function',
): Promise<Result<readonly Tool[], CodedProblem>> {
  const query = { server: CUSTOM_SERVER };
  const listed = await listAll<Tool>(api, '/tools', { name: 'tools', query });
  return listed.ok ? ok(listed.value.filter((tool) => tool.source === source)) : listed;
}

function requestOf({ method = '', url = '' }: Tool): string {
  return toPrintable(`${method} ${url}`);
}
