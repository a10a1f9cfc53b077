export function median(values: readonly number[]): number | undefined {
  return quantile(values, 0.5);
}

/** The quantile at this share, interpolated linearly between sorted values. */
export function quantile(values: readonly number[], share: number): number | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (sorted.length - 1) * share;
  const below = sorted[Math.floor(at)];
  const above = sorted[Math.ceil(at)];
  if (below === undefined || above === undefined) return undefined;
  return below + (above - below) * (at - Math.floor(at));
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** The median of the slopes between all pairs (Theil–Sen): robust against up to a third of outliers. */
export function slopeOf(points: readonly Point[]): number | undefined {
  const slopes = points.flatMap((a, index) =>
    points.slice(index + 1).flatMap((b) => (a.x === b.x ? [] : [(b.y - a.y) / (b.x - a.x)])),
  );
  return median(slopes);
}
