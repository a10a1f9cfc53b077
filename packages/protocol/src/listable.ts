import { DEFINITIONS, type ListedKind, type Member, type Rule } from './definition-rules.ts';
import type { Era } from './eras.ts';
import { type JsonObject, isJsonObject } from '@assay-mcp/kit/json-object';
import { shorten, truncateText } from '@assay-mcp/kit/shorten';

/**
 * Whether official clients accept a list with this definition. `without`: they do once the members at `paths` are left
 * out; `reasons[i]` belongs to `paths[i]`. Paths lead through objects only, and none is inside another. `withheld`:
 * leaving out members cannot fix it.
 */
export type Listable =
  | { readonly kind: 'whole' }
  | {
      readonly kind: 'without';
      readonly paths: readonly (readonly string[])[];
      readonly reasons: readonly string[];
    }
  | { readonly kind: 'withheld'; readonly reason: string };

/**
 * Official clients validate a list as one value, so that a single invalid definition costs them the whole list.
 * `definition` is parsed JSON. Members that no client of the era checks are never named.
 */
export function checkListable(kind: ListedKind, era: Era, definition: unknown): Listable {
  const finding = inspect(DEFINITIONS[kind], definition, era);
  if (finding.kind === 'broken')
    return { kind: 'withheld', reason: formatPathMessage(finding.at, finding.message) };
  if (finding.faults.length === 0) return { kind: 'whole' };
  return {
    kind: 'without',
    paths: finding.faults.map((fault) => fault.path),
    reasons: finding.faults.map((fault) => formatPathMessage(fault.at, fault.message)),
  };
}

type ObjectRule = Extract<Rule, { readonly kind: 'object' }>;

/** Object keys and array indexes from the definition down. */
export type JsonPath = readonly (string | number)[];

/** `at` is where a value is invalid; `path`, a prefix of it, is what to leave out. */
interface Fault {
  readonly path: readonly string[];
  readonly at: JsonPath;
  readonly message: string;
}

type Finding =
  | { readonly kind: 'sound'; readonly faults: readonly Fault[] }
  | { readonly kind: 'broken'; readonly at: JsonPath; readonly message: string };

/** With more faults than this, the containing member is left out as a whole. */
const MAX_FAULTS = 100;
const SOUND: Finding = { kind: 'sound', faults: [] };

function inspect(rule: Rule, value: unknown, era: Era): Finding {
  switch (rule.kind) {
    case 'value':
      return rule.holds(value) ? SOUND : broken(rule.message);
    case 'array':
      return Array.isArray(value) ? inspectElements(rule.each, value, era) : broken('is not an array');
    case 'record':
      return isJsonObject(value) ? inspectEntries(rule.each, value, era) : broken('is not an object');
    case 'object':
      return isJsonObject(value) ? inspectObject(rule, value, era) : broken('is not an object');
  }
}

/** Paths cannot lead into arrays, so an array with an invalid element is invalid. */
function inspectElements(each: Rule, elements: readonly unknown[], era: Era): Finding {
  for (const [index, element] of elements.entries()) {
    const finding = inspect(each, element, era);
    const worst = finding.kind === 'broken' ? finding : finding.faults[0];
    if (worst !== undefined) return broken(worst.message, [index, ...worst.at]);
  }
  return SOUND;
}

function inspectEntries(each: Rule, entries: JsonObject, era: Era): Finding {
  // The clients' parser skips a member named `__proto__`.
  const seen = Object.entries(entries).filter(([key]) => key !== '__proto__');
  const faults = seen.flatMap(([key, value]) => faultsOf(key, inspect(each, value, era)));
  return faults.length > MAX_FAULTS
    ? broken(`holds more than ${MAX_FAULTS} members that are bad`)
    : { kind: 'sound', faults };
}

function inspectObject(rule: ObjectRule, value: JsonObject, era: Era): Finding {
  const finding = inspectMembers(rule.members, value, era);
  if (finding.kind === 'broken') return finding;
  const isWhole = finding.faults.length === 0;
  const fault = era === 'modern' ? rule.modernFault?.(value) : isWhole && rule.legacyFault?.(value);
  return fault ? broken(fault.message, fault.at) : finding;
}

function inspectMembers(members: Readonly<Record<string, Member>>, value: JsonObject, era: Era): Finding {
  const faults: Fault[] = [];
  for (const [key, member] of Object.entries(members)) {
    if (member.only !== undefined && member.only !== era) continue;
    if (!Object.hasOwn(value, key)) {
      if (member.required) return broken('is absent', [key]);
      continue;
    }
    const found = inspect(member.rule, value[key], era);
    const finding = member.indivisible ? undivided(found) : found;
    if (finding.kind === 'broken' && member.required) return broken(finding.message, [key, ...finding.at]);
    faults.push(...faultsOf(key, finding));
  }
  return { kind: 'sound', faults };
}

/** What to leave out below `key`: the whole member if it is broken, else its invalid parts. */
function faultsOf(key: string, finding: Finding): readonly Fault[] {
  if (finding.kind === 'broken') return [{ path: [key], at: [key, ...finding.at], message: finding.message }];
  return finding.faults.map(({ path, at, message }) => ({ path: [key, ...path], at: [key, ...at], message }));
}

function undivided(finding: Finding): Finding {
  const first = finding.kind === 'sound' ? finding.faults[0] : undefined;
  return first === undefined ? finding : broken(first.message, first.at);
}

function broken(message: string, at: JsonPath = []): Finding {
  return { kind: 'broken', at, message };
}

const MAX_PATH_LENGTH = 300;
const PLAIN_KEY = /^[\w$]{1,64}$/;

/** For example `icons[0].src is absent`. Keys chosen by the server are escaped. */
export function formatPathMessage(at: JsonPath, message: string): string {
  let path = '';
  for (const step of at) {
    if (typeof step === 'number') path += `[${step}]`;
    else if (!PLAIN_KEY.test(step)) path += `[${JSON.stringify(truncateText(step, 64))}]`;
    else path += path === '' ? step : `.${step}`;
  }
  return path === '' ? `the definition ${message}` : `${shorten(path, MAX_PATH_LENGTH)} ${message}`;
}
