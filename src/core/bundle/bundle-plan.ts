import { canonicalJson } from '../canonical-json.ts';
import type { Bundle } from './bundle.ts';
import { itemsOf, type BundleItem, type ItemKind } from './bundle-items.ts';

/** What an import does with one thing. */
export interface PlanItem {
  readonly kind: ItemKind;
  readonly name: string;
  readonly action: PlanAction;
  /** The members that are others, or are new; of what is created, none are named. */
  readonly changed: readonly string[];
  /** Of a preference, of trust and of what is equipped: the value that holds here now, and the one that the bundle brings. */
  readonly before?: PlainValue;
  readonly after?: PlainValue;
  /** Sentences. */
  readonly warnings: readonly string[];
}

export type PlainValue = string | number | boolean | null;

/** `kept`: it differs, and what is there stays. `left out`: it lacks its secrets, or a bundle may not bring it. */
export type PlanAction = 'create' | 'update' | 'unchanged' | 'kept' | 'omitted';

/** What becomes of what is there already and differs. */
export type OnConflict = 'replace' | 'keep';

/** One thing with what is planned for it. */
export interface Planned {
  readonly item: BundleItem;
  readonly former: BundleItem | undefined;
  readonly action: Exclude<PlanAction, 'omitted'>;
  readonly changed: readonly string[];
}

/** What of a bundle is to be done where this is there already. What the bundle does not name stays. */
export function planImport(wanted: Bundle, there: Bundle, onConflict: OnConflict): readonly Planned[] {
  const formers = new Map(itemsOf(there).map((item) => [item.key, item]));
  return itemsOf(wanted).map((item): Planned => {
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
  return Object.hasOwn(members, name) ? canonicalJson(members[name]) : undefined;
}
