/** Whose entry ends when a pool is full. */
export interface RoomMaker {
  readonly subject: string;
  /** Whether an entry that is in use may end: the subject has at least two more than who asks. */
  readonly mayBeInUse: boolean;
}

/**
 * Who makes room in a full pool for one more entry of a subject: the subject that has most, or the one that asks where none
 * has more. So a subject never loses anything to one that has as much already.
 */
export function whoMakesRoom(counts: ReadonlyMap<string, number>, asking: string): RoomMaker {
  const own = counts.get(asking) ?? 0;
  let largest: readonly [subject: string, count: number] = [asking, own];
  for (const [subject, count] of counts) if (count > largest[1]) largest = [subject, count];
  const [subject, count] = largest;
  return { subject, mayBeInUse: count > own + 1 };
}

/** How many entries each subject has. */
export function countBySubject(entries: Iterable<{ readonly subject: string }>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { subject } of entries) counts.set(subject, (counts.get(subject) ?? 0) + 1);
  return counts;
}
