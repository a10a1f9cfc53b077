import type { Entry, Listing } from '../../catalog/listing.ts';
import { findToolId } from '../../catalog/tool-claims.ts';
import { getEntryName } from '../toolsets/tool-index.ts';

/** The tool with this id, or the only one with this public or namespaced name. */
export function findEntry(listing: Listing, idOrName: string): Entry | undefined {
  const found = indexOf(listing).get(idOrName);
  if (found !== undefined) return found;
  const [named, ...others] = [...listing.entries, ...listing.disabled].filter(
    (entry) => entry.key === idOrName || getEntryName(entry) === idOrName,
  );
  return others.length === 0 ? named : undefined;
}

/** Every listed tool has a name. */
export function getToolId({ server, definition }: Entry): string {
  return findToolId(server.spec, definition) ?? '';
}

const INDEXES = new WeakMap<Listing, ReadonlyMap<string, Entry>>();

function indexOf(listing: Listing): ReadonlyMap<string, Entry> {
  const known = INDEXES.get(listing);
  if (known !== undefined) return known;
  const index = new Map([...listing.entries, ...listing.disabled].map((entry) => [getToolId(entry), entry]));
  INDEXES.set(listing, index);
  return index;
}
