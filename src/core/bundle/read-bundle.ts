import { isJsonObject } from '../json-object.ts';
import {
  addFault,
  type Fault,
  isGiven,
  type JsonPosition,
  readMemberAt,
  readMembersAt,
  MISSING,
  readTextIfGiven,
} from '../json-position.ts';
import { anything, list, object, optional, type Reader, record, text, time } from '../json-reader.ts';
import { readRules } from '../policy/read-rules.ts';
import { readToolset, type LeftOut } from '../read-toolset-json.ts';
import { isSettingValue, type SettingValue } from '../record.ts';
import type { FieldError } from '../field-error.ts';
import { findSettingFault } from '../resolve-settings.ts';
import { err, ok, type Result } from '../result.ts';
import { isFormerSetting } from '../fixed-limits.ts';
import { isSettingKey, SETTINGS } from '../settings.ts';
import { TOOLSET_LIMITS, type Toolset } from '../toolset.ts';
import type { BundledEntry, BundleFile } from './bundle.ts';
import { sealed } from './read-sealed.ts';
import { bundledOverride, bundledTrust } from './read-bundled-override.ts';

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
  const read = written({ value, pointer: '', faults });
  if (faults.length > 0) return err(faults.slice(0, MAX_FAULTS).map(invalid));
  const { gateways = [], tools = [], functions = [], trust = [], overrides = [], toolsets = [] } = read;
  const { equipped, preferences = new Map<string, SettingValue>(), policyRules = [], sealed: secrets } = read;
  const entries = { gateways, tools, functions, trust, overrides };
  return ok({ ...entries, toolsets, equipped, preferences, policyRules, sealed: secrets });
}

function invalid({ pointer, reason }: Fault): FieldError {
  return { at: pointer, kind: 'invalid', reason };
}

const writtenEntry = object({
  name: text,
  entry: record(anything),
  withheld: optional(list(text)),
  createdAt: time,
  createdBy: text,
});

const entry: Reader<BundledEntry> = (position) => {
  const read = writtenEntry(position);
  const withheld = [...new Set(read.withheld)].sort();
  const both = withheld.find((name) => Object.hasOwn(read.entry, name));
  if (both !== undefined)
    addFault(readMemberAt(readMemberAt(position, 'entry'), both), 'it is listed as withheld too');
  return { name: read.name, entry: read.entry, withheld, createdMs: read.createdAt, author: read.createdBy };
};

/** An optional list whose items must differ in the given keys. */
function distinct<T>(
  read: Reader<T>,
  keysOf: (thing: T) => readonly string[],
): Reader<readonly T[] | undefined> {
  return optional((position) => {
    const known = new Set<string>();
    const once: Reader<T> = (item) => {
      const thing = read(item);
      const key = JSON.stringify(keysOf(thing));
      if (known.has(key)) addFault(item, 'it occurs twice');
      known.add(key);
      return thing;
    };
    return list(once)(position);
  });
}

/** The toolset reader tolerates files of other programs; in a bundle, everything it would leave out is an error. */
const toolset: Reader<Toolset> = (position) => {
  for (const member of ['createdAt', 'lastModified'])
    if (!isGiven(readMemberAt(position, member))) addFault(readMemberAt(position, member), 'it is missing');
  const leftOut: LeftOut[] = [];
  const read = readToolset({ position, name: readMemberAt(position, 'name') }, { nowMs: 0, leftOut });
  for (const { tool, note, reason } of leftOut) {
    const what = note === undefined ? 'the tool' : `the note ${JSON.stringify(note)} on`;
    addFault(position, `${what} ${JSON.stringify(tool)} cannot be kept: ${reason}`);
  }
  return read;
};

const preferences: Reader<ReadonlyMap<string, SettingValue>> = (position) => {
  const members = readMembersAt(position);
  for (const [key, member] of members) {
    const reason = preferenceFault(key, member.value);
    if (reason !== undefined) addFault(member, reason);
  }
  return new Map(
    members.flatMap(([key, { value }]) => (isSettingValue(value) ? [[key, value] as const] : [])),
  );
};

const version: Reader<undefined> = (position) => {
  if (position.value === 1) return;
  addFault(position, isGiven(position) ? 'this Assay reads only version 1' : MISSING);
};

/** For people only. */
const unread: Reader<undefined> = () => undefined;

const members = object({
  assay: version,
  exportedAt: unread,
  gateways: distinct(entry, ({ name }) => [name]),
  tools: distinct(entry, ({ name }) => [name]),
  functions: distinct(entry, ({ name }) => [name]),
  trust: distinct(bundledTrust, ({ server, identity }) => [server, identity]),
  overrides: distinct(bundledOverride, ({ server, identity, name }) => [server, identity, name]),
  toolsets: distinct(toolset, ({ name }) => [name]),
  equipped: (position) => (position.value === null ? undefined : readTextIfGiven(position)),
  preferences: optional(preferences),
  policyRules: optional(readRules),
  sealed: optional(sealed),
  leftOut: unread,
});

/** Checks across members. */
function written(position: JsonPosition): ReturnType<typeof members> {
  const read = members(position);
  const { equipped, toolsets = [] } = read;
  const max = TOOLSET_LIMITS.toolsets;
  if (toolsets.length > max)
    addFault(readMemberAt(position, 'toolsets'), `it may have at most ${max} toolsets`);
  if (equipped !== undefined && !toolsets.some(({ name }) => name === equipped))
    addFault(readMemberAt(position, 'equipped'), 'no toolset of the bundle is called so');
  return read;
}

function preferenceFault(key: string, value: unknown): string | undefined {
  if (isFormerSetting(key)) return 'it is no longer a setting but a fixed limit: remove it';
  if (!isSettingKey(key)) return 'there is no such setting';
  // A list with a single text would otherwise compare equal to that text.
  return isSettingValue(value)
    ? findSettingFault(SETTINGS[key], value)
    : 'it must be a text, a number, true or false';
}

/** Number of items in the lists of a bundle, and in the lists within those. */
function itemsIn(value: unknown): number {
  const lists = isJsonObject(value) ? Object.values(value).filter(Array.isArray) : [];
  const inner = lists.flat().flatMap((item: unknown) => (isJsonObject(item) ? Object.values(item) : []));
  return [...lists, ...inner.filter(Array.isArray)].reduce((sum, list) => sum + list.length, 0);
}

/** Iterative, since recursion could overflow the stack. */
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
