import { join, resolve } from 'node:path';
import { expandHome } from './expand.ts';

/** The folder of Assay's data: `ASSAY_HOME`, else `~/.assay`. `home`: the user's own. */
export function locateHome({
  env,
  cwd,
  home,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly home: string;
}): string {
  const { ASSAY_HOME: given = '' } = env;
  return given === '' ? join(home, '.assay') : resolve(cwd, expandHome(given, home));
}
