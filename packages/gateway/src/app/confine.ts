import { join } from 'node:path';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import { locateConfig } from '@assay-mcp/kit/platform/locate-config';
import type { Confine, ConfineContext } from '@assay-mcp/sandbox/confine';
import type { DeclaredStore } from '@assay-mcp/sandbox/declared-store';
import type { SandboxSupport } from '@assay-mcp/sandbox/support';
import type { TwinRights } from '@assay-mcp/sandbox/rights';
import type { ServerSpec } from '../core/server-spec.ts';
import { getSourceKind } from '../core/sources/source-kinds.ts';
import type { Command } from '@assay-mcp/sandbox/rights';
import { locateKeyFile } from './environment.ts';

export interface ConfineOptions {
  /** The value of `--config`. */
  readonly config: string | undefined;
  readonly configEnvironment: ConfigEnvironment;
  /** All servers. What they run and read is protected from servers that may write. */
  readonly servers?: () => readonly ServerSpec[];
}

/** Confines servers, and keeps Assay's home and config file from them. Loaded with the first server in a sandbox. */
export function confineIn(home: string, { config, configEnvironment, servers }: ConfineOptions): Confine {
  const { path } = locateConfig({ flag: config, ...configEnvironment });
  const preload = join(import.meta.dirname, 'confined-server.js');
  return async (...given) => {
    const { confineWith } = await import('@assay-mcp/sandbox/confine');
    const { findForeignFiles } = await import('./foreign-files.ts');
    const { recall, allRoots } = await openDeclared(home);
    const others: ConfineContext['others'] = (command, writable) =>
      findForeignFiles({ command, writable, servers: servers?.() ?? [], configEnvironment });
    const keyFile = locateKeyFile(configEnvironment);
    const hidden = [home, path, ...(keyFile === undefined ? [] : [keyFile])];
    return confineWith(hidden, { preload, recall, others, otherRoots: allRoots })(...given);
  };
}

/**
 * Stores where the paths lead that servers with a sandbox declare, unless that is stored already. To be called before
 * any of their processes runs.
 */
export async function declarePaths(home: string, commands: readonly Command[]): Promise<void> {
  for (const command of commands.filter(({ sandbox }) => sandbox !== undefined))
    // A fault is reported when a process is to be confined.
    await (await openDeclared(home)).recall(command);
}

/** The commands that start servers. */
export function listCommands(servers: readonly Pick<ServerSpec, 'transport'>[]): readonly Command[] {
  return servers.flatMap(({ transport }) => getSourceKind(transport).command(transport) ?? []);
}

/** What entries of this home declare. */
export async function openDeclared(home: string): Promise<DeclaredStore> {
  const { openDeclaredStore, DECLARED_FILE } = await import('@assay-mcp/sandbox/declared-store');
  return openDeclaredStore(join(home, DECLARED_FILE));
}

/** The twin of a server. */
export interface Twin {
  readonly confine: Confine;
  readonly command: Command;
  readonly rights: TwinRights;
}

/**
 * Whether this machine can confine servers, tested once per process; if not, whether it can confine this twin
 * otherwise.
 */
export async function probeSandboxSupport(twin?: Twin): Promise<SandboxSupport> {
  const { probeEnforcement } = await import('@assay-mcp/sandbox/enforcement');
  const found = await probeEnforcement();
  if (found.ok) return { canEnforce: true, lacks: found.value.lacks };
  const gap = found.error;
  if (twin === undefined) return { canEnforce: false, gap };
  const { confine, command, rights } = twin;
  const isOnNode = (await confine(command, { rights, namedReaches: new Set() })).ok;
  return { canEnforce: false, gap, isOnNode };
}
