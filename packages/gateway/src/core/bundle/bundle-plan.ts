import { type BundleRecord, isEntry, sortMembers, toRecordKey } from './bundle.ts';

/** What happens to an existing record that differs. */
export type OnConflict = 'replace' | 'keep';

/** A record and its planned action. */
export interface Planned {
  readonly record: BundleRecord;
  readonly former: BundleRecord | undefined;
  /** `kept`: it differs, but the existing record stays. */
  readonly action: 'create' | 'update' | 'unchanged' | 'kept';
  /** Members that are new or differ; empty if the record is created. */
  readonly changed: readonly string[];
}

/** Plans an import on top of the existing records. Those that the bundle does not contain are left alone. */
export function planImport(
  wanted: readonly BundleRecord[],
  there: readonly BundleRecord[],
  onConflict: OnConflict,
): readonly Planned[] {
  const formers = new Map(there.map((record) => [toRecordKey(record), record]));
  return wanted.map((record): Planned => {
    const former = formers.get(toRecordKey(record));
    if (former === undefined) return { record, former, action: 'create', changed: [] };
    const changed = findChanged(toMembers(former), toMembers(record));
    if (changed.length === 0) return { record, former, action: 'unchanged', changed };
    return { record, former, action: onConflict === 'keep' ? 'kept' : 'update', changed };
  });
}

type Members = Readonly<Record<string, unknown>>;

/** The members that are compared. */
function toMembers(record: BundleRecord): Members {
  if (record.kind === 'setting') return { value: record.body };
  if (record.kind === 'tool') return { ...record.body.overrides, ...record.body, overrides: undefined };
  if (!isEntry(record)) return { ...record.body };
  const { entry, createdMs, author } = record.body;
  return { ...entry, createdMs, author };
}

function findChanged(before: Members, after: Members): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => toText(before, name) !== toText(after, name)).sort();
}

function toText(members: Members, name: string): string | undefined {
  return Object.hasOwn(members, name) ? JSON.stringify(sortMembers(members[name])) : undefined;
}
