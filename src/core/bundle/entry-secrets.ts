import type { BundledEntry, Entry, EntryKind } from './bundle.ts';

/** The secrets removed from one entry, in the form in which they are sealed. */
export interface EntrySecrets {
  readonly kind: EntryKind;
  readonly name: string;
  /** The destination the secrets were configured for; they are not restored automatically for another one. */
  readonly place: string;
  readonly members: Entry;
}

/** Splits an entry into its public part and the given secret members. */
export function splitEntrySecrets(
  kind: EntryKind,
  { entry, ...rest }: BundledEntry,
  secret: ReadonlySet<string>,
): { readonly open: BundledEntry; readonly secrets: EntrySecrets | undefined } {
  const members = Object.entries(entry);
  const withheld = members.map(([name]) => name).filter((name) => secret.has(name));
  const kept = Object.fromEntries(members.filter(([name]) => !secret.has(name)));
  const taken = Object.fromEntries(members.filter(([name]) => secret.has(name)));
  return {
    open: { ...rest, entry: kept, withheld: withheld.sort() },
    secrets:
      withheld.length === 0
        ? undefined
        : { kind, name: rest.name, place: computeSecretPlace(entry), members: taken },
  };
}

export type Refilled =
  /** `missing`: withheld members that are still not set. */
  | { readonly kind: 'refilled'; readonly entry: BundledEntry; readonly missing: readonly string[] }
  /** The entry now points to a different destination than the secrets were configured for. */
  | { readonly kind: 'elsewhere' };

/** Restores the withheld members of an entry from the given ones. */
export function restoreEntrySecrets(bundled: BundledEntry, { place, members }: EntrySecretValues): Refilled {
  const back = bundled.withheld.filter((name) => Object.hasOwn(members, name));
  const missing = bundled.withheld.filter((name) => !back.includes(name));
  const entry = { ...bundled.entry, ...Object.fromEntries(back.map((name) => [name, members[name]])) };
  if (back.length > 0 && computeSecretPlace(entry) !== place) return { kind: 'elsewhere' };
  return { kind: 'refilled', entry: { ...bundled, entry, withheld: missing }, missing };
}

export type EntrySecretValues = Pick<EntrySecrets, 'place' | 'members'>;

/** Where the secrets of an entry go: the origins of its URLs, its command line, or its module. URL paths may differ. */
export function computeSecretPlace({ url, openapi, baseUrl, command, args, module }: Entry): string {
  return JSON.stringify([originOf(url), originOf(openapi), originOf(baseUrl), command, args, module]);
}

function originOf(url: unknown): unknown {
  if (typeof url !== 'string') return url;
  const parsed = URL.parse(url);
  // Non-web URLs all have the origin "null", whatever they point to.
  return parsed === null || parsed.origin === 'null' ? url : parsed.origin;
}
