import type { EntryKind } from '../../../core/bundle/bundle.ts';
import type { BundleItem } from '../../../core/bundle/bundle-items.ts';
import type { PlainValue, Planned, PlanItem } from '../../../core/bundle/bundle-plan.ts';
import { computeToolId } from '../../../core/record-ids.ts';
import { type SettingFix, formatStartupPlaces } from '../../../core/resolve-settings.ts';
import { isPlainWord } from '../../../core/shell-argument.ts';
import { isSettingKey, SETTINGS, type SettingKey } from '../../../core/settings.ts';
import { takesExecute } from './entry-records.ts';
import { toEntryKey, type RefilledBundle } from './fill-entries.ts';
import type { SuspendedHere } from './suspended-overrides.ts';

/** Facts of this installation, besides the store, that an import is checked against. */
export interface ImportContext {
  /** Names of servers of the config file. */
  readonly configNames: () => readonly string[];
  /** What overrides the stored value of a setting. */
  readonly settingFix: (key: string) => SettingFix | undefined;
  /** The value of a setting in this process. */
  readonly runningSetting: (key: SettingKey) => PlainValue;
}

export interface PlannedImport {
  readonly planned: readonly Planned[];
  readonly filled: RefilledBundle;
  /** Settings of the bundle that no bundle may change. */
  readonly refusedSettings: ReadonlyMap<SettingKey, unknown>;
  readonly suspended: SuspendedHere;
}

/** A plan for display: nothing secret, with warnings for each item. */
export function planItems(
  { planned, filled, refusedSettings, suspended }: PlannedImport,
  context: ImportContext,
): readonly PlanItem[] {
  const items = planned.map(({ item, former, action, changed }): PlanItem => {
    const warnings =
      item.kind === 'override' ? overrideWarnings(item, suspended) : warningsOf(item, filled, context);
    return {
      kind: item.kind,
      name: item.name,
      action,
      changed,
      ...valuesOf({ item, former }, context),
      warnings,
    };
  });
  const leftOut = filled.leftOut.map(({ kind, name, missing }): PlanItem => {
    const warning = `It cannot be made without ${missing.join(', ')}: give the passphrase of the bundle, or make it anew.`;
    return { kind, name, action: 'omitted', changed: [], warnings: [warning] };
  });
  const refused = [...refusedSettings].map(([key, value]): PlanItem => {
    const warning = `A bundle cannot change it, as it controls access to Assay or the addresses it may reach. Set ${formatStartupPlaces(key)}.`;
    const values = { before: context.runningSetting(key), after: plainValue(value) };
    return { kind: 'preference', name: key, action: 'omitted', changed: [], ...values, warnings: [warning] };
  });
  return [...items, ...leftOut, ...refused];
}

/** Before and after, if the change is a single comparable value. Never secret. */
function valuesOf(
  { item, former }: Pick<Planned, 'item' | 'former'>,
  context: ImportContext,
): Pick<PlanItem, 'before' | 'after'> {
  if (item.kind === 'preference') {
    const { key, value } = item.value;
    const there = former?.kind === 'preference' ? former.value.value : undefined;
    const isFixed = context.settingFix(key) !== undefined;
    const defaultValue = isSettingKey(key) ? SETTINGS[key].kind.defaultValue : null;
    const before = isFixed && isSettingKey(key) ? context.runningSetting(key) : (there ?? defaultValue);
    return { before: plainValue(before), after: plainValue(value) };
  }
  if (item.kind === 'trust')
    return { before: former?.kind === 'trust' ? former.value.trust : null, after: item.value.trust };
  if (item.kind === 'equipped')
    return { before: former?.kind === 'equipped' ? former.value : null, after: item.value };
  return {};
}

/** A parsed bundle contains nothing else here. */
function plainValue(value: unknown): PlainValue {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
}

function warningsOf(item: BundleItem, filled: RefilledBundle, context: ImportContext): readonly string[] {
  if (item.kind === 'preference') {
    const fix = context.settingFix(item.name);
    return fix === undefined
      ? []
      : [`Here it is fixed by the ${fix.origin} (${fix.by}), which goes before it.`];
  }
  if (item.kind !== 'gateway' && item.kind !== 'tool' && item.kind !== 'function') return [];
  const missing = filled.missing.get(toEntryKey(item.kind, item.name)) ?? [];
  const isShadowed = item.kind === 'gateway' && context.configNames().includes(item.name);
  return [
    ...(missing.length === 0 ? [] : [`It needs ${missing.join(', ')}: ${REMEDIES[item.kind]}.`]),
    ...(isShadowed ? ['The config file has a server of this name, which goes before it.'] : []),
    ...(takesExecute(item.kind, item.value.entry) ? ['It runs a program or reads a file here.'] : []),
  ];
}

function overrideWarnings(
  { name: tool, value }: Extract<BundleItem, { readonly kind: 'override' }>,
  suspended: SuspendedHere,
): readonly string[] {
  const id = computeToolId(value.server, value.identity, value.name);
  const hints = suspended.get(id);
  if (hints === undefined) return [];
  const ref = isPlainWord(tool) ? tool : id;
  return [
    `The override of ${hints.join(' and ')} is suspended: the definition of ${tool} here differs from the one that it was made for. \`assay review ${ref}\` shows what changed and, with --accept, accepts it; over REST, use GET /tools/${id} and POST /tools/${id}/review.`,
  ];
}

const REMEDIES: Readonly<Record<EntryKind, string>> = {
  gateway: 'give them with PUT /gateways/{id}',
  tool: 'give them with PUT /tools/{id}',
  function: 'take it away and add it again with them',
};
