import { Command } from 'commander';
import type { CatalogReport, ServerStatus } from '../../api/status.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { Toolset } from '../../api/toolset.ts';
import type { AddRequest } from '../../core/client-configs.ts';
import { getRemedy } from '../../core/cause.ts';
import { formatCount } from '../../core/counted.ts';
import { EXIT } from '../../core/errors.ts';
import type { JsonObject } from '../../core/json-object.ts';
import { toPrintable } from '../../core/printable.ts';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '../../core/result.ts';
import { quoteShellArgument } from '../../core/shell-argument.ts';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import {
  parsePairs,
  printFailure,
  printRefusal,
  print,
  printError,
  printJson,
  formatProse,
  quoteText,
} from './output.ts';
import { withProgress } from './progress.ts';
import type { Runtime } from './runtime.ts';
import { listAll, withApi } from './with-api.ts';

/** `assay add` */
export function addCommand(runtime: Runtime, done: Done): Command {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
  return withConfig(
    new Command('add')
      .usage('[options] <name> <url>\n       assay add [options] <name> -- <command> [args...]')
      .argument('<name>', 'name for the server')
      .argument('<target...>', 'URL of the server, or `--` followed by its command and arguments')
      .description('add a server to the config file and start it')
      .option('--env <name=value>', 'environment variable for the command; repeatable', collect, [])
      .option('--header <name:value>', 'HTTP header for the URL; repeatable', collect, [])
      .option('--overwrite', 'replace an existing server with this name')
      .option('--no-start', 'only write the entry, without starting the server')
      .option('--json', 'print JSON')
      .action(async (name: string, target: readonly string[], options: AddOptions) =>
        done(await addServer(runtime, { name, target }, options)),
      ),
  );
}

/** `assay remove` */
export function removeCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('remove')
      .argument('<server>', 'name of the server in the config file')
      .description('remove a server from the config file')
      .option('--json', 'print JSON')
      .action(async (name: string, options: JsonOptions) => done(await removeServer(runtime, name, options))),
  );
}

interface AddOptions extends JsonOptions {
  /** `NAME=value` */
  readonly env: readonly string[];
  /** `Name: value` */
  readonly header: readonly string[];
  readonly overwrite?: boolean;
  /** False with `--no-start`. */
  readonly start: boolean;
}

/** `assay add NAME URL` and `assay add NAME -- COMMAND ARG…`: writes the entry, then tries the server. */
async function addServer(
  runtime: Runtime,
  { name, target }: { readonly name: string; readonly target: readonly string[] },
  options: AddOptions,
): Promise<number> {
  const entry = entryOf(target, options);
  if (!entry.ok) return printRefusal(entry.error);
  const request: AddRequest = { name, entry: entry.value, overwrite: options.overwrite === true };
  const added = await runtime.addServer(request, options);
  if (!added.ok) return printRefusal(added.error);
  const { path, isReplaced, backup } = added.value;
  const isJson = options.json === true;
  if (!isJson)
    print(formatProse(`${isReplaced ? 'Replaced' : 'Added'} ${quoteText(name)} in ${toPrintable(path)}.`));
  if (!isJson && backup !== undefined) print(`Backup of the previous file: ${toPrintable(backup)}`);
  const tried = options.start ? await tryServer(runtime, { name, isReplaced }, options) : ok(undefined);
  if (!tried.ok) return printFailure(tried.error);
  const status = tried.value;
  if (isJson) printJson({ name, path, replaced: isReplaced, ...(status && { server: status }) });
  else if (status !== undefined) printStatus(status);
  return status === undefined || status.state === 'up' ? EXIT.done : EXIT.unavailable;
}

const URL_START = /^https?:\/\//i;

