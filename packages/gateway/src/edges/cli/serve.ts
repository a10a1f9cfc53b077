import { Command, InvalidArgumentError } from 'commander';
import { resolve } from 'node:path';
import { EXIT } from '../../core/errors.ts';
import { getGapRemedy, formatGap } from '@assay-mcp/sandbox/support';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import { formatMembers } from '../../core/whole-server.ts';
import type { ServeOptions } from '../../core/command-options.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import { listServerStatuses } from '../../gateway/catalog/server-status.ts';
import { type Done, withConfig } from './common-options.ts';
import { offerToBegin } from './begin.ts';
import { print, printError, printLine, formatProse, style } from '@assay-mcp/kit/platform/terminal/print';
import { printRefusal } from './output.ts';
import type { OpenServe, Runtime } from './runtime.ts';
import type { SandboxPort } from './sandbox.ts';
import { attendTerminal, formatServeLines, formatServersLine } from './serve-terminal.ts';
import { formatCatalogTable, listStartingServers } from './servers-table.ts';

/** `assay serve` */
export function serveCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('serve')
      .description('serve all configured servers at one HTTP endpoint')
      .option('--host <address>', 'address to listen on', '127.0.0.1')
      .option('--port <number>', 'port to listen on; 0 selects a free port', parsePort, 4444)
      .option(
        '--on-demand',
        'listen at the socket of the home only, and end when idle; started by `stdio --attach`',
      )
      .option('--verbose', 'show the log at a terminal too; it is always in the file')
      .action(async (options: ServeOptions) =>
        done(await (options.onDemand === true ? serveOnDemand : serve)(runtime, options)),
      ),
  );
}

export function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

/** `assay serve --on-demand`: prints nothing, as nobody reads it; its log is in the home. */
async function serveOnDemand(runtime: Runtime, options: ServeOptions): Promise<number> {
  const opened = await runtime.openServe(options);
  if (!opened.ok) return printRefusal(opened.error);
  await Promise.race([runtime.untilStopped(), opened.value.ended]);
  await opened.value.close();
  return EXIT.done;
}

/** `assay serve`: says what it serves and where, then serves until stopped. */
export async function serve(runtime: Runtime, options: ServeOptions): Promise<number> {
  const isAttended = process.stdin.isTTY && process.stdout.isTTY;
  // A redirected log was asked for.
  const hidesLog = isAttended && process.stderr.isTTY && options.verbose !== true;
  let stopping: Promise<void> | undefined;
  const untilStopped = (): Promise<void> => (stopping ??= runtime.untilStopped());
  // The only sign of life while the log goes to its file.
  const onWaiting = (): void => (hidesLog ? printError(WAITING) : undefined);
  const opened = await runtime.openServe({ ...options, hidesLog, untilStopped, onWaiting });
  if (!opened.ok) {
    if (opened.error.code === 'SHUTTING_DOWN') return EXIT.done;
    const exit = printRefusal(opened.error);
    await offerToBegin(runtime, options);
    return exit;
  }
  const stopped = Promise.race([untilStopped(), opened.value.ended]);
  const command = [
    ...runtime.ownCommand,
    ...['stdio', '--attach', '--config', opened.value.configPath],
    ...homeOf(options),
  ];
  const serving = { opened: opened.value, stopped, command };
  await (isAttended ? serveAttended : servePlain)(runtime, serving);
  return EXIT.done;
}

const WAITING =
  'The database cannot be used yet; waiting for it. Press Ctrl+C to stop. `assay logs` says why.';

interface Serving {
  readonly opened: OpenServe;
  readonly stopped: Promise<unknown>;
  /** Starts `assay stdio`. */
  readonly command: readonly string[];
}

