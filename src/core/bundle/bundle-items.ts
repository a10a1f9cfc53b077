import type { TrustRecord } from '../hints/hint.ts';
import type { PolicyRule } from '../policy/rule.ts';
import type { SettingValue } from '../record.ts';
import { toToolsetJson } from '../toolset-json.ts';
import type { Toolset } from '../toolset.ts';
import { ENTRY_KINDS, ENTRY_LISTS, type Bundle, type BundledEntry, type EntryKind } from './bundle.ts';
import type { BundledOverride } from './bundle.ts';
import { toEntryJson, toBundledOverrideJson } from './bundle-json.ts';

/** One item of a bundle; items are compared and imported individually. */
export type BundleItem = ItemValue & {
  /** Display name. */
  readonly name: string;
  /** Unique within the bundle. */
  readonly key: string;
  /** The members that are compared. */
  readonly members: Readonly<Record<string, unknown>>;
};

type ItemValue =
  | { readonly kind: EntryKind; readonly value: BundledEntry }
  | { readonly kind: 'trust'; readonly value: TrustRecord }
  | { readonly kind: 'override'; readonly value: BundledOverride }
  | { readonly kind: 'toolset'; readonly value: Toolset }
  | { readonly kind: 'equipped'; readonly value: string }
  | { readonly kind: 'preference'; readonly value: { readonly key: string; readonly value: SettingValue } }
  | { readonly kind: 'policy_rules'; readonly value: readonly PolicyRule[] };

export type ItemKind = ItemValue['kind'];

/** All items of a bundle, each after the items it refers to. */
export function listBundleItems(bundle: Bundle): readonly BundleItem[] {
  return [
    ...ENTRY_KINDS.flatMap((kind) => bundle[ENTRY_LISTS[kind]].map((entry) => entryItem(kind, entry))),
    ...bundle.trust.map(trustItem),
    ...bundle.overrides.map(overrideItem),
    ...bundle.toolsets.map(toolsetItem),
    ...(bundle.equipped === undefined ? [] : [equippedItem(bundle.equipped)]),
    ...[...bundle.preferences].map(([key, value]) => preferenceItem(key, value)),
    ...(bundle.policyRules.length === 0 ? [] : [rulesItem(bundle.policyRules)]),
  ];
}

function entryItem(kind: EntryKind, value: BundledEntry): BundleItem {
  const { name, entry, createdAt, createdBy } = toEntryJson(value);
  return { kind, value, name, key: keyOf(kind, name), members: { ...entry, createdAt, createdBy } };
}

function trustItem(value: TrustRecord): BundleItem {
  const { server: name, identity, trust } = value;
  return { kind: 'trust', value, name, key: keyOf('trust', name, identity), members: { trust } };
}

function overrideItem(value: BundledOverride): BundleItem {
  const { server, identity, name, hints, ...override } = toBundledOverrideJson(value);
  return {
    kind: 'override',
    value,
    name: `${server}.${name}`,
    key: keyOf('override', server, identity, name),
    members: { ...hints, ...override },
  };
}

function toolsetItem(value: Toolset): BundleItem {
  const { name, ...members } = toToolsetJson(value);
  return { kind: 'toolset', value, name, key: keyOf('toolset', name), members };
}

function equippedItem(name: string): BundleItem {
  return { kind: 'equipped', value: name, name, key: 'equipped', members: { toolset: name } };
}

function preferenceItem(key: string, value: SettingValue): BundleItem {
  return {
    kind: 'preference',
    value: { key, value },
    name: key,
    key: keyOf('preference', key),
    members: { value },
  };
}

/** All rules are one item, since they only make sense together. */
function rulesItem(value: readonly PolicyRule[]): BundleItem {
  return {
    kind: 'policy_rules',
    value,
    name: 'policy.rules',
    key: 'policy_rules',
    members: { rules: value },
  };
}

function keyOf(kind: ItemKind, ...names: readonly string[]): string {
  return JSON.stringify([kind, ...names]);
}
