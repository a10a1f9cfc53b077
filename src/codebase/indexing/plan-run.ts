import type { FoundFile } from '../files/walk-repository.ts';
import { matchesStamp } from '../store/file-stamp.ts';
import type { StoredFile } from '../store/index-writer.ts';

/** A file that must be read, with its stored state. */
export interface FileToRead {
  readonly file: FoundFile;
  readonly live: StoredFile | undefined;
  readonly staged: StoredFile | undefined;
}

export interface RunPlan {
  readonly toRead: readonly FileToRead[];
  /** Number of unchanged files. */
  readonly unchanged: number;
  /** Files staged by an interrupted run and unchanged since. */
  readonly takenOver: readonly StoredFile[];
  /** Staged files that must not become visible. */
  readonly discarded: readonly StoredFile[];
  /** Live files that were not found. */
  readonly missing: readonly StoredFile[];
}

/** Decides by stamps which files must be read. With `readAll`, all of them. */
export function planRun(
  found: readonly FoundFile[],
  stored: Iterable<StoredFile>,
  { readAll }: { readonly readAll: boolean },
): RunPlan {
  const known = new Map<string, { live?: StoredFile; staged?: StoredFile }>();
  for (const file of stored) known.set(file.path, { ...known.get(file.path), [file.state]: file });
  const toRead: FileToRead[] = [];
  const takenOver: StoredFile[] = [];
  const discarded: StoredFile[] = [];
  const missing: StoredFile[] = [];
  let unchanged = 0;
  for (const file of found) {
    const { live, staged } = known.get(file.path) ?? {};
    known.delete(file.path);
    if (!readAll && live !== undefined && matchesStamp(live, file)) {
      unchanged += 1;
      if (staged !== undefined) discarded.push(staged);
    } else if (!readAll && staged !== undefined && matchesStamp(staged, file)) takenOver.push(staged);
    else toRead.push({ file, live, staged });
  }
  for (const { live, staged } of known.values()) {
    if (live !== undefined) missing.push(live);
    if (staged !== undefined) discarded.push(staged);
  }
  return { toRead, unchanged, takenOver, discarded, missing };
}
