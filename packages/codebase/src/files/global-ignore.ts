import { isUtf8 } from 'node:buffer';
import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { readBytes } from './read-source.ts';

export interface GitEnvironment {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The home of the user. */
  readonly home: string;
}

const MAX_BYTES = 512 * 1024;

/**
 * The text of the ignore file for all of the user's repositories: the one that `core.excludesFile` names in the user's
 * settings, or `git/ignore` in the user's configuration (git, Documentation/gitignore). Not the one that a repository
 * names: it could be any file.
 */
export function readGlobalIgnore({ env, home }: GitEnvironment): string | undefined {
  const own = env['XDG_CONFIG_HOME'];
  const config = own === undefined || own === '' ? join(home, '.config') : own;
  for (const file of [join(home, '.gitconfig'), join(config, 'git', 'config')]) {
    const named = findExcludesFile(read(file) ?? '');
    if (named !== undefined)
      return read(named.startsWith('~/') ? join(home, named.slice(2)) : resolve(home, named));
  }
  return read(join(config, 'git', 'ignore'));
}

/** `core.excludesFile` in the text of a configuration file of git; the last one counts. */
export function findExcludesFile(text: string): string | undefined {
  let section = '';
  let found: string | undefined;
  for (const line of text.split(/\r?\n/)) {
    const [, heading] = /^\s*\[\s*([^\]\s"]+)\s*\]/.exec(line) ?? [];
    if (line.trimStart().startsWith('[')) section = heading?.toLowerCase() ?? '';
    const [, value = ''] = /^\s*(?:\[[^\]]*\]\s*)?excludesfile\s*=\s*(.*?)\s*$/i.exec(line) ?? [];
    const path = value.replace(/\s+[#;].*$/, '').replace(/^"(.*)"$/, '$1');
    if (section === 'core' && path !== '') found = path;
  }
  return found;
}

/** The user's own files may be links, such as those into a repository of settings. */
function read(path: string): string | undefined {
  let real: string;
  try {
    real = realpathSync(path);
  } catch {
    return undefined;
  }
  const file = readBytes(real, MAX_BYTES);
  return file.ok && isUtf8(file.bytes) ? file.bytes.toString().replace(/^\uFEFF/, '') : undefined;
}
