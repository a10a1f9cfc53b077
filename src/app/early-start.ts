import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type Config, loadConfig } from '../adapters/config/load-config.ts';
import { locateConfig, toConfigEnvironment } from '../adapters/config/locate-config.ts';
import { locateHome } from '../adapters/config/locate-home.ts';
import { findServe, SERVE_FILE } from '../adapters/store/running-serve.ts';
import type { Refusal } from '../core/refusal.ts';
import type { Result } from '../core/result.ts';
import type { ServerSpec } from '../core/server-spec.ts';
import type { Child } from '../platform/child.ts';
import { isThere } from '../platform/files.ts';
import { PLAIN_LAUNCHER } from '../platform/launcher.ts';
import { pause } from '../platform/pause.ts';
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

/**
 * Starts the processes of the config's servers at once. Most of the time until the first list is spent starting them,
 * and the rest of Assay loads meanwhile. Undefined if that would not help, because the lists are cached.
 */
export async function startEarly(options: StdioOptions): Promise<EarlyStart | undefined> {
  const configEnvironment = toConfigEnvironment(options);
  const home = locateHome(configEnvironment);
  if (isThere(join(home, 'catalog.json'))) return undefined;
  if (options.attach === true && (await findServe(join(home, SERVE_FILE))) !== undefined) return undefined;
  const config = loadConfig(
    locateConfig({ flag: options.config, ...configEnvironment }).path,
    configEnvironment,
  );
  const children = new Map<ServerSpec, Child>();
  if (config.ok) await declarePaths(home, listCommands(config.value.servers));
  for (const spec of config.ok ? config.value.servers : []) {
    const kind = getSourceKind(spec.transport);
    const command = kind.command(spec.transport);
    if (command !== undefined && command.sandbox !== 'strict' && !kind.isConfined)
      children.set(spec, PLAIN_LAUNCHER.launch(command));
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

/** The options of a plain `assay stdio`. Undefined if the command line must parse, reject or explain the arguments. */
export function parseStdioOptions(argv: readonly string[]): StdioOptions | undefined {
  const [, , command, ...args] = argv;
  if (command !== 'stdio') return undefined;
  try {
    const text = { type: 'string' } as const;
    const flag = { type: 'boolean' } as const;
    const options = { config: text, home: text, attach: flag, all: flag, toolset: text } as const;
    const { values } = parseArgs({ args, options, allowPositionals: false });
    return values.all === true && values.toolset !== undefined ? undefined : values;
  } catch {
    return undefined;
  }
}
