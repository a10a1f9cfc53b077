import type { FileStamp } from './index-writer.ts';

/** File systems count time in steps, of 2 s at most (FAT). Within one step a second change leaves no trace. */
export const STAMP_MARGIN_MS = 2_000;

/**
 * The stamp of a file whose facts were read after `readAtMs`. The time of the last change of anything about a file
 * (`ctime`), which no program can set, tells of each later change; unless the file had just changed, when the stamp is
 * not to be relied on. (git calls such an entry "racily clean".)
 */
export function stampOf(
  facts: { readonly size: number; readonly mtimeMs: number; readonly ctimeMs: number },
  readAtMs: number,
  marginMs: number,
): FileStamp {
  const { size, mtimeMs, ctimeMs } = facts;
  const isSettled = ctimeMs + marginMs < readAtMs;
  return { size, mtimeMs, ctimeMs: isSettled ? ctimeMs : null };
}

/** Whether a file is the one that the stamp was taken of, without reading it. */
export function matchesStamp(
  stamp: FileStamp,
  facts: { readonly size: number; readonly mtimeMs: number; readonly ctimeMs: number },
): boolean {
  return stamp.ctimeMs === facts.ctimeMs && stamp.size === facts.size && stamp.mtimeMs === facts.mtimeMs;
}
