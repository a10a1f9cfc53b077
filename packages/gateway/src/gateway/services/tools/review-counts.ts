import type { ReviewCounts } from '../../../api/status.ts';
import type { NoticeItem } from '../../../core/notices.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { getDigest } from '../../catalog/definition-facts.ts';
import type { Entry, Listing } from '../../catalog/listing.ts';
import { getEntryName } from '../toolsets/tool-index.ts';
import { getToolId } from './find-entry.ts';

/** A change of a tool or of a claim about one replaces the listing. */
const COUNTS = new WeakMap<Listing, { readonly counts: ReviewCounts | undefined }>();

/** Undefined if no tool waits. Counted once for each change of the tools, because health is asked often. */
export function countReviews(catalog: Catalog): ReviewCounts | undefined {
  const listing = catalog.all.listing('tools');
  const known = COUNTS.get(listing) ?? {
    counts: countReviewEntries([...listing.entries, ...listing.disabled]),
  };
  COUNTS.set(listing, known);
  return known.counts;
}

export function countReviewEntries(entries: readonly Entry[]): ReviewCounts | undefined {
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

/** Tools with a suspended override; a further change of the definition gives another id. */
export function listSuspendedTools(catalog: Catalog): readonly NoticeItem[] {
  const { entries, disabled } = catalog.all.listing('tools');
  return [...entries, ...disabled].flatMap((entry) => {
    const { definition, server } = entry;
    if (server.claims.suspendedOf(server.spec, definition).length === 0) return [];
    const id = `${getToolId(entry)} ${getDigest(definition)}`;
    return [{ id, server: server.spec.name, tool: getEntryName(entry) }];
  });
}
