import type { Catalog } from '../../catalog/catalog.ts';
import type { Entry } from '../../catalog/listing.ts';

/** Number of tools that wait for a review. */
export interface ReviewCounts {
  /** Tools with a relevant change of their definition, or with a suspended override. */
  readonly tools: number;
  readonly dangerous: number;
  /** Tools with a suspended override. */
  readonly suspended: number;
}

/** Undefined if no tool waits. */
export function reviewCounts(catalog: Catalog): ReviewCounts | undefined {
  const { entries, disabled } = catalog.all.listing('tools');
  return countedIn([...entries, ...disabled]);
}

export function countedIn(entries: readonly Entry[]): ReviewCounts | undefined {
  let [tools, dangerous, suspended] = [0, 0, 0];
  for (const { definition, server } of entries) {
    const { claims, spec } = server;
    if (claims.toolRecordOf(spec, definition) === undefined) continue;
    const severity = claims.latestDriftOf(spec, definition)?.severity ?? 'harmless';
    const isSuspended = claims.suspendedOf(spec, definition).length > 0;
    if (severity !== 'harmless' || isSuspended) tools += 1;
    if (severity === 'dangerous') dangerous += 1;
    if (isSuspended) suspended += 1;
  }
  return tools === 0 ? undefined : { tools, dangerous, suspended };
}
