import {
  type BundledEntry,
  type BundleRecord,
  type EntryBundleRecord,
  isEntry,
  KIND_LABELS,
  type LeftOutOfBundle,
  toRecordKey,
} from '../../../core/bundle/bundle.ts';
import {
  computeSecretPlace,
  restoreEntrySecrets,
  type EntrySecrets,
} from '../../../core/bundle/entry-secrets.ts';
import { CREDENTIAL_MEMBERS } from '../../../core/secrets/credential-members.ts';
import type { BundleFile } from '../../../core/bundle/read-bundle.ts';
import { formatPointerStep } from '@assay-mcp/kit/json-pointer';
import type { FieldError } from '../../../core/field-error.ts';
import { err, ok, type Result } from '@assay-mcp/kit/result';
import type { ServerSpec } from '../../../core/server-spec.ts';
import { readEntrySpec, type EntryReaders } from './entry-records.ts';

/** Records with the withheld members of their entries restored, where available. */
export interface FilledRecords {
  readonly records: readonly BundleRecord[];
  /** Specs of the entries, by `toRecordKey`. */
  readonly specs: ReadonlyMap<string, ServerSpec>;
  /** Entries that are unusable without their missing members. */
  readonly leftOut: readonly IncompleteEntry[];
}

export type IncompleteEntry = Pick<LeftOutOfBundle, 'kind' | 'name'> & {
  readonly missing: readonly string[];
};

export interface FillOptions extends EntryReaders {
  /** What is stored here. */
  readonly there: readonly BundleRecord[];
  /** Secrets that came with the bundle and were decrypted. */
  readonly secrets: readonly EntrySecrets[];
}

/** Returns all entries completed, or all their faults, each at its path in the bundle. */
export function fillEntries(
  { records, pointers }: Pick<BundleFile, 'records' | 'pointers'>,
  options: FillOptions,
): Result<FilledRecords, readonly FieldError[]> {
  const fieldErrors: FieldError[] = [];
  const specs = new Map<string, ServerSpec>();
  const leftOut: IncompleteEntry[] = [];
  const there = new Map(options.there.filter(isEntry).map((one) => [toRecordKey(one), one.body]));
  const secrets = new Map(options.secrets.map((one) => [JSON.stringify([one.kind, one.name]), one]));
  const filled = records.flatMap((record): readonly BundleRecord[] => {
    if (!isEntry(record)) return [record];
    const key = toRecordKey(record);
    const pointer = pointers.get(key) ?? '';
    const fault = (at: string, reason: string): void =>
      void fieldErrors.push({ at: pointer + at, kind: 'invalid', reason: reason.replace(/\.$/, '') });
    const body = restore(record.body, { secrets: secrets.get(key), former: there.get(key) });
    if (body === 'elsewhere') {
      fault('/entry', 'it leads to another place than its sealed secrets were given for');
      return [];
    }
    const { name, withheld = [] } = body;
    const complete: EntryBundleRecord = { kind: record.kind, body };
    const spec = readEntrySpec(complete, options);
    if (spec.ok) {
      specs.set(key, spec.value);
      return [complete];
    }
    if (withheld.some((one) => !DISPENSABLE.has(one)))
      leftOut.push({ kind: KIND_LABELS[record.kind], name, missing: withheld });
    else
      for (const { field, reason } of spec.error)
        fault(field === '' ? '/name' : `/entry${formatPointerStep(field)}`, reason);
    return [];
  });
  return fieldErrors.length > 0 ? err(fieldErrors) : ok({ records: filled, specs, leftOut });
}

/** Members whose absence does not hide where an entry leads. */
const DISPENSABLE: ReadonlySet<string> = new Set(CREDENTIAL_MEMBERS);

/** The entry with its secrets from the bundle, or else those stored here for the same destination. */
function restore(
  body: BundledEntry,
  from: { readonly secrets: EntrySecrets | undefined; readonly former: BundledEntry | undefined },
): BundledEntry | 'elsewhere' {
  const { secrets, former } = from;
  const brought = secrets === undefined ? body : restoreEntrySecrets(body, secrets);
  if (brought === 'elsewhere' || former === undefined) return brought;
  const place = computeSecretPlace(former.entry);
  const kept = restoreEntrySecrets(brought, { place, members: former.entry });
  return kept === 'elsewhere' ? brought : kept;
}
