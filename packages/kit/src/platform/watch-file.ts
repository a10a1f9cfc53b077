import { unwatchFile, watchFile as pollFile, type BigIntStats } from 'node:fs';
import { readFileFacts, readFileFactsNow, toFileFacts, toFileMark, type FileFacts } from './files.ts';

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
  let isClosed = false;
  let mark = readMark(path);
  const compare = (facts: FileFacts | undefined): void => {
    const now = toFileMark(facts);
    if (now === mark || isClosed) return;
    mark = now;
    clearTimeout(timer);
    timer = setTimeout(onChange, QUIET_MS);
  };
  const onPoll = (now: BigIntStats): void => compare(now.nlink === 0n ? undefined : toFileFacts(now));
  pollFile(path, { interval: POLL_MS, persistent: false, bigint: true }, onPoll);
  // The first poll only notes the state of the file, which may have changed since this call.
  const first = setTimeout(() => void readFileFacts(path).then(compare), POLL_MS).unref();
  return {
    close: () => {
      isClosed = true;
      clearTimeout(first);
      clearTimeout(timer);
      unwatchFile(path, onPoll);
    },
  };
}

function readMark(path: string): string {
  try {
    return toFileMark(readFileFactsNow(path));
  } catch {
    // Not readable now, which a poll shows like a file that does not exist.
    return toFileMark(undefined);
  }
}
