import type { HiddenTools } from '../../core/policy/hidden-tools.ts';
import type { RuleTool } from '../../core/policy/rule.ts';
import { resolveOwnHints } from './configuration-tool.ts';
import type { Entry, ListedEntry, Listing } from './listing.ts';

const VISIBLE = new WeakMap<Listing, WeakMap<HiddenTools, Listing>>();

/** The part of a list that some callers see. Computed once for all callers to whom the same rules apply. */
export function getVisibleListing(listing: Listing, hidden: HiddenTools | undefined): Listing {
  if (hidden === undefined) return listing;
  let known = VISIBLE.get(listing);
  if (known === undefined) {
    known = new WeakMap();
    VISIBLE.set(listing, known);
  }
  const visible = known.get(hidden) ?? listing.without((entry) => isHidden(entry, hidden));
  known.set(hidden, visible);
  return visible;
}

export function isHidden(entry: Entry | ListedEntry, hidden: HiddenTools | undefined): boolean {
  return hidden?.hides('server' in entry ? toolOfServer(entry) : ownTool(entry)) === true;
}

/** Most rules are about names, and hints need the digest of the definition. */
function toolOfServer({ server: { spec, claims }, name, definition }: Entry): RuleTool {
  return {
    server: spec.name,
    name,
    get hints() {
      return claims.policyToolOf(spec, name, definition).hints;
    },
    get tags() {
      return claims.policyToolOf(spec, name, definition).tags;
    },
  };
}

function ownTool(entry: ListedEntry): RuleTool {
  return {
    server: undefined,
    name: entry.name,
    get hints() {
      return resolveOwnHints(entry);
    },
  };
}
