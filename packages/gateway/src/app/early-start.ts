import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { type Config, loadConfig } from '../adapters/config/load-config.ts';
import { launchServer } from '../adapters/upstream/launch-server.ts';
import { locateConfig, toConfigEnvironment } from '@assay-mcp/kit/platform/locate-config';
import { locateHome } from '@assay-mcp/kit/platform/locate-home';
import type { Refusal } from '../core/refusal.ts';
import type { Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../core/server-spec.ts';
import type { Child } from '@assay-mcp/kit/platform/child';
import { isThere } from '@assay-mcp/kit/platform/files';
import { PLAIN_LAUNCHER } from '@assay-mcp/kit/platform/launcher';
import { pause } from '@assay-mcp/kit/platform/pause';
import type { StdioOptions } from '../core/command-options.ts';
import { getSourceKind } from '../core/sources/source-kinds.ts';
import { listCommands, declarePaths } from './confine.ts';

/** Work done before the rest of the program was loaded. */
export interface EarlyStart {
  readonly config: Result<Config, Refusal>;
  /** Returns the process started for a server, once. */
  readonly take: (spec: ServerSpec) => Child | undefined;
  /** Stops the processes that were not taken. */
  readonly end: () => Promise<void>;
}

/** How many processes of servers may be starting at once. */
export function getMaxStarts(): number {
  return Math.max(2, availableParallelism());
}

/**
 * Starts the processes of the config's first servers at once, up to the limit of concurrent starts: most of the time
 * until the first list is spent on that, and the rest of Assay loads meanwhile. Undefined if that would not help, because the lists are cached.
 */
export async function startEarly(options: StdioOptions): Promise<EarlyStart | undefined> {
  const configEnvironment = toConfigEnvironment(options);
  const home = locateHome(configEnvironment);
  if (options.attach === true || isThere(join(home, 'catalog.json'))) return undefined;
  // Which servers a toolset needs is in the store.
  if (options.toolset !== undefined) return undefined;
  const config = loadConfig(
    locateConfig({ flag: options.config, ...configEnvironment }).path,
    configEnvironment,
  );
  const children = new Map<ServerSpec, Child>();
  if (config.ok) await declarePaths(home, listCommands(config.value.servers));
  for (const spec of config.ok ? config.value.servers : []) {
    const kind = getSourceKind(spec.transport);
    const command = kind.command(spec.transport);
    if (
      command !== undefined &&
      children.size < getMaxStarts() &&
      spec.references === undefined &&
      command.sandbox !== 'strict' &&
      !kind.isConfined
    )
      children.set(spec, launchServer(spec, command, { launcher: PLAIN_LAUNCHER }));
  }
  // Let the reaper start first; loading the rest would delay it.
  if (children.size > 0) await pause(1);
  return {
    config,
    take: (spec) => {
      const child = children.get(spec);
      children.delete(spec);
      return child;
    },
    end: async () => {
      await Promise.all([...children.values()].map((child) => child.end()));
    },
  };
}