/** For a program, a file or a service manager: all that a user may need, and the log on stderr. */
async function servePlain(runtime: Runtime, { opened, stopped, command }: Serving): Promise<void> {
  const { url, catalog, configPath, needsToken, adminTokenPath } = opened;
  const endpoint = `${url}/mcp`;
  print(`${style.bold(`Assay ${runtime.version}`)} serves ${configPath}\n`);
  print(`  endpoint  ${style.cyan(endpoint)}\n  health    ${url}/health`);
  print(`  REST API  ${url}/docs\n            ${tokenLine(adminTokenPath)}`);
  await printPages(opened);
  const isStopped = await Promise.race([catalog.settled().then(() => false), stopped.then(() => true)]);
  if (!isStopped) {
    print(formatCatalogTable(catalog));
    await printSandboxGap(runtime, catalog);
    print(`\n${formatExposed(opened)}`);
    print(formatClientLines({ endpoint, needsToken, command }));
    if (listStartingServers(catalog).length > 0) {
      await Promise.race([Promise.all(catalog.servers.map((server) => server.settled())), stopped]);
      if (listStartingServers(catalog).length === 0) print(formatCatalogTable(catalog));
    }
    await stopped;
  }
  // Only at a terminal: a pipe without a reader would delay the exit.
  if (process.stderr.isTTY) printError(STOPPING);
  await opened.close();
}

const STOPPING = 'Stopping: waiting for open requests. Press Ctrl+C again to exit immediately.';

/** The link is printed only at a terminal: other output may be stored and read by others while the link is valid. */
async function printPages({ url, signInLink }: OpenServe): Promise<void> {
  const link = process.stderr.isTTY ? await signInLink() : undefined;
  print(`  pages     ${url}/admin`);
  if (link?.ok === true) printError(`            sign in once within 10 minutes:\n${link.value.url}\n`);
  else print('            `assay token link` prints a link that signs you in\n');
}

/** Time in ms after which closing is announced. */
const SLOW_CLOSE_MS = 300;

/** For a user at a terminal: eight lines at most, and keys for the rest. */
async function serveAttended(runtime: Runtime, { opened, stopped, command }: Serving): Promise<void> {
  const { url, catalog, configPath, logPath, needsToken } = opened;
  const clientLines = formatClientLines({ endpoint: `${url}/mcp`, needsToken, command });
  const help = async (): Promise<string> => {
    const gap = await describeSandboxGap(runtime, catalog);
    return [...describeAddresses(opened), '', formatExposed(opened), ...gap].join('\n');
  };
  const columns = process.stdout.columns || 80;
  const facts = { configPath, endpoint: `${url}/mcp`, exposed: describeExposed(opened), logPath };
  for (const line of formatServeLines({ ...runtime, ...facts }, columns)) printLine(line);
  const release = attendTerminal(runtime, { opened, help, clientLines });
  const printServers = (): void => printLine(formatServersLine(listServerStatuses(catalog), columns));
  try {
    const isStopped = await Promise.race([catalog.settled().then(() => false), stopped.then(() => true)]);
    if (!isStopped) {
      printServers();
      if ((await describeSandboxGap(runtime, catalog)).length > 0)
        printLine('This machine cannot enforce the sandbox of some servers; press h.');
      if (listStartingServers(catalog).length > 0) {
        await Promise.race([Promise.all(catalog.servers.map((server) => server.settled())), stopped]);
        if (listStartingServers(catalog).length === 0) printServers();
      }
      await stopped;
    }
    const announcing = setTimeout(() => printLine(STOPPING), SLOW_CLOSE_MS);
    await opened.close().finally(() => clearTimeout(announcing));
  } finally {
    release();
  }
  printLine('Assay has stopped.');
}

function describeAddresses({ url, adminTokenPath, configPath, logPath }: OpenServe): readonly string[] {
  return [
    `  endpoint  ${url}/mcp`,
    `  health    ${url}/health`,
    `  pages     ${url}/admin`,
    `  REST API  ${url}/docs`,
    `            ${tokenLine(adminTokenPath)}`,
    `  config    ${configPath}`,
    `  log       ${logPath}`,
  ];
}

/** Says what to install if servers are configured with a sandbox that this machine cannot enforce. */
async function describeSandboxGap(runtime: SandboxPort, { servers }: Catalog): Promise<readonly string[]> {
  const commands = servers.flatMap(({ spec: { name, transport } }) => {
    const { sandbox, sandboxAccepts = [] } = getSourceKind(transport).command(transport) ?? {};
    return sandbox === undefined ? [] : [{ name, mayUseNode: sandboxAccepts.includes('node_permission') }];
  });
  if (commands.length === 0) return [];
  const support = await runtime.sandboxSupport();
  if (support.canEnforce) return [];
  const listed = (mayUseNode: boolean): string =>
    commands.flatMap((one) => (one.mayUseNode === mayUseNode ? [one.name] : [])).join(', ');
  const [refused, onNode] = [listed(false), listed(true)];
  const why = `as none can start: ${formatGap(support.gap)}. ${getGapRemedy(support.gap)}`;
  const sentences = [
    ...(refused === '' ? [] : [`Calls that must run in a sandbox of ${refused} are refused, ${why}`]),
    ...(onNode === ''
      ? []
      : [
          `Read-only tools of ${onNode} run under Node's permission model instead of a sandbox, which is weaker, ${why}`,
        ]),
  ];
  return sentences.map((sentence) => formatProse(`\n${sentence}`));
}

