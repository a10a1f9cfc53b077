import { isJsonObject } from '../json-object.ts';
import {
  addFault,
  type Fault,
  isGiven,
  itemsAt,
  memberAt,
  membersAt,
  type JsonPosition,
  textAt,
  textIfGiven,
  timeMsAt,
} from '../json-position.ts';
import { readRules } from '../policy/read-rules.ts';
import { readToolset, type LeftOut } from '../read-toolset-json.ts';
import { isSettingValue, type SettingValue } from '../record.ts';
import type { FieldError } from '../field-error.ts';
import { settingFault } from '../resolve-settings.ts';
import { err, ok, type Result } from '../result.ts';
import { isFormerSetting } from '../fixed-limits.ts';
import { isSettingKey, SETTINGS } from '../settings.ts';
import { TOOLSET_LIMITS, type Toolset } from '../toolset.ts';
import type { BundledEntry, BundleFile } from './bundle.ts';
import { onlyMembers, readSealed } from './read-sealed.ts';
import { readBundledOverride, readTrust } from './read-bundled-override.ts';

const MEMBERS: readonly string[] = [
  ...['assay', 'exportedAt', 'gateways', 'tools', 'functions', 'trust', 'overrides', 'toolsets'],
  ...['equipped', 'preferences', 'policyRules', 'sealed', 'leftOut'],
];

/** Deeper nesting could overflow the stack of a recursive reader. */
const MAX_DEPTH = 80;
/** Maximum number of items in all lists together: reading them takes 0.1 s at most. */
const MAX_ITEMS = 20_000;
/** Maximum number of problems reported at once. */
const MAX_FAULTS = 100;

/**
 * Reads a whole bundle. On failure returns every problem with its JSON pointer. Whether the entries are usable is not
 * checked here.
 */
export function readBundle(value: unknown): Result<BundleFile, readonly FieldError[]> {
  const items = itemsIn(value);
  if (items > MAX_ITEMS)
    return err([
      invalid({ pointer: '', reason: `it has ${items} items; at most ${MAX_ITEMS} are read, so split it` }),
    ]);
  if (isDeep(value))
    return err([invalid({ pointer: '', reason: `it is nested more than ${MAX_DEPTH} deep` })]);
  const faults: Fault[] = [];
  const file: JsonPosition = { value, pointer: '', faults };
  const at = (name: string): JsonPosition => memberAt(file, name);
  onlyMembers(file, MEMBERS);
  if (faults.length === 0 && at('assay').value !== 1)
    addFault(at('assay'), isGiven(at('assay')) ? 'this Assay reads only version 1' : 'it is missing');
  const bundle: BundleFile = {
    gateways: entriesAt(at('gateways')),
    tools: entriesAt(at('tools')),
    functions: entriesAt(at('functions')),
    trust: distinctAt(at('trust'), readTrust, ({ server, identity }) => [server, identity]),
    overrides: distinctAt(at('overrides'), readBundledOverride, (override) => [
      override.server,
      override.identity,
      override.name,
    ]),
    toolsets: toolsetsAt(at('toolsets')),
    equipped: at('equipped').value === null ? undefined : textIfGiven(at('equipped')),
    preferences: preferencesAt(at('preferences')),
    policyRules: isGiven(at('policyRules')) ? readRules(at('policyRules')) : [],
    sealed: isGiven(at('sealed')) ? readSealed(at('sealed')) : undefined,
  };
  const { equipped, toolsets } = bundle;
  if (equipped !== undefined && !toolsets.some(({ name }) => name === equipped))
    addFault(at('equipped'), 'no toolset of the bundle is called so');
  return faults.length === 0 ? ok(bundle) : err(faults.slice(0, MAX_FAULTS).map(invalid));
}

function invalid({ pointer, reason }: Fault): FieldError {
  return { at: pointer, kind: 'invalid', reason };
}

function entriesAt(position: JsonPosition): readonly BundledEntry[] {
  return distinctAt(position, readEntry, ({ name }) => [name]);
}

