export function median(values: readonly number[]): number | undefined {
  return quantile(values, 0.5);
}

/** The value at this share of the sorted values, between two of them by proportion. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) return undefined;
  return below + (above - below) * (at - Math.floor(at));
}
