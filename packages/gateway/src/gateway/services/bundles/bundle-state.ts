import {
  type BundleRecord,
  ENTRY_KINDS,
  KIND_LABELS,
  type LeftOutOfBundle,
} from '../../../core/bundle/bundle.ts';
import { isEmptyRecord, type ToolOverrides, type ToolRecord } from '../../../core/hints/tool-record.ts';
import { POLICY_RULES } from '../../../core/record.ts';
import { isStorable } from '../../../core/resolve-settings.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { EntrySeal } from '../../ports/config-entries.ts';
import { EQUIPPED } from '../toolsets/toolset-edits.ts';
import { toEntrySealName } from './entry-records.ts';

/** Everything that operators made, including secrets. */
export interface BundleState {
  readonly records: readonly BundleRecord[];
  /** Entries that another key encrypted. They are empty among the records. */
  readonly unread: readonly LeftOutOfBundle[];
}

export async function readBundleState(
  records: Pick<RecordReplica, 'all' | 'get' | 'settings'>,
  seal: EntrySeal,
): Promise<BundleState> {
  // Together, before anything is awaited, so that they are a consistent snapshot.
  const plain = listPlainRecords(records);
  const stored = ENTRY_KINDS.flatMap((kind) => records.all(kind).map((body) => ({ kind, body })));
  const entries: BundleRecord[] = [];
  const unread: LeftOutOfBundle[] = [];
  for (const { kind, body } of stored) {
    const { name, createdMs, author, ...sealed } = body;
    const entry = await seal.open(toEntrySealName(kind, name), sealed);
    if (!entry.ok) unread.push({ kind: KIND_LABELS[kind], name, reason: entry.error });
    entries.push({ kind, body: { name, entry: entry.ok ? entry.value : {}, createdMs, author } });
  }
  return { records: [...entries, ...plain], unread };
}

/** Those that need no key. */
function listPlainRecords(records: Pick<RecordReplica, 'all' | 'get' | 'settings'>): readonly BundleRecord[] {
  const toolset = records.get(EQUIPPED.kind, EQUIPPED.id)?.toolset;
  const rules = records.get(POLICY_RULES.kind, POLICY_RULES.id)?.rules ?? [];
  return [
    ...records.all('trust').map((body) => ({ kind: 'trust', body }) as const),
    ...records
      .all('tool')
      .map(pickOverrides)
      .filter((body) => !isEmptyRecord({ id: '', ...body }))
      .map((body) => ({ kind: 'tool', body }) as const),
    ...records.all('toolset').map((body) => ({ kind: 'toolset', body }) as const),
    ...(toolset === undefined ? [] : [{ kind: 'equipped', body: { toolset } } as const]),
    ...[...records.settings()]
      .filter(([key, value]) => isStorable(key, value))
      .map(([id, body]) => ({ kind: 'setting', id, body }) as const),
    ...(rules.length === 0 ? [] : [{ kind: 'policy_rules', body: { rules } } as const]),
  ];
}

function pickOverrides(record: ToolRecord): ToolOverrides {
  const { id, drift, volatility, verification, ...overrides } = record;
  return overrides;
}
