import { basename, dirname } from 'node:path';
import type { FSWatcher } from 'chokidar';
import { readFileFacts, toFileMark, resolveRealPath } from '../../platform/files.ts';

export interface FileWatcher {
  close(): Promise<void>;
}

/** Editors save in several steps, so a file is read after this many ms without changes. */
const QUIET_MS = 100;

/** Interval in ms at which the file itself is checked, in case an event was missed. */
const LOOK_INTERVAL_MS = 2_000;

/** Polling interval in ms, if the system cannot report changes. */
const POLL_MS = 1_000;

const OPTIONS = { depth: 0, ignoreInitial: true, followSymlinks: false, interval: POLL_MS };

/**
 * Calls `onChange` each time the file may have changed, debounced by QUIET_MS. Watches the folder, since most editors
 * save by replacing the file, and for a link also the folder of its target.
 */
export async function watchFile(path: string, onChange: () => void): Promise<FileWatcher> {
  const { watch } = await import('chokidar');
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  let isClosed = false;
  const begin = (usePolling: boolean): FSWatcher => {
    const begun = watch([], { ...OPTIONS, usePolling, ignored });
    begun.on('all', () => {
      clearTimeout(timer);
      timer = setTimeout(() => void look(), QUIET_MS);
    });
    // Fails if the system's limit on watches is reached.
    begun.once('error', () => {
      if (usePolling) return;
      void begun.close();
      watcher = begin(true);
      void look();
    });
    return begun;
  };
  const folders = new Set<string>();
  const names = new Set<string>();
  // Mounted configs are swapped through a sibling link whose name starts with two dots.
  const isOfInterest = (found: string): boolean =>
    names.has(basename(found)) || basename(found).startsWith('..');
  // The store may be in the same folder, and is written to all the time.
  const ignored = (found: string): boolean => !folders.has(found) && !isOfInterest(found);
  const follow = async (): Promise<void> => {
    const [folder, target] = await Promise.all([resolveRealPath(dirname(path)), resolveRealPath(path)]);
    // Adding to a closed watcher would open it again.
    if (isClosed) return;
    for (const name of [path, target]) names.add(basename(name));
    for (const watched of [folder, dirname(target)]) folders.add(watched);
    watcher?.add([...folders]);
  };
  const look = async (): Promise<void> => {
    await follow();
    if (!isClosed) onChange();
  };
  watcher = begin(false);
  await follow();
  let before = toFileMark(await readFileFacts(path));
  const compare = async (): Promise<void> => {
    const now = toFileMark(await readFileFacts(path));
    if (now === before) return;
    before = now;
    await look();
  };
  const comparing = setInterval(() => void compare(), LOOK_INTERVAL_MS).unref();
  return {
    close: async () => {
      isClosed = true;
      clearTimeout(timer);
      clearInterval(comparing);
      await watcher?.close();
    },
  };
}
