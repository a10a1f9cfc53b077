import { basename, dirname } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { realPath } from '../../platform/files.ts';

export interface Watching {
  close(): Promise<void>;
}

/** Editors save in several steps; a file that was quiet for so many ms is read. */
const QUIET_MS = 100;

/**
 * Tells each time that a file may have changed, at the latest so many ms after the last of a burst. Its folder is
 * watched, as most editors save by putting another file in its place; of a link also the folder that holds its target.
 */
export async function watchFile(path: string, onChange: () => void): Promise<Watching> {
  const { watch } = await import('chokidar');
  const target = await realPath(path);
  const names = new Set([basename(path), basename(target)]);
  // Mounted configs are swapped by a link beside the file, whose name begins with two dots.
  const isNamed = (name: string): boolean => names.has(name) || name.startsWith('..');
  const folders = [...new Set([dirname(path), dirname(target)])];
  let timer: NodeJS.Timeout | undefined;
  const watcher: FSWatcher = watch(folders, {
    depth: 0,
    ignoreInitial: true,
    followSymlinks: true,
    ignored: (entry) => !folders.includes(entry) && !isNamed(basename(entry)),
  });
  watcher.on('all', () => {
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  });
  // A folder that cannot be watched any more costs the reload, nothing else.
  watcher.on('error', () => undefined);
  return {
    close: async () => {
      clearTimeout(timer);
      await watcher.close();
    },
  };
}
