import { readFile } from 'node:fs/promises';

export interface MountPoint {
  /** Major and minor number. */
  readonly device: string;
  /** The folder of the file system that is mounted. */
  readonly root: string;
  readonly path: string;
}

/** What this process sees mounted. Empty if that cannot be read. */
export async function readMounts(): Promise<readonly MountPoint[]> {
  return parseMounts(await readFile('/proc/self/mountinfo', 'utf8').catch(() => ''));
}

/** Parses the text of `/proc/self/mountinfo` (proc_pid_mountinfo(5)). */
export function parseMounts(text: string): readonly MountPoint[] {
  return text.split('\n').flatMap((line) => {
    const [, , device = '', root = '', path] = line.split(' ');
    return path === undefined ? [] : [{ device, root: unescapeOctal(root), path: unescapeOctal(path) }];
  });
}

/** Space, tab, line feed and backslash are written in octal. */
function unescapeOctal(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
