import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { AppOptions } from '../../core/command-options.ts';
import { expandHome } from './expand.ts';
import type { ConfigSurroundings } from './load-config.ts';

/** A config file and who named it, so that a message can say both. */
export interface ConfigLocation {
  /** Absolute. Whether a file is there is not checked. */
  readonly path: string;
  readonly origin: '--config' | 'ASSAY_CONFIG' | 'ASSAY_HOME' | 'default';
}

export interface ConfigHints {
  /** What `--config` said. */
  readonly flag: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
}

/** `--config`, else `ASSAY_CONFIG`, else `mcp.json` in `ASSAY_HOME`, which is `~/.assay` by default. Empty variables count as unset. */
export function locateConfig({ flag, env, cwd, home }: ConfigHints): ConfigLocation {
  const at = (path: string): string => resolve(cwd, expandHome(path, home));
  if (flag !== undefined) return { path: at(flag), origin: '--config' };
  const { ASSAY_CONFIG: config = '', ASSAY_HOME: assayHome = '' } = env;
  if (config !== '') return { path: at(config), origin: 'ASSAY_CONFIG' };
  const folder = locateHome({ env, cwd, home });
  return { path: join(folder, 'mcp.json'), origin: assayHome === '' ? 'default' : 'ASSAY_HOME' };
}

/** Where Assay keeps what it learns: `ASSAY_HOME`, else `~/.assay`. */
export function locateHome({ env, cwd, home }: Omit<ConfigHints, 'flag'>): string {
  const { ASSAY_HOME: given = '' } = env;
  return given === '' ? join(home, '.assay') : resolve(cwd, expandHome(given, home));
}

/** Of this process; `--home` comes before the variable wherever that is asked for. */
export function surroundings({ home, environment: env = process.env }: AppOptions): ConfigSurroundings {
  return {
    env: home === undefined ? env : { ...env, ASSAY_HOME: home },
    cwd: process.cwd(),
    home: homedir(),
  };
}