function readEntry(position: JsonPosition): BundledEntry {
  onlyMembers(position, ['name', 'entry', 'withheld', 'createdAt', 'createdBy']);
  const at = (name: string): JsonPosition => memberAt(position, name);
  const withheld = isGiven(at('withheld')) ? itemsAt(at('withheld')).map(textAt) : [];
  const members = membersAt(at('entry'));
  const both = members.find(([name]) => withheld.includes(name));
  if (both !== undefined) addFault(both[1], 'it is listed as withheld too');
  if (!isGiven(at('createdAt'))) addFault(at('createdAt'), 'it is missing');
  return {
    name: textAt(at('name')),
    entry: Object.fromEntries(members.map(([name, { value }]) => [name, value])),
    withheld: [...new Set(withheld)].sort(),
    createdMs: timeMsAt(at('createdAt'), 0),
    author: textAt(at('createdBy')),
  };
}

/** Reads an optional list whose items must differ in the given keys. */
function distinctAt<T>(
  position: JsonPosition,
  read: (item: JsonPosition) => T,
  keysOf: (thing: T) => readonly string[],
): readonly T[] {
  const known = new Set<string>();
  return optionalItems(position).map((item) => {
    const thing = read(item);
    const key = JSON.stringify(keysOf(thing));
    if (known.has(key)) addFault(item, 'it occurs twice');
    known.add(key);
    return thing;
  });
}

function optionalItems(position: JsonPosition): readonly JsonPosition[] {
  return isGiven(position) ? itemsAt(position) : [];
}

function toolsetsAt(position: JsonPosition): readonly Toolset[] {
  const toolsets = distinctAt(position, toolsetAt, ({ name }) => [name]);
  const max = TOOLSET_LIMITS.toolsets;
  if (toolsets.length > max) addFault(position, `it may have at most ${max} toolsets`);
  return toolsets;
}

/** The toolset reader tolerates files of other programs; in a bundle, everything it would leave out is an error. */
function toolsetAt(position: JsonPosition): Toolset {
  for (const member of ['createdAt', 'lastModified'])
    if (!isGiven(memberAt(position, member))) addFault(memberAt(position, member), 'it is missing');
  const leftOut: LeftOut[] = [];
  const toolset = readToolset({ position, name: memberAt(position, 'name') }, { nowMs: 0, leftOut });
  for (const { tool, note, reason } of leftOut) {
    const what = note === undefined ? 'the tool' : `the note ${JSON.stringify(note)} on`;
    addFault(position, `${what} ${JSON.stringify(tool)} cannot be kept: ${reason}`);
  }
  return toolset;
}

function preferencesAt(position: JsonPosition): ReadonlyMap<string, SettingValue> {
  const members = isGiven(position) ? membersAt(position) : [];
  for (const [key, member] of members) {
    const reason = preferenceFault(key, member.value);
    if (reason !== undefined) addFault(member, reason);
  }
  return new Map(
    members.flatMap(([key, { value }]) => (isSettingValue(value) ? [[key, value] as const] : [])),
  );
}

function preferenceFault(key: string, value: unknown): string | undefined {
  if (isFormerSetting(key)) return 'it is no longer a setting but a fixed limit: remove it';
  if (!isSettingKey(key)) return 'there is no such setting';
  // A list with a single text would otherwise compare equal to that text.
  return isSettingValue(value)
    ? settingFault(SETTINGS[key], value)
    : 'it must be a text, a number, true or false';
}

/** Iterative, since recursion could overflow the stack. */
/** Number of items in the lists of a bundle, and in the lists within those. */
function itemsIn(value: unknown): number {
  const lists = isJsonObject(value) ? Object.values(value).filter(Array.isArray) : [];
  const inner = lists.flat().flatMap((item: unknown) => (isJsonObject(item) ? Object.values(item) : []));
  return [...lists, ...inner.filter(Array.isArray)].reduce((sum, list) => sum + list.length, 0);
}

function isDeep(value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > MAX_DEPTH) return true;
    level = level.flatMap((one): readonly unknown[] =>
      typeof one === 'object' && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}
