import { basename, dirname } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { fileFacts, fileMarkOf, realPath } from '../../platform/files.ts';

export interface Watching {
  close(): Promise<void>;
}

/** Editors save in several steps; a file that was quiet for so many ms is read. */
const QUIET_MS = 100;

/** What no event told is seen when the file itself is looked at, every so many ms. */
const LOOK_EVERY_MS = 2_000;

/** Where changes cannot be told by the system, the folders are looked at every so many ms. */
const POLL_MS = 1_000;

/**
 * Tells each time that a file may have changed, so many ms after the last of a burst. Its folder is watched, as most
 * editors save by putting another file in its place; of a link also the folder that holds its target.
 */
export async function watchFile(path: string, onChange: () => void): Promise<Watching> {
  const { watch } = await import('chokidar');
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  const begin = (usePolling: boolean): FSWatcher => {
    const begun = watch([], {
      depth: 0,
      ignoreInitial: true,
      followSymlinks: false,
      usePolling,
      interval: POLL_MS,
    });
    begun.on('all', (_event, changed) => {
      if (!isOfInterest(changed)) return;
      clearTimeout(timer);
      timer = setTimeout(() => void look(), QUIET_MS);
    });
    // The system has only so many watches to give.
    begun.once('error', () => {
      if (usePolling) return;
      void begun.close();
      watcher = begin(true);
      void look();
    });
    return begun;
  };
  const names = new Set<string>();
  // Mounted configs are swapped by a link beside the file, whose name begins with two dots.
  const isOfInterest = (changed: string): boolean =>
    names.has(basename(changed)) || basename(changed).startsWith('..');
  const follow = async (): Promise<void> => {
    const [folder, target] = await Promise.all([realPath(dirname(path)), realPath(path)]);
    for (const name of [path, target]) names.add(basename(name));
    watcher?.add([folder, dirname(target)]);
  };
  const look = async (): Promise<void> => {
    await follow();
    onChange();
  };
  watcher = begin(false);
  await follow();
  let before = fileMarkOf(await fileFacts(path));
  const compare = async (): Promise<void> => {
    const now = fileMarkOf(await fileFacts(path));
    const hasChanged = now !== before;
    before = now;
    if (hasChanged) await look();
  };
  const comparing = setInterval(() => void compare(), LOOK_EVERY_MS).unref();
  return {
    close: async () => {
      clearTimeout(timer);
      clearInterval(comparing);
      await watcher?.close();
    },
  };
}
