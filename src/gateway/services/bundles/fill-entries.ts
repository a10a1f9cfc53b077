import {
  ENTRY_KINDS,
  ENTRY_LISTS,
  type Bundle,
  type BundledEntry,
  type EntryKind,
} from '../../../core/bundle/bundle.ts';
import {
  computeSecretPlace,
  restoreEntrySecrets,
  type EntrySecrets,
} from '../../../core/bundle/entry-secrets.ts';
import { formatPointerStep } from '../../../core/json-pointer.ts';
import type { FieldError } from '../../../core/field-error.ts';
import { err, ok, type Result } from '../../../core/result.ts';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { readEntrySpec, type EntryReaders } from './entry-records.ts';

/** A bundle with the withheld members of its entries restored, where available. */
export interface RefilledBundle {
  readonly bundle: Bundle;
  /** Specs of the entries, by `toEntryKey`. */
  readonly specs: ReadonlyMap<string, ServerSpec>;
  /** Members still missing from entries that work without them, by `toEntryKey`. */
  readonly missing: ReadonlyMap<string, readonly string[]>;
  /** Entries that are unusable without their missing members. */
  readonly leftOut: readonly IncompleteEntry[];
}

export interface IncompleteEntry {
  readonly kind: EntryKind;
  readonly name: string;
  readonly missing: readonly string[];
}

export interface RefillOptions extends EntryReaders {
  readonly there: Bundle;
  /** Secrets that came with the bundle and were decrypted. */
  readonly secrets: readonly EntrySecrets[];
}

export function toEntryKey(kind: EntryKind, name: string): string {
  return JSON.stringify([kind, name]);
}

/** Returns all entries completed, or all their faults, each at its path in the bundle. */
export function fillEntries(
  bundle: Bundle,
  filling: RefillOptions,
): Result<RefilledBundle, readonly FieldError[]> {
  const fieldErrors: FieldError[] = [];
  const specs = new Map<string, ServerSpec>();
  const missing = new Map<string, readonly string[]>();
  const leftOut: IncompleteEntry[] = [];
  const fillAll = (kind: EntryKind): readonly BundledEntry[] =>
    bundle[ENTRY_LISTS[kind]].flatMap((given, index) => {
      const at = `/${ENTRY_LISTS[kind]}/${index}`;
      const filled = fill(kind, given, filling);
      if (filled.kind === 'wrong') {
        fieldErrors.push(
          ...filled.fieldErrors.map((fieldError) => ({ ...fieldError, at: `${at}${fieldError.at}` })),
        );
        return [];
      }
      const key = toEntryKey(kind, given.name);
      if (filled.kind === 'hollow') {
        leftOut.push({ kind, name: given.name, missing: filled.missing });
        return [];
      }
      specs.set(key, filled.spec);
      if (filled.entry.withheld.length > 0) missing.set(key, filled.entry.withheld);
      return [filled.entry];
    });
  const [gateways = [], tools = [], functions = []] = ENTRY_KINDS.map(fillAll);
  if (fieldErrors.length > 0) return err(fieldErrors);
  return ok({ bundle: { ...bundle, gateways, tools, functions }, specs, missing, leftOut });
}

type FilledEntry =
  | { readonly kind: 'filled'; readonly entry: BundledEntry; readonly spec: ServerSpec }
  | { readonly kind: 'hollow'; readonly missing: readonly string[] }
  | { readonly kind: 'wrong'; readonly fieldErrors: readonly FieldError[] };

function fill(kind: EntryKind, given: BundledEntry, filling: RefillOptions): FilledEntry {
  const sealed = filling.secrets.find((one) => one.kind === kind && one.name === given.name);
  const brought = sealed === undefined ? undefined : restoreEntrySecrets(given, sealed);
  if (brought?.kind === 'elsewhere') {
    const reason = 'it leads to another place than its sealed secrets were given for';
    return { kind: 'wrong', fieldErrors: [{ at: '/entry', kind: 'invalid', reason }] };
  }
  const former = filling.there[ENTRY_LISTS[kind]].find(({ name }) => name === given.name);
  const entry = keepingSecrets(brought?.entry ?? given, former);
  const spec = readEntrySpec({ kind, name: entry.name, entry: entry.entry }, filling);
  if (spec.ok) return { kind: 'filled', entry, spec: spec.value };
  if (entry.withheld.some((name) => !DISPENSABLE.has(name)))
    return { kind: 'hollow', missing: entry.withheld };
  const fieldErrors = spec.error.map(({ field, reason }): FieldError => {
    const at = field === '' ? '/name' : `/entry${formatPointerStep(field)}`;
    return { at, kind: 'invalid', reason: reason.replace(/\.$/, '') };
  });
  return { kind: 'wrong', fieldErrors };
}

/** Members whose absence does not hide where an entry leads. */
const DISPENSABLE: ReadonlySet<string> = new Set(['headers', 'env', 'auth', 'credentials']);

/** Keeps the stored secrets if the entry still has the destination they were given for. */
function keepingSecrets(entry: BundledEntry, former: BundledEntry | undefined): BundledEntry {
  if (former === undefined || entry.withheld.length === 0) return entry;
  const kept = restoreEntrySecrets(entry, { place: computeSecretPlace(former.entry), members: former.entry });
  return kept.kind === 'refilled' ? kept.entry : entry;
}
