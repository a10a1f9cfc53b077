import { Command } from 'commander';
import type { CatalogReport, ServerStatus } from '../../api/status.ts';
import { isReady } from '../../core/supervision.ts';
import { findMissingReason } from '../../gateway/catalog/server-status.ts';
import type { CodedProblem } from '../../api/problem.ts';
import type { Toolset } from '../../api/toolset.ts';
import type { AddRequest } from '../../core/client-configs.ts';
import { getRemedy } from '../../core/cause.ts';
import { formatCount } from '@assay-mcp/kit/counted';
import { EXIT } from '../../core/errors.ts';
import type { JsonObject } from '@assay-mcp/kit/json-object';
import { toPrintable } from '@assay-mcp/kit/printable';
import type { Refusal } from '../../core/refusal.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import { quoteShellArgument } from '@assay-mcp/kit/shell-argument';
import { type Done, withConfig, type JsonOptions } from './common-options.ts';
import { print, printError, printJson, formatProse, quoteText } from '@assay-mcp/kit/platform/terminal/print';
import { printFailure, printRefusal } from './output.ts';
import { parsePairs } from '@assay-mcp/kit/platform/terminal/options';
import { withProgress } from '@assay-mcp/kit/platform/terminal/progress';
import type { Runtime } from './runtime.ts';
import { listAll, withApi } from './with-api.ts';

/** `assay add` */
export function addCommand(runtime: Runtime, done: Done, argv: readonly string[] = []): Command {
  const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
  return withConfig(
    new Command('add')
      // So that the options of a command without `--` before it lead to advice.
      .allowUnknownOption()
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
        done(await addServer(runtime, { name, target, argv }, options)),
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

interface AddLine {
  readonly name: string;
  readonly target: readonly string[];
  /** The whole command line. */
  readonly argv: readonly string[];
}

/** Without `--`, an option of the command would be taken for one of Assay. */
function findStrayOption(
  argv: readonly string[],
  { name, target: [command = '', ...args] }: Pick<AddLine, 'name' | 'target'>,
): string | undefined {
  if (argv.includes('--')) return undefined;
  const stray = [name, command, ...args].find((word) => word.startsWith('-'));
  if (stray === undefined) return undefined;
  const isOfCommand = args.includes(stray) && !URL_START.test(command);
  if (!isOfCommand) return `unknown option ${JSON.stringify(stray)}`;
  const line = [name, '--', command, ...args].map(quoteShellArgument).join(' ');
  return `put \`--\` before the command, so that ${stray} is its option: assay add ${line}`;
}

/** `assay add NAME URL` and `assay add NAME -- COMMAND ARG…`: writes the entry, then tries the server. */
async function addServer(
  runtime: Runtime,
  { name, target, argv }: AddLine,
  options: AddOptions,
): Promise<number> {
  const stray = findStrayOption(argv, { name, target });
  if (stray !== undefined) return printRefusal({ code: 'ARGUMENTS_INVALID', reason: stray });
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
  const tried = options.start
    ? await tryServer(runtime, { name, isReplaced, waitsFor: nameWait(entry.value) }, options)
    : ok(undefined);
  if (!tried.ok) return printFailure(tried.error);
  const status = tried.value;
  if (isJson) printJson({ name, path, replaced: isReplaced, ...(status && { server: status }) });
  else if (status !== undefined) printStatus(status);
  return status === undefined || isReady(status) ? EXIT.done : EXIT.unavailable;
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

interface Trial {
  readonly name: string;
  readonly isReplaced: boolean;
  /** What a start may take so long for. */
  readonly waitsFor: string;
}

/** After this many ms the user is told what is waited for. */
const TELL_AFTER_MS = 5_000;

/** Programs that first fetch what they run. */
const FETCHING = /(?:^|[\\/])(?:npx|bunx|pnpm|uvx|uv|pipx|docker|podman)(?:\.\w+)?$/;

function nameWait({ command, url }: JsonObject): string {
  if (typeof url === 'string') return `waiting for ${URL.parse(url)?.host ?? 'its address'}`;
  const program = String(command);
  return FETCHING.test(program)
    ? `${program} may be fetching it first`
    : `waiting for ${program} to answer on stdout`;
}

async function tryServer(
  runtime: Runtime,
  { name, isReplaced, waitsFor }: Trial,
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
    return await withProgress(`starting ${name}`, async ({ say }) => {
      const waiting = setTimeout(() => say(`${name} has not answered yet; ${waitsFor}`), TELL_AFTER_MS);
      return start().finally(() => clearTimeout(waiting));
    });
  } finally {
    await api.close();
  }
}

function printStatus(status: ServerStatus): void {
  const { name, tools, causeCode } = status;
  if (isReady(status)) {
    print(`Up: ${formatCount(tools ?? 0, 'tool')}. \`assay tools ${quoteShellArgument(name)}\` lists them.`);
    return;
  }
  const isTerminal = process.stderr.isTTY;
  printError(formatProse(toPrintable(`${findMissingReason(status) ?? ''}.`), { isTerminal }));
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
