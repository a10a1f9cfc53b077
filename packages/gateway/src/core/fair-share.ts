/** The subject whose entry is evicted when a pool is full. */
export interface EvictionCandidate {
  readonly subject: string;
  /** Whether an entry in use may be evicted: the subject has at least two more entries than the asking one. */
  readonly mayEvictInUse: boolean;
}

/**
 * Decides which subject gives up an entry in a full pool: the one with the most entries, or the asking one if none has
 * more. A subject therefore never loses an entry to one that has as many.
 */
export function chooseEviction(counts: ReadonlyMap<string, number>, asking: string): EvictionCandidate {
  const own = counts.get(asking) ?? 0;
  let largest: readonly [subject: string, count: number] = [asking, own];
  for (const [subject, count] of counts) if (count > largest[1]) largest = [subject, count];
  const [subject, count] = largest;
  return { subject, mayEvictInUse: count > own + 1 };
}

/** Number of entries per subject. */
export function countBySubject(entries: Iterable<{ readonly subject: string }>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { subject } of entries) counts.set(subject, (counts.get(subject) ?? 0) + 1);
  return counts;
}
