interface Backoff {
  /** Wait in ms after the first failure, above 0. */
  readonly firstMs: number;
  readonly maxMs?: number;
  /** From 0 to 1: shortens the wait to between half and all of it, so that what failed together does not stay in step. */
  readonly chance?: number;
}

/** The wait in ms after a number of failures in a row, 1 or more: it doubles with each up to the maximum. */
export function computeBackoffMs(
  failures: number,
  { firstMs, maxMs = Infinity, chance = 1 }: Backoff,
): number {
  return Math.min(firstMs * 2 ** (failures - 1), maxMs) * (0.5 + chance / 2);
}
