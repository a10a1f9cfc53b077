import type { ImportItem } from '../../../api/bundle.ts';
import {
  type BundleRecord,
  isEntry,
  KIND_LABELS,
  type RecordOf,
  toRecordKey,
} from '../../../core/bundle/bundle.ts';
import type { Planned } from '../../../core/bundle/bundle-plan.ts';
import { computeToolId } from '../../../core/record-ids.ts';
import type { EntryRecordKind, SettingValue } from '../../../core/record.ts';
import { type SettingFix, formatStartupPlaces } from '../../../core/resolve-settings.ts';
import { isPlainWord } from '@assay-mcp/kit/shell-argument';
import { isSettingKey, SETTINGS, type SettingKey } from '../../../core/settings.ts';
import { formatNamespacedName } from '../../../core/tool-ref.ts';
import { takesExecute } from './entry-records.ts';
import type { FilledRecords } from './fill-entries.ts';
import type { SuspendedHere } from './suspended-overrides.ts';

/** Facts of this installation, besides the store, that an import is checked against. */
export interface ImportContext {
  /** Names of servers of the config file. */
  readonly configNames: () => readonly string[];
  /** What overrides the stored value of a setting. */
  readonly settingFix: (key: string) => SettingFix | undefined;
  /** The value of a setting in this process. */
  readonly runningSetting: (key: SettingKey) => SettingValue | null;
}

export interface PlannedImport {
  readonly planned: readonly Planned[];
  readonly filled: FilledRecords;
  /** Settings of the bundle that no bundle may change. */
  readonly refusedSettings: readonly RecordOf<'setting'>[];
  readonly suspended: SuspendedHere;
  /** By `toRecordKey`. */
  readonly warnings: ReadonlyMap<string, readonly string[]>;
}

/** A plan for display: nothing secret, with warnings for each item. */
export function planItems(
  { planned, filled, refusedSettings, suspended, warnings: given }: PlannedImport,
  context: ImportContext,
): readonly ImportItem[] {
  const items = planned.map(({ record, former, action, changed }): ImportItem => {
    const [kind, name] = [KIND_LABELS[record.kind], toRecordName(record)];
    const values = toValues(record, former, context);
    const warnings = [...listWarnings(record, suspended, context), ...(given.get(toRecordKey(record)) ?? [])];
    return { kind, name, action, changed, ...values, warnings };
  });
  const leftOut = filled.leftOut.map(({ kind, name, missing }): ImportItem => {
    const warning = `It cannot be made without ${missing.join(', ')}: give the passphrase of the bundle, or make it anew.`;
    return { kind, name, action: 'omitted', changed: [], warnings: [warning] };
  });
  const refused = refusedSettings.map(({ id, body }): ImportItem => {
    const warning = `A bundle cannot change it, as it controls access to Assay or the addresses it may reach. Set ${isSettingKey(id) ? formatStartupPlaces(id) : id}.`;
    const values = { before: isSettingKey(id) ? context.runningSetting(id) : null, after: body };
    return { kind: 'preference', name: id, action: 'omitted', changed: [], ...values, warnings: [warning] };
  });
  return [...items, ...leftOut, ...refused];
}

/** What people call the record. */
function toRecordName(record: BundleRecord): string {
  switch (record.kind) {
    case 'trust':
      return record.body.server;
    case 'tool':
      return formatNamespacedName(record.body.server, record.body.name);
    case 'equipped':
      return record.body.toolset;
    case 'setting':
      return record.id;
    case 'policy_rules':
      return 'policy.rules';
    default:
      return record.body.name;
  }
}

/** Before and after, if the change is a single comparable value. Never secret. */
function toValues(
  record: BundleRecord,
  former: BundleRecord | undefined,
  context: ImportContext,
): Pick<ImportItem, 'before' | 'after'> {
  if (record.kind === 'setting') {
    const { id, body: after } = record;
    const stored = former?.kind === 'setting' ? former.body : undefined;
    if (!isSettingKey(id)) return { before: stored ?? null, after };
    const isFixed = context.settingFix(id) !== undefined;
    return {
      before: isFixed ? context.runningSetting(id) : (stored ?? SETTINGS[id].kind.defaultValue),
      after,
    };
  }
  if (record.kind === 'trust')
    return { before: former?.kind === 'trust' ? former.body.trust : null, after: record.body.trust };
  if (record.kind === 'equipped')
    return { before: former?.kind === 'equipped' ? former.body.toolset : null, after: record.body.toolset };
  return {};
}

function listWarnings(
  record: BundleRecord,
  suspended: SuspendedHere,
  context: ImportContext,
): readonly string[] {
  if (record.kind === 'tool') return listOverrideWarnings(record, suspended);
  if (record.kind === 'setting') {
    const fix = context.settingFix(record.id);
    return fix === undefined
      ? []
      : [`Here it is fixed by the ${fix.origin} (${fix.by}), which goes before it.`];
  }
  if (!isEntry(record)) return [];
  const { kind, body } = record;
  const { name, entry, withheld = [] } = body;
  const isShadowed = kind === 'gateway' && context.configNames().includes(name);
  return [
    ...(withheld.length === 0 ? [] : [`It needs ${withheld.join(', ')}: ${REMEDIES[kind]}.`]),
    ...(isShadowed ? ['The config file has a server of this name, which goes before it.'] : []),
    ...(takesExecute(kind, entry) ? ['It runs a program or reads a file here.'] : []),
  ];
}

function listOverrideWarnings(record: RecordOf<'tool'>, suspended: SuspendedHere): readonly string[] {
  const { server, identity, name } = record.body;
  const id = computeToolId(server, identity, name);
  const hints = suspended.get(id);
  if (hints === undefined) return [];
  const tool = toRecordName(record);
  const ref = isPlainWord(tool) ? tool : id;
  return [
    `The override of ${hints.join(' and ')} is suspended: the definition of ${tool} here differs from the one that it was made for. \`assay review ${ref}\` shows what changed and, with --accept, accepts it; over REST, use GET /tools/${id} and POST /tools/${id}/review.`,
  ];
}

const REMEDIES: Readonly<Record<EntryRecordKind, string>> = {
  gateway: 'give them with PUT /gateways/{id}',
  rest_tool: 'give them with PUT /tools/{id}',
  function_module: 'take it away and add it again with them',
};
