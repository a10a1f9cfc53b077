import { URL_KEYS } from '../sources/url-keys.ts';
import type { EntryRecordKind } from '../record.ts';
import type { BundledEntry, Entry, EntryBundleRecord } from './bundle.ts';

/** The secrets removed from one entry, in the form in which they are sealed. */
export interface EntrySecrets {
  readonly kind: EntryRecordKind;
  readonly name: string;
  /** The destination the secrets were configured for; they are not restored automatically for another one. */
  readonly place: string;
  readonly members: Entry;
}

/** Splits a record into its public part and the given secret members of its entry. */
export function splitEntrySecrets(
  { kind, body }: EntryBundleRecord,
  secret: ReadonlySet<string>,
): { readonly open: EntryBundleRecord; readonly secrets: EntrySecrets | undefined } {
  const members = Object.entries(body.entry);
  const taken = members.filter(([name]) => secret.has(name));
  if (taken.length === 0) return { open: { kind, body }, secrets: undefined };
  const entry = Object.fromEntries(members.filter(([name]) => !secret.has(name)));
  const withheld = taken.map(([name]) => name).sort();
  const place = computeSecretPlace(body.entry);
  return {
    open: { kind, body: { ...body, entry, withheld } },
    secrets: { kind, name: body.name, place, members: Object.fromEntries(taken) },
  };
}

/**
 * Restores the withheld members of an entry from the given ones; those that are not among them stay withheld.
 * `elsewhere`: the entry now points to a different destination than the secrets were configured for.
 */
export function restoreEntrySecrets(
  { withheld = [], ...body }: BundledEntry,
  { place, members }: EntrySecretValues,
): BundledEntry | 'elsewhere' {
  const back = withheld.filter((name) => Object.hasOwn(members, name));
  const missing = withheld.filter((name) => !Object.hasOwn(members, name));
  const entry = { ...body.entry, ...Object.fromEntries(back.map((name) => [name, members[name]])) };
  if (back.length > 0 && computeSecretPlace(entry) !== place) return 'elsewhere';
  return { ...body, entry, ...(missing.length > 0 && { withheld: missing }) };
}

export type EntrySecretValues = Pick<EntrySecrets, 'place' | 'members'>;

/**
 * Where the secrets of an entry go: the origins of its URLs, its OpenAPI document, its command line, or its module. URL
 * paths may differ.
 */
export function computeSecretPlace(entry: Entry): string {
  const { openapi, baseUrl, command, args, module, document } = entry;
  const url = URL_KEYS.map((key) => entry[key]).find((one) => one !== undefined && one !== null);
  const parts = [originOf(url), originOf(openapi), originOf(baseUrl), command, args, module];
  return JSON.stringify(document === undefined ? parts : [...parts, document]);
}

function originOf(url: unknown): unknown {
  if (typeof url !== 'string') return url;
  const parsed = URL.parse(url);
  // Non-web URLs all have the origin "null", whatever they point to.
  return parsed === null || parsed.origin === 'null' ? url : parsed.origin;
}
