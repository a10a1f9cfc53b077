import type { EntryKind } from '../../core/bundle/bundle.ts';
import type { BundleItem } from '../../core/bundle/bundle-items.ts';
import type { Planned, PlanItem } from '../../core/bundle/bundle-plan.ts';
import type { SettingFix } from '../../core/setting-fix.ts';
import { takesExecute } from './entry-words.ts';
import { entryKey, type Filled } from './fill-entries.ts';

/** What an import meets here beside what is stored. */
export interface Surrounded {
  /** Names of servers of the config file. */
  readonly configNames: () => readonly string[];
  /** Whose word on a setting goes before what is stored. */
  readonly settingFix: (key: string) => SettingFix | undefined;
}

/** A plan as people are shown it: nothing secret, and what they have to know of each thing. */
export function planItems(
  planned: readonly Planned[],
  filled: Filled,
  around: Surrounded,
): readonly PlanItem[] {
  const items = planned.map(({ item, action, changed }): PlanItem => {
    const warnings = warningsOf(item, filled, around);
    return { kind: item.kind, name: item.name, action, changed, warnings };
  });
  const leftOut = filled.leftOut.map(({ kind, name, missing }): PlanItem => {
    const warning = `It cannot be made without ${missing.join(', ')}: give the passphrase of the bundle, or make it anew.`;
    return { kind, name, action: 'left out', changed: [], warnings: [warning] };
  });
  return [...items, ...leftOut];
}

function warningsOf(item: BundleItem, filled: Filled, around: Surrounded): readonly string[] {
  if (item.kind === 'preference') {
    const fix = around.settingFix(item.name);
    return fix === undefined
      ? []
      : [`Here it is fixed by the ${fix.origin} (${fix.by}), which goes before it.`];
  }
  if (item.kind !== 'gateway' && item.kind !== 'tool' && item.kind !== 'function') return [];
  const missing = filled.missing.get(entryKey(item.kind, item.name)) ?? [];
  const isShadowed = item.kind === 'gateway' && around.configNames().includes(item.name);
  return [
    ...(missing.length === 0 ? [] : [`It needs ${missing.join(', ')}: ${REMEDIES[item.kind]}.`]),
    ...(isShadowed ? ['The config file has a server of this name, which goes before it.'] : []),
    ...(takesExecute(item.kind, item.value.entry) ? ['It runs a program or reads a file here.'] : []),
  ];
}

const REMEDIES: Readonly<Record<EntryKind, string>> = {
  gateway: 'give them with PUT /gateways/{id}',
  tool: 'give them with PUT /tools/{id}',
  function: 'take it away and add it again with them',
};
