import { join, resolve } from 'node:path';

/** What decides where Assay's files are: the variables and working folder of a process, and the user's home folder. */
export interface Surroundings {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
}

/** The folder of Assay's data: `ASSAY_HOME`, else `~/.assay`. */
export function locateHome({ env, cwd, home }: Surroundings): string {
  const { ASSAY_HOME: given = '' } = env;
  return given === '' ? join(home, '.assay') : resolve(cwd, expandHome(given, home));
}

/** `~` and `~/x` mean the home folder, as in a shell; `~name` and a tilde elsewhere do not. */
export function expandHome(text: string, home: string): string {
  return text === '~' || text.startsWith('~/') ? join(home, text.slice(1)) : text;
}
