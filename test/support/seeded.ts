/** Reproducible random numbers from 0 to 1, with a printed seed (mulberry32). */
export interface Seeded {
  readonly seed: number;
  next(): number;
  /** A whole number from 0 to `max`, exclusive. */
  below(max: number): number;
  /** The same items in random order. */
  shuffled<T>(items: readonly T[]): readonly T[];
}

/** Uses the seed in TEST_SEED, or a new one each time. */
export function seeded(what: string): Seeded {
  const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 2 ** 31);
  console.log(`${what}: TEST_SEED=${seed}`);
  return seededBy(seed);
}

export function seededBy(seed: number): Seeded {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (max: number): number => Math.floor(next() * max);
  return {
    seed,
    next,
    below,
    shuffled: (items) =>
      items
        .map((item) => [next(), item] as const)
        .sort(([a], [b]) => a - b)
        .map(([, item]) => item),
  };
}
