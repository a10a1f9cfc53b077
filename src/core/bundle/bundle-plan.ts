import { serializeCanonical } from '../canonical-json.ts';
import type { Bundle } from './bundle.ts';
import { listBundleItems, type BundleItem, type ItemKind } from './bundle-items.ts';

/** What an import does with one item. */
export interface PlanItem {
  readonly kind: ItemKind;
  readonly name: string;
  readonly action: PlanAction;
  /** Members that are new or differ; empty if the item is created. */
  readonly changed: readonly string[];
  /** Only for preferences, trust and the equipped toolset: the current value and the one in the bundle. */
  readonly before?: PlainValue;
  readonly after?: PlainValue;
  /** Sentences. */
  readonly warnings: readonly string[];
}

export type PlainValue = string | number | boolean | null;

/** `kept`: differs, but the existing item stays. `omitted`: its secrets are missing, or a bundle may not contain it. */
export type PlanAction = 'create' | 'update' | 'unchanged' | 'kept' | 'omitted';

/** What happens to an existing item that differs. */
export type OnConflict = 'replace' | 'keep';

/** An item and its planned action. */
export interface Planned {
  readonly item: BundleItem;
  readonly former: BundleItem | undefined;
  readonly action: Exclude<PlanAction, 'omitted'>;
  readonly changed: readonly string[];
}

/** Plans an import on top of the existing state. Items that the bundle does not contain are left alone. */
export function planImport(wanted: Bundle, there: Bundle, onConflict: OnConflict): readonly Planned[] {
  const formers = new Map(listBundleItems(there).map((item) => [item.key, item]));
  return listBundleItems(wanted).map((item): Planned => {
    const former = formers.get(item.key);
    if (former === undefined) return { item, former, action: 'create', changed: [] };
    const changed = changedMembers(former.members, item.members);
    if (changed.length === 0) return { item, former, action: 'unchanged', changed };
    return { item, former, action: onConflict === 'keep' ? 'kept' : 'update', changed };
  });
}

type Members = BundleItem['members'];

function changedMembers(before: Members, after: Members): readonly string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...names].filter((name) => textOf(before, name) !== textOf(after, name)).sort();
}

function textOf(members: Members, name: string): string | undefined {
  return Object.hasOwn(members, name) ? serializeCanonical(members[name]) : undefined;
}
