/** First wait before a server is started again, in ms; it doubles with each failure in a row. */
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 30_000;
/** A server that stood this long, in ms, has recovered: its next end counts as a first one. */
export const STABLE_AFTER_MS = 10_000;

/**
 * How long to wait before the next start, in ms.
 * `failures`: ends in a row, 1 or more. `chance`: 0 to 1, spreads servers that ended together by ±20 %.
 */
export function restartDelayMs(failures: number, chance: number): number {
  const delay = Math.min(FIRST_DELAY_MS * 2 ** (failures - 1), LONGEST_DELAY_MS);
  return Math.round(delay * (0.8 + 0.4 * chance));
}