/** The entry in the format of `mcp.json`. ARGUMENTS_INVALID if the arguments contradict each other. */
function entryOf(
  [first = '', ...args]: readonly string[],
  { env, header }: AddOptions,
): Result<JsonObject, Refusal> {
  const wrong = (reason: string): Result<never, Refusal> => err({ code: 'ARGUMENTS_INVALID', reason });
  const variables = parsePairs('--env', env, '=');
  const headers = parsePairs('--header', header, ':');
  if (!variables.ok) return variables;
  if (!headers.ok) return headers;
  if (URL_START.test(first)) {
    if (args.length > 0) return wrong('a server at a URL has no command; write `assay add NAME URL`');
    if (env.length > 0) return wrong('--env is for commands; a server at a URL takes --header');
    return ok({ url: first, ...(header.length > 0 && { headers: headers.value }) });
  }
  if (header.length > 0) return wrong('--header is for URLs; a command takes --env');
  return ok({
    command: first,
    ...(args.length > 0 && { args }),
    ...(env.length > 0 && { env: variables.value }),
  });
}

type Tried = Result<ServerStatus | undefined, CodedProblem | Refusal>;

/** How long a running gateway may take to start a server: its own limit, and the time to read the config. */
const MAX_START_MS = 65_000;
const POLL_INTERVAL_MS = 500;

function pause(waitMs: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, waitMs));
}

async function tryServer(
  runtime: Runtime,
  { name, isReplaced }: { readonly name: string; readonly isReplaced: boolean },
  options: AddOptions,
): Promise<Tried> {
  const api = await runtime.openApi(options, printError);
  const query = { server: name, refresh: 'true' };
  const deadlineMs = performance.now() + MAX_START_MS;
  const start = async (): Promise<Tried> => {
    // A running gateway may not have read the edited config yet.
    if (isReplaced) await pause(POLL_INTERVAL_MS);
    for (;;) {
      const read = await api.send<CatalogReport>({ method: 'GET', path: '/catalog', query });
      if (!read.ok) return read;
      const [status] = read.value.servers;
      const isSettled = status !== undefined && status.state !== 'starting';
      if (isSettled || performance.now() > deadlineMs) return ok(status);
      await pause(POLL_INTERVAL_MS);
    }
  };
  try {
    return await withProgress(`starting ${name}`, start);
  } finally {
    await api.close();
  }
}

function printStatus(status: ServerStatus): void {
  const { name, state, tools, cause, causeCode } = status;
  if (state === 'up') {
    print(
      `Ready: ${formatCount(tools ?? 0, 'tool')}. \`assay tools ${quoteShellArgument(name)}\` lists them.`,
    );
    return;
  }
  const isTerminal = process.stderr.isTTY;
  const why = cause === undefined ? 'it has not answered yet' : toPrintable(cause);
  printError(formatProse(`It does not work yet: ${why}.`, { isTerminal }));
  const remedy = causeCode === undefined ? '' : ` ${toPrintable(getRemedy(causeCode))}`;
  printError(
    formatProse(`next:${remedy} Then run \`${toPrintable(`assay tools ${quoteShellArgument(name)}`)}\`.`, {
      isTerminal,
    }),
  );
}

/** `assay remove NAME`: removes the server from the config file and names the toolsets that contain its tools. */
async function removeServer(runtime: Runtime, name: string, options: JsonOptions): Promise<number> {
  const removed = await runtime.removeServer(name, options);
  if (!removed.ok) return printRefusal(removed.error);
  return withApi(runtime, options, async (api) => {
    const toolsets = await listAll<Toolset>(api, '/toolsets', { name: 'toolsets' });
    if (!toolsets.ok) return toolsets;
    const affected = toolsets.value.flatMap(({ name: toolset, tools: members }) => {
      const tools = members.map(({ namespacedName }) => namespacedName);
      const ofServer = tools.filter((tool) => tool.startsWith(`${name}.`));
      return ofServer.length === 0 ? [] : [{ toolset, tools: ofServer }];
    });
    const { path } = removed.value;
    if (options.json === true) printJson({ name, path, toolsets: affected });
    else {
      print(formatProse(`Removed ${quoteText(name)} from ${toPrintable(path)}.`));
      for (const { toolset, tools } of affected)
        printError(
          formatProse(
            `note: the toolset ${quoteText(toolset)} has ${formatCount(tools.length, 'tool')} of it, not served until a server of this name is back. \`${toPrintable(`assay toolset remove ${toolset} ${quoteShellArgument(tools[0] ?? '')}`)}${tools.length > 1 ? ' …' : ''}\` takes them out.`,
            { isTerminal: process.stderr.isTTY },
          ),
        );
    }
    return toolsets;
  });
}
