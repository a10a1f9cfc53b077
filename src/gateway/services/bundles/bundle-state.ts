import {
  ENTRY_KINDS,
  type Bundle,
  type BundledEntry,
  type Entry,
  type LeftOutOfBundle,
  type BundledOverride,
} from '../../../core/bundle/bundle.ts';
import { isEmptyRecord, type ToolRecord } from '../../../core/hints/tool-record.ts';
import { POLICY_RULES } from '../../../core/record.ts';
import { isStorable } from '../../../core/resolve-settings.ts';
import type { RecordReplica } from '../../catalog/record-replica.ts';
import type { EntrySeal } from '../../ports/config-entries.ts';
import { EQUIPPED } from '../toolsets/toolset-edits.ts';
import { ENTRY_RECORDS } from './entry-records.ts';

/** Everything that operators made, including secrets. */
export interface BundleState {
  readonly bundle: Bundle;
  /** Entries that another key encrypted. They are empty in the bundle. */
  readonly unread: readonly LeftOutOfBundle[];
}

export async function readBundleState(
  records: Pick<RecordReplica, 'all' | 'get' | 'settings'>,
  seal: EntrySeal,
): Promise<BundleState> {
  const { trust, overrides, toolsets, equipped, preferences, policyRules } = plainState(records);
  const unread: LeftOutOfBundle[] = [];
  const kept = ENTRY_KINDS.map((kind) => ({ kind, entries: records.all(ENTRY_RECORDS[kind].kind) }));
  const opened: BundledEntry[][] = [];
  for (const { kind, entries } of kept) {
    const bundled: BundledEntry[] = [];
    for (const { name, createdMs, author, ...sealed } of entries) {
      const entry = await seal.open(ENTRY_RECORDS[kind].sealNameOf(name), sealed);
      if (!entry.ok) unread.push({ kind, name, reason: entry.error });
      bundled.push({ name, entry: entry.ok ? entry.value : NOTHING, withheld: [], createdMs, author });
    }
    opened.push(bundled);
  }
  const [gateways = [], tools = [], functions = []] = opened;
  return {
    bundle: { gateways, tools, functions, trust, overrides, toolsets, equipped, preferences, policyRules },
    unread,
  };
}

/** The part that needs no key. Synchronous, so that it is a consistent snapshot. */
function plainState(
  records: Pick<RecordReplica, 'all' | 'get' | 'settings'>,
): Omit<Bundle, 'gateways' | 'tools' | 'functions'> {
  return {
    trust: records.all('trust'),
    overrides: records.all('tool').flatMap(overridesIn),
    toolsets: records.all('toolset').toSorted((one, other) => (one.name < other.name ? -1 : 1)),
    equipped: records.get(EQUIPPED.kind, EQUIPPED.id)?.toolset,
    preferences: new Map([...records.settings()].filter(([key, value]) => isStorable(key, value))),
    policyRules: records.get(POLICY_RULES.kind, POLICY_RULES.id)?.rules ?? [],
  };
}

const NOTHING: Entry = {};

function overridesIn(record: ToolRecord): readonly BundledOverride[] {
  const { id: _, drift: __, volatility: ___, verification: ____, ...bundled } = record;
  return isEmptyRecord({ id: '', ...bundled }) ? [] : [bundled];
}
