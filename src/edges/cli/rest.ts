import { toPrintable } from '../../core/printable.ts';
import { err, ok, type Result } from '../../core/result.ts';
import type { Refusal } from '../../core/refusal.ts';
import { CUSTOM_SERVER } from '../../core/server-spec.ts';
import { LOCAL_USER } from '../../core/subject.ts';
import type { Tool } from '../../api/tool.ts';
import {
  printRefusal,
  formatHints,
  parsePairs,
  print,
  printError,
  printJson,
  formatTable,
} from './output.ts';
import type { OpenServices, Runtime } from './runtime.ts';
import { type JsonOptions, withOpened } from './with-opened.ts';
import { isJsonObject, parseJson } from '../../core/json-object.ts';

export interface AddRestOptions extends JsonOptions {
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
export async function addRestTool(runtime: Runtime, { name, url, options }: AddRestInput): Promise<number> {
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
  return withOpened(runtime.openServices(options), async ({ customTools }) => {
    const created = await customTools.create(name, entry, { subject: LOCAL_USER.subject });
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
export function listRestTools(runtime: Runtime, options: JsonOptions): Promise<number> {
  return withOpened(runtime.openServices(options), async (services) => {
    const tools = await restTools(services);
    if (options.json === true) printJson({ tools });
    else
      print(
        formatTable(
          ['TOOL', 'REQUEST', 'HINTS'],
          tools.map((tool) => [tool.name, requestOf(tool), formatHints(tool)]),
        ),
      );
    if (tools.length === 0) printError('There are no REST tools. Add one with `assay rest add NAME URL`.');
    return ok(undefined);
  });
}

/** `assay rest remove` */
export function removeRestTool(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  return withOpened(runtime.openServices(options), async (services): Promise<Result<unknown, Refusal>> => {
    const tools = await restTools(services);
    const found = tools.find((tool) => [tool.name, tool.originalName, tool.namespacedName].includes(name));
    // A tool that is currently unusable is not listed, but can still be removed.
    const id = found?.id ?? services.customTools.idOf(name);
    const removed = await services.customTools.remove(id, { subject: LOCAL_USER.subject });
    if (!removed.ok && removed.error.code === 'TOOL_UNKNOWN') return err({ code: 'TOOL_UNKNOWN', name });
    if (removed.ok)
      if (options.json === true) printJson({ removed: name });
      else print(`Removed ${toPrintable(name)}.`);
    return removed;
  });
}

const MAX_TOOLS = 100_000;

async function restTools({ tools, start }: OpenServices): Promise<readonly Tool[]> {
  await start(CUSTOM_SERVER);
  const { tools: all } = await tools.page({ server: CUSTOM_SERVER }, { limit: MAX_TOOLS });
  return all.filter(({ source }) => source === 'rest');
}

function requestOf({ method = '', url = '' }: Tool): string {
  return toPrintable(`${method} ${url}`);
}
