import { join } from 'node:path';
import type { ConfigEnvironment } from '../adapters/config/load-config.ts';
import { locateConfig } from '../adapters/config/locate-config.ts';
import type { Confine } from '../adapters/sandbox/confine.ts';
import type { SandboxSupport, TwinRights } from '../core/sandbox.ts';
import type { Command } from '../core/sources/source-kinds.ts';

/** Confines servers, and keeps Assay's home and config file from them. Loaded with the first server in a sandbox. */
export function confineIn(
  home: string,
  config: string | undefined,
  configEnvironment: ConfigEnvironment,
): Confine {
  const { path } = locateConfig({ flag: config, ...configEnvironment });
  const preload = join(import.meta.dirname, 'confined-server.js');
  return async (...given) => {
    const { confineWith } = await import('../adapters/sandbox/confine.ts');
    return confineWith([home, path], { preload })(...given);
  };
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
export async function sandboxSupport(twin?: Twin): Promise<SandboxSupport> {
  const { probeEnforcement } = await import('../adapters/sandbox/enforcement.ts');
  const found = await probeEnforcement();
  if (found.ok) return { canEnforce: true, lacks: found.value.lacks };
  const gap = found.error;
  if (twin === undefined) return { canEnforce: false, gap };
  const { confine, command, rights } = twin;
  const isOnNode = (await confine(command, { rights, namedReaches: new Set() })).ok;
  return { canEnforce: false, gap, isOnNode };
}
