import { unwatchFile, watchFile as pollFile, type BigIntStats } from 'node:fs';
import { toFileFacts, toFileMark } from './files.ts';

export interface FileWatcher {
  close(): void;
}

/** Notifies each time a file may have changed. */
export type WatchFile = (path: string, onChange: () => void) => FileWatcher;

/** Editors save in several steps, so a file is read after this many ms without changes. */
const QUIET_MS = 100;
const POLL_MS = 250;

/**
 * Calls `onChange` each time the file may have changed since this call, debounced by QUIET_MS. Polls, which works on
 * every file system, for a file that does not exist yet, and for whatever a link leads to; it takes about 0.05% of a core.
 */
export function watchFile(path: string, onChange: () => void): FileWatcher {
  let timer: NodeJS.Timeout | undefined;
  const compare = (now: BigIntStats, before: BigIntStats): void => {
    if (toFileMark(toFileFacts(now)) === toFileMark(toFileFacts(before))) return;
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  };
  pollFile(path, { interval: POLL_MS, persistent: false, bigint: true }, compare);
  return {
    close: () => {
      clearTimeout(timer);
      unwatchFile(path, compare);
    },
  };
}
