import { join } from 'node:path';
import { readFileFacts, toFileMark } from '@assay-mcp/kit/platform/files';

/** How the files of `assay.db` look from outside; a commit by any process changes it. */
export interface FileMark {
  readonly text: string;
  /** Written so recently that the file system's clock may not tell the next write apart. */
  readonly isFresh: boolean;
}

const LOOK_MS = 250;
const NS_PER_MS = 1_000_000n;

/** `freshMs`: the resolution of the file system's clock. */
export async function markFiles(home: string, freshMs: number): Promise<FileMark> {
  const path = join(home, 'assay.db');
  const [file, log] = await Promise.all([readFileFacts(path), readFileFacts(`${path}-wal`)]);
  // The first process to open the database creates a log and the last removes it, so an empty log means nothing.
  const found = [file, log?.bytes === 0 ? undefined : log];
  const writtenMs = found.map((facts) => Number((facts?.writtenNs ?? 0n) / NS_PER_MS));
  return {
    text: found.map(toFileMark).join(),
    isFresh: Math.max(...writtenMs) > Date.now() - freshMs,
  };
}

/** Calls `onChange` once, when the files no longer have this mark. Returns a function that stops watching. */
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
