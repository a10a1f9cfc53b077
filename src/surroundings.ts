import { homedir } from 'node:os';
import type { ConfigSurroundings } from './adapters/config/load-config.ts';
import type { CommonOptions } from './edges/cli/runtime.ts';

/** `--home` stands before the variable wherever that is asked for. */
export function surroundings({ home }: CommonOptions): ConfigSurroundings {
  const env = home === undefined ? process.env : { ...process.env, ASSAY_HOME: home };
  return { env, cwd: process.cwd(), home: homedir() };
}
