import { Command, InvalidArgumentError } from 'commander';
import { resolve } from 'node:path';
import { EXIT } from '../../core/errors.ts';
import { getGapRemedy, formatGap } from '../../core/sandbox.ts';
import { getSourceKind } from '../../core/sources/source-kinds.ts';
import { formatMembers } from '../../core/whole-server.ts';
import type { ServeOptions } from '../../core/command-options.ts';
import type { Catalog } from '../../gateway/catalog/catalog.ts';
import { type Done, withConfig } from './common-options.ts';
import { offerToBegin } from './begin.ts';
import { printRefusal, print, printError, formatProse, style } from './output.ts';
import type { OpenServe, Runtime } from './runtime.ts';
import type { SandboxPort } from './sandbox.ts';
import { formatCatalogTable, listStartingServers } from './servers-table.ts';

/** `assay serve` */
export function serveCommand(runtime: Runtime, done: Done): Command {
  return withConfig(
    new Command('serve')
      .description('serve all configured servers at one HTTP endpoint')
      .option('--host <address>', 'address to listen on', '127.0.0.1')
      .option('--port <number>', 'port to listen on; 0 selects a free port', parsePort, 4444)
      .action(async (options: ServeOptions) => done(await serve(runtime, options))),
  );
}

function parsePort(text: string): number {
  const port = Number(text);
  if (!/^\d{1,5}$/.test(text) || port > 65_535)
    throw new InvalidArgumentError('A port is a number from 0 to 65535.');
  return port;
}

/** `assay serve`: prints its address, the servers and the client configuration, then serves until stopped. */
export async function serve(runtime: Runtime, options: ServeOptions): Promise<number> {
  const opened = await runtime.openServe(options);
  if (!opened.ok) {
    const exit = printRefusal(opened.error);
    await offerToBegin(runtime, options);
    return exit;
  }
  const { url, catalog, configPath, needsToken, adminTokenPath, equipped, hasModes } = opened.value;
  const endpoint = `${url}/mcp`;
  print(`${style.bold(`Assay ${runtime.version}`)} serves ${configPath}\n`);
  print(`  endpoint  ${style.cyan(endpoint)}\n  health    ${url}/health`);
  print(`  REST API  ${url}/docs\n            ${tokenLine(adminTokenPath)}`);
  await printPages(opened.value);
  const stopped = runtime.untilStopped();
  const isStopped = await Promise.race([catalog.settled().then(() => false), stopped.then(() => true)]);
  if (!isStopped) {
    print(formatCatalogTable(catalog));
    await printSandboxGap(runtime, catalog);
    print(
      `\n${exposed(url, equipped(), hasModes)
        .split('\n')
        .map((line) => formatProse(line))
        .join('\n')}`,
    );
    const command = [...runtime.ownCommand, 'stdio', '--attach', '--config', configPath, ...homeOf(options)];
    print(formatClientLines({ endpoint, needsToken, command }));
    if (listStartingServers(catalog).length > 0) {
      await Promise.race([Promise.all(catalog.servers.map((server) => server.settled())), stopped]);
      if (listStartingServers(catalog).length === 0) print(formatCatalogTable(catalog));
    }
    await stopped;
  }
  // Only at a terminal: a pipe without a reader would delay the exit.
  if (process.stderr.isTTY)
    printError('Stopping: waiting for open requests. Press Ctrl+C again to exit immediately.');
  await opened.value.close();
  return EXIT.done;
}

/** The link is printed only at a terminal: other output may be stored and read by others while the link is valid. */
async function printPages({ url, signInLink }: OpenServe): Promise<void> {
  const link = process.stderr.isTTY ? await signInLink() : undefined;
  print(`  pages     ${url}/admin`);
  if (link?.ok === true) printError(`            sign in once within 10 minutes:\n${link.value.url}\n`);
  else print('            `assay token link` prints a link that signs you in\n');
}

/** Says what to install if servers are configured with a sandbox that this machine cannot enforce. */
async function printSandboxGap(runtime: SandboxPort, { servers }: Catalog): Promise<void> {
  const commands = servers.flatMap(({ spec: { name, transport } }) => {
    const { sandbox, sandboxAccepts = [] } = getSourceKind(transport).command(transport) ?? {};
    return sandbox === undefined ? [] : [{ name, mayUseNode: sandboxAccepts.includes('node_permission') }];
  });
  if (commands.length === 0) return;
  const support = await runtime.sandboxSupport();
  if (support.canEnforce) return;
  const listed = (mayUseNode: boolean): string =>
    commands.flatMap((one) => (one.mayUseNode === mayUseNode ? [one.name] : [])).join(', ');
  const [refused, onNode] = [listed(false), listed(true)];
  const why = `as none can start: ${formatGap(support.gap)}. ${getGapRemedy(support.gap)}`;
  if (refused !== '')
    print(formatProse(`\nCalls that must run in a sandbox of ${refused} are refused, ${why}`));
  if (onNode !== '')
    print(
      formatProse(
        `\nRead-only tools of ${onNode} run under Node's permission model instead of a sandbox, which is weaker, ${why}`,
      ),
    );
}

/** Shows where the REST API's token is stored, never the token. */
function tokenLine(path: string | undefined): string {
  return path === undefined
    ? 'with a token that has the scope admin or read; create one with `assay token create NAME --scope admin`'
    : `with the token in ${path}`;
}

function homeOf({ home }: ServeOptions): readonly string[] {
  return home === undefined ? [] : ['--home', resolve(home)];
}

/** Describes what clients of `/mcp` see and how to change it. */
function exposed(url: string, toolset: ReturnType<OpenServe['equipped']>, hasModes: boolean): string {
  if (toolset !== undefined)
    return (
      `/mcp shows the toolset "${toolset.name}" with ${formatMembers(toolset.tools)}; ${url}/mcp/all shows all tools.\n` +
      '`assay toolset equip NAME` equips another one, `assay toolset unequip` none.'
    );
  const seen = hasModes ? 'the configuration tools alone' : 'the configuration tools beside all tools';
  return (
    `No toolset is equipped, so /mcp shows ${seen}; ${url}/mcp/all shows all tools.\n` +
    'Ask your model to build a toolset, or run `assay toolset create NAME SERVER.TOOL… --equip`.'
  );
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
