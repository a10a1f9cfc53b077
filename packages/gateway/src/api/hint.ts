import { type Hint, HINTS } from '@assay-mcp/kit/hint';

export type { Hint };

/** The members of an object that has one of them for each hint. */
export function mapHints<T>(schema: T): Record<Hint, T> {
  return Object.fromEntries(HINTS.map((hint) => [hint, schema])) as Record<Hint, T>; // every hint was visited
}
