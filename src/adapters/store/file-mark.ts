import { join } from 'node:path';
import { fileFacts, fileMarkOf } from '../../platform/files.ts';

/** What the files of `assay.db` look like from outside: a commit, by whatever process, makes it another one. */
export interface FileMark {
  readonly text: string;
  /** Written so lately that the clock of a file system may not tell it from the next write. */
  readonly isFresh: boolean;
}

const LOOK_MS = 250;
const NS_PER_MS = 1_000_000n;

/** `freshMs`: how coarse the clock of the file system may be. */
export async function markFiles(home: string, freshMs: number): Promise<FileMark> {
  const path = join(home, 'assay.db');
  const [file, log] = await Promise.all([fileFacts(path), fileFacts(`${path}-wal`)]);
  // Whoever comes first makes a log, and whoever goes last takes it away: an empty one says nothing.
  const found = [file, log?.bytes === 0 ? undefined : log];
  const writtenMs = found.map((facts) => Number((facts?.writtenNs ?? 0n) / NS_PER_MS));
  return {
    text: found.map(fileMarkOf).join(),
    isFresh: Math.max(...writtenMs) > Date.now() - freshMs,
  };
}

/** Calls once, when the files have another mark than this one; the returned function ends it. */
export function watchFiles(home: string, mark: string, onChange: () => void): () => void {
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking) return;
    isLooking = true;
    const now = await markFiles(home, 0);
    isLooking = false;
    if (now.text === mark || !isWatching) return;
    end();
    onChange();
  };
  let isWatching = true;
  const timer = setInterval(() => void look(), LOOK_MS).unref();
  const end = (): void => {
    isWatching = false;
    clearInterval(timer);
  };
  return end;
}
