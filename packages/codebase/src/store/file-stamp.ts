import type { FileStamp } from './index-writer.ts';

/** File systems store times with a resolution of up to 2 s (FAT). A second change within that time cannot be seen. */
export const STAMP_MARGIN_MS = 2_000;

/**
 * The stamp of a file whose facts were read after `readAtMs`. `ctime`, which no program can set, reveals each later
 * change, unless the file had just changed: such a stamp cannot be relied on (git calls the entry "racily clean").
 */
export function toFileStamp(
  facts: { readonly size: number; readonly mtimeMs: number; readonly ctimeMs: number },
  readAtMs: number,
  marginMs: number,
): FileStamp {
  const { size, mtimeMs, ctimeMs } = facts;
  const isSettled = ctimeMs + marginMs < readAtMs;
  return { size, mtimeMs, ctimeMs: isSettled ? ctimeMs : null };
}

/** Whether a file is unchanged since its stamp was taken, without reading it. */
export function matchesStamp(
  stamp: FileStamp,
  facts: { readonly size: number; readonly mtimeMs: number; readonly ctimeMs: number },
): boolean {
  return stamp.ctimeMs === facts.ctimeMs && stamp.size === facts.size && stamp.mtimeMs === facts.mtimeMs;
}