async function printSandboxGap(runtime: SandboxPort, catalog: Catalog): Promise<void> {
  for (const sentence of await describeSandboxGap(runtime, catalog)) print(sentence);
}

/** Shows where the REST API's token is stored, never the token. */
function tokenLine(path: string | undefined): string {
  return path === undefined
    ? 'with a token that has the scope admin or read; create one with `assay token create NAME --scopes admin`'
    : `with the token in ${path}`;
}

function homeOf({ home }: ServeOptions): readonly string[] {
  return home === undefined ? [] : ['--home', resolve(home)];
}

/** What clients of `/mcp` see, in a few words. */
function describeExposed({ equipped, hasModes }: OpenServe): string {
  const toolset = equipped();
  if (toolset !== undefined) return `the toolset "${toolset.name}" with ${formatMembers(toolset.tools)}`;
  return hasModes
    ? 'the configuration tools, as no toolset is equipped'
    : 'all tools and the configuration tools';
}

/** Describes what clients of `/mcp` see and how to change it. */
function formatExposed(opened: OpenServe): string {
  const { url, equipped, hasModes } = opened;
  const toolset = equipped();
  const seen = hasModes ? 'the configuration tools alone' : 'the configuration tools beside all tools';
  const sentences =
    toolset === undefined
      ? [
          `No toolset is equipped, so /mcp shows ${seen}; ${url}/mcp/all shows all tools.`,
          'Ask your model to build a toolset, or run `assay toolset create NAME SERVER.TOOL… --equip`.',
        ]
      : [
          `/mcp shows ${describeExposed(opened)}; ${url}/mcp/all shows all tools.`,
          '`assay toolset equip NAME` equips another one, `assay toolset unequip` none.',
        ];
  return sentences.map((line) => formatProse(line)).join('\n');
}

interface ClientLines {
  readonly endpoint: string;
  readonly needsToken: boolean;
  /** Starts `assay stdio`, which needs no token. */
  readonly command: readonly string[];
}

/** Configuration for common clients, in the format of each. */
export function formatClientLines({
  endpoint,
  needsToken,
  command: [command = '', ...args],
}: ClientLines): string {
  const headers = needsToken ? { headers: { Authorization: 'Bearer <token>' } } : {};
  const claude = `claude mcp add --transport http assay ${endpoint}`;
  const flag = '--header "Authorization: Bearer <token>"';
  const code = jsonLines({ name: 'assay', type: 'http', url: endpoint, ...headers });
  const [first = '', ...more] = code;
  const others: readonly (readonly [client: string, lines: readonly string[]])[] = [
    ['Claude Code', needsToken ? [`${claude} \\`, `  ${flag}`] : [claude]],
    [
      'VS Code',
      more.length === 0
        ? ['code --add-mcp \\', `  '${first}'`]
        : [`code --add-mcp '${first}`, ...more.with(-1, `${more.at(-1) ?? ''}'`)],
    ],
    ['Cursor', jsonLines({ mcpServers: { assay: { url: endpoint, ...headers } } })],
    ['Claude Desktop', jsonLines({ mcpServers: { assay: { command, args } } })],
  ];
  const token = 'Replace <token> with the output of `assay token create NAME`, one per client.';
  return [
    '\nTo use it, run `assay connect CLIENT`, or paste one of these:',
    ...others.map(([client, lines]) =>
      [`\n${style.bold(client)}`, ...lines.map((line) => `  ${line}`)].join('\n'),
    ),
    ...(needsToken ? [`\n${token}`] : []),
    '',
  ].join('\n');
}

/** Widest line of the settings to paste: a line that a terminal wraps is hard to copy. */
const MAX_JSON_WIDTH = 74;

function jsonLines(value: object): readonly string[] {
  const line = JSON.stringify(value);
  return line.length <= MAX_JSON_WIDTH ? [line] : JSON.stringify(value, undefined, 2).split('\n');
}
