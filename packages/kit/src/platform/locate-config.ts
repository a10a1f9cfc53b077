import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { expandHome, locateHome, type Surroundings } from './locate-home.ts';

/** A config file and how it was chosen, for messages. */
export interface ConfigLocation {
  /** Absolute. The file may not exist. */
  readonly path: string;
  readonly origin: '--config' | 'ASSAY_CONFIG' | 'ASSAY_HOME' | 'default';
}

export interface ConfigHints extends Surroundings {
  /** The value of `--config`. */
  readonly flag: string | undefined;
}

/** `--config`, else `ASSAY_CONFIG`, else `mcp.json` in `ASSAY_HOME` (`~/.assay` by default). Empty means unset. */
export function locateConfig({ flag, env, cwd, home }: ConfigHints): ConfigLocation {
  const at = (path: string): string => resolve(cwd, expandHome(path, home));
  if (flag !== undefined) return { path: at(flag), origin: '--config' };
  const { ASSAY_CONFIG: config = '', ASSAY_HOME: assayHome = '' } = env;
  if (config !== '') return { path: at(config), origin: 'ASSAY_CONFIG' };
  const folder = locateHome({ env, cwd, home });
  return { path: join(folder, 'mcp.json'), origin: assayHome === '' ? 'default' : 'ASSAY_HOME' };
}

/** The environment of this process; `--home` takes precedence over the variable. */
export function toConfigEnvironment({
  home,
  environment: env = process.env,
}: {
  readonly home?: string | undefined;
  readonly environment?: Surroundings['env'] | undefined;
}): Surroundings {
  return {
    env: home === undefined ? env : { ...env, ASSAY_HOME: home },
    cwd: process.cwd(),
    home: homedir(),
  };
}
