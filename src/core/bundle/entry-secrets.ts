import type { BundledEntry, Entry, EntryKind } from './bundle.ts';

/** What was taken out of one entry, as it is sealed. */
export interface EntrySecrets {
  readonly kind: EntryKind;
  readonly name: string;
  /** Where the secrets were given to: they go to no other place by themselves. */
  readonly place: string;
  readonly members: Entry;
}

/** An entry without these members, and what they were. */
export function withoutSecrets(
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
      withheld.length === 0 ? undefined : { kind, name: rest.name, place: placeOf(entry), members: taken },
  };
}

export type Refilled =
  /** `missing`: what it still lacks. */
  | { readonly kind: 'refilled'; readonly entry: BundledEntry; readonly missing: readonly string[] }
  /** They were given for another place than that to which the entry leads now. */
  | { readonly kind: 'elsewhere' };

/** An entry with what was withheld from it, as far as it is among these members. */
export function withSecrets(bundled: BundledEntry, { place, members }: Given): Refilled {
  const back = bundled.withheld.filter((name) => Object.hasOwn(members, name));
  const missing = bundled.withheld.filter((name) => !back.includes(name));
  const entry = { ...bundled.entry, ...Object.fromEntries(back.map((name) => [name, members[name]])) };
  if (back.length > 0 && placeOf(entry) !== place) return { kind: 'elsewhere' };
  return { kind: 'refilled', entry: { ...bundled, entry, withheld: missing }, missing };
}

export type Given = Pick<EntrySecrets, 'place' | 'members'>;

/**
 * To whom the secrets of an entry go: the origins of its URLs, its command with arguments, or its module. The path of a
 * URL may be another one.
 */
export function placeOf({ url, openapi, baseUrl, command, args, module }: Entry): string {
  return JSON.stringify([originOf(url), originOf(openapi), originOf(baseUrl), command, args, module]);
}

function originOf(url: unknown): unknown {
  if (typeof url !== 'string') return url;
  const parsed = URL.parse(url);
  // Of what is no URL of the web the origin is "null", whatever it names.
  return parsed === null || parsed.origin === 'null' ? url : parsed.origin;
}
