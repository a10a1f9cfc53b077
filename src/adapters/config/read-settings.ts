import type { Node } from 'jsonc-parser';
import { nearest } from '../../core/nearest.ts';
import { settingFault } from '../../core/resolve-settings.ts';
import type { SettingFacts } from '../../core/setting-kind.ts';
import { SETTINGS } from '../../core/settings.ts';
import { quoted, type Complaints } from './complaints.ts';
import { membersOf } from './json-tree.ts';

/** `settings` or `featureFlags` of a config file: those that are known and fit. One that does not fit costs itself alone. */
export function readSettings(
  object: Node,
  complaints: Complaints,
  member: 'settings' | 'featureFlags' = 'settings',
): ReadonlyMap<string, unknown> {
  const settings = new Map<string, unknown>();
  const seen = new Set<string>();
  for (const { key, keyNode, value } of membersOf(object)) {
    const path = [member, key];
    const facts = FACTS[member].get(key);
    const fault = facts && settingFault(facts, value.value);
    if (facts === undefined)
      complaints.warn(
        { node: keyNode, path },
        'this setting is not known and has no effect',
        instead(key, member),
      );
    else if (seen.has(key))
      complaints.problem({ node: keyNode, path }, 'this key stands there twice', 'The first counts.');
    else if (fault !== undefined)
      complaints.problem({ node: value, path }, fault, 'This one is passed over until then.');
    else settings.set(key, value.value);
    seen.add(key);
  }
  return settings;
}

const ALL: readonly (readonly [string, SettingFacts])[] = Object.entries(SETTINGS);

const FACTS: Readonly<Record<'settings' | 'featureFlags', ReadonlyMap<string, SettingFacts>>> = {
  settings: new Map(ALL),
  featureFlags: new Map(ALL.filter(([, { kind }]) => kind.type === 'flag')),
};

function instead(key: string, member: keyof typeof FACTS): string {
  const meant = nearest(key, [...FACTS[member].keys()]);
  if (meant !== undefined) return `Write ${quoted(meant)} if you mean that.`;
  return member === 'settings'
    ? '`assay settings` shows all; each is one key with a dot in it, such as "limits.sessions".'
    : `Known: ${[...FACTS.featureFlags.keys()].join(', ')}.`;
}
