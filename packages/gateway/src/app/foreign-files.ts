import { delimiter, dirname, isAbsolute } from 'node:path';
import { homedir } from 'node:os';
import process, { argv, execPath } from 'node:process';
import { CLIENTS } from '../adapters/config/client-configs/clients.ts';
import { findProjectFile, listUserFiles } from '../adapters/config/client-configs/locate-client.ts';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import { getSearchPath } from '@assay-mcp/sandbox/declared-paths';
import { findProgramFiles } from '@assay-mcp/sandbox/program-files';
import { listCompanionFolders } from './companion.ts';
import type { ServerSpec, Transport } from '../core/server-spec.ts';
import { getSourceKind } from '../core/sources/source-kinds.ts';
import type { Command } from '@assay-mcp/sandbox/rights';

export interface ForeignFilesOptions {
  /** The server that may write. */
  readonly command: Command;
  /** The folders that it may change. */
  readonly writable: readonly string[];
  /** All servers. */
  readonly servers: readonly ServerSpec[];
  readonly configEnvironment: ConfigEnvironment;
}

/**
 * Files and folders that others than one server run or read without a sandbox, wherever they are: programs, modules and
 * documents of other entries, Assay itself, the folders of PATH, and the config files of MCP clients, which start programs,
 * too.
 */
export async function findForeignFiles(options: ForeignFilesOptions): Promise<readonly string[]> {
  const { command, writable, servers, configEnvironment } = options;
  // Another entry may run the same program, without a sandbox.
  const own = servers.findIndex(({ transport }) =>
    isSame(getSourceKind(transport).command(transport), command),
  );
  const others = servers.filter((_, index) => index !== own);
  const { env, home } = configEnvironment;
  const machine = { platform: process.platform, env, home };
  const ofEntries = await Promise.all(others.map(({ transport }) => findEntryFiles(transport)));
  const ofClients = CLIENTS.flatMap((client) => [
    ...listUserFiles(client, machine),
    ...writable.flatMap((folder) => findProjectFile(client, folder, machine.platform) ?? []),
  ]);
  const ofAssay = await findProgramFiles({
    ...{ command: execPath, args: argv.slice(1, 2), cwd: '/' },
    ...{ home: homedir(), path: '' },
  });
  const ofPath = (env['PATH'] ?? '').split(delimiter).filter((folder) => isAbsolute(folder));
  return [
    ...new Set([
      ...[
        ...ofEntries.flat(),
        ...ofAssay.readable,
        import.meta.dirname,
        ...listCompanionFolders(configEnvironment),
      ],
      ...[...ofClients.map(({ path }) => path), ...ofPath],
    ]),
  ];
}

function isSame(one: Command | undefined, other: Command): boolean {
  const [a, b] = [one, other].map(
    (command) =>
      command && JSON.stringify([command.command, command.args, command.cwd, command.sandbox, command.roots]),
  );
  return a === b;
}

/** The files that a source runs or reads. */
export async function findEntryFiles(transport: Transport): Promise<readonly string[]> {
  const command = getSourceKind(transport).command(transport);
  const modules = getSourceKind(transport)
    .custom(transport)
    .modules.flatMap(({ path }) => [path, dirname(path)]);
  const documents =
    transport.kind === 'openapi' && isAbsolute(transport.document) ? [transport.document] : [];
  if (command === undefined) return [...modules, ...documents];
  const { readable } = await findProgramFiles({ ...command, home: homedir(), path: getSearchPath(command) });
  return [...readable, ...(command.envFile === undefined ? [] : [command.envFile])];
}
