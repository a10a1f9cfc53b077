import { isMembers } from '@assay-mcp/kit/canonical-json';
import { type Documents, type Located, findMemberAt, getRef, type Target } from './documents.ts';
import {
  toDraft2020,
  IN_PLACE,
  isPattern,
  type JsonSchema,
  KEYWORDS,
  type SchemaMembers,
  WORDS,
} from './schema-keywords.ts';

export interface ConversionOptions {
  readonly documents: Documents;
  readonly direction: Direction;
  /** Whether to keep annotations such as descriptions; a large schema drops them. */
  readonly hasWords: boolean;
  /** OpenAPI 3.0 ignores siblings of a `$ref`, except annotations. */
  readonly ignoresSiblings: boolean;
}

/** What a conversion needs from the definitions and reports to them. */
export interface Conversion {
  /** The schema of a reference, mostly `{$ref: '#/$defs/…'}`. */
  reference(target: Target): JsonSchema;
  /** Reports, as a phrase, what cannot be converted. */
  broken(why: string): void;
}

/** Converts a schema of the document to JSON Schema 2020-12. `within` is its key if it is a definition. */
export type ConvertSchema = (
  located: Located,
  within: string | undefined,
  conversion: Conversion,
) => JsonSchema;

export function openConversion(options: ConversionOptions): ConvertSchema {
  const reach = openInPlaceReach(options.documents);
  return (located, within, conversion) => {
    const context: Context = { options, reach, conversion, writtenOutLeft: MAX_INLINED };
    return convert(located, { within: within === undefined ? [] : [within], hidden: NONE }, context) ?? true;
  };
}

/** Definitions that refer to each other for the same value are inlined, within these limits. */
const MAX_NESTED = 6;
const MAX_INLINED = 200;

const NONE: ReadonlySet<string> = new Set();

interface Context {
  readonly options: ConversionOptions;
  readonly reach: InPlaceReach;
  readonly conversion: Conversion;
  writtenOutLeft: number;
}

/** Position of a schema. */
interface SchemaPosition {
  /** Keys of the enclosing definitions that apply to the same value. */
  readonly within: readonly string[];
  /** Properties hidden by a schema that applies to the same value. */
  readonly hidden: ReadonlySet<string>;
}

/** Undefined if an enclosing schema already applies the same to the value. */
function convert(located: Located, position: SchemaPosition, context: Context): JsonSchema | undefined {
  const { value } = located;
  if (typeof value === 'boolean') return value;
  if (!isMembers(value)) return {};
  const reference = getRef(value);
  if (reference === undefined) return convertMembers(located, value, { position, context });
  const { documents, ignoresSiblings } = context.options;
  const found = documents.find(reference, located.at);
  const end = found.ok ? documents.follow(found.value) : found;
  if (!found.ok || !end.ok) {
    context.conversion.broken(end.ok ? 'a $ref of it leads nowhere' : end.error);
    return {};
  }
  const referred = convertReference(found.value, position, context);
  if (referred === undefined) return undefined;
  const siblings = Object.entries(value).filter(
    ([key]) => key !== '$ref' && (!ignoresSiblings || WORDS.has(key)),
  );
  const beside = convertMembers(located, Object.fromEntries(siblings), { position, context });
  return joined(referred, beside, value['nullable'] === true);
}

function convertReference(
  target: Target,
  position: SchemaPosition,
  context: Context,
): JsonSchema | undefined {
  const { within } = position;
  if (within.includes(target.key)) return undefined;
  if (within.length === 0 || !context.reach(target, within)) return context.conversion.reference(target);
  context.writtenOutLeft -= 1;
  if (within.length >= MAX_NESTED || context.writtenOutLeft < 0) return undefined;
  return convert(target, { ...position, within: [...within, target.key] }, context);
}

/** Some documents put `nullable` next to a `$ref` and intend it to apply. */
function joined(referred: JsonSchema, beside: SchemaMembers, isNullable: boolean): JsonSchema {
  const keys = Object.keys(beside);
  if (isNullable) return { ...beside, anyOf: [referred, { type: 'null' }] };
  if (keys.length === 0) return referred;
  if (typeof referred === 'object' && keys.every((key) => WORDS.has(key))) return { ...referred, ...beside };
  return { ...beside, allOf: [referred] };
}

interface Inside {
  readonly position: SchemaPosition;
  readonly context: Context;
}

function convertMembers(
  located: Located,
  value: SchemaMembers,
  { position, context }: Inside,
): SchemaMembers {
  const { documents, direction, hasWords } = context.options;
  const mayHide = 'properties' in value || 'allOf' in value;
  const names = mayHide ? hiddenNames({ value, at: located.at }, documents, direction) : [];
  const hidden = names.length === 0 ? position.hidden : new Set([...position.hidden, ...names]);
  const here = { position: { ...position, hidden }, context };
  const converted = Object.entries(value).flatMap(([key, member]) => {
    const keyword = KEYWORDS.get(key);
    if (keyword === undefined || (!hasWords && WORDS.has(key) && key !== 'default')) return [];
    const at = { value: member, at: located.at };
    if (keyword.kind === 'value')
      return keyword.fits(member) ? [[key, filterRequired(key, member, hidden)] as const] : [];
    const schemas = convertKeyword(key, at, here);
    return schemas === undefined ? [] : [[key, schemas] as const];
  });
  const members = toDraft2020(value, Object.fromEntries(converted.filter(([, one]) => one !== undefined)));
  if (hasWords || members['examples'] === undefined) return members;
  const { examples, ...bare } = members;
  return bare;
}

/** `required` without hidden properties and duplicates. */
function filterRequired(key: string, value: unknown, hidden: ReadonlySet<string>): unknown {
  if (key !== 'required' || !Array.isArray(value)) return value;
  const names = value.filter((name) => typeof name === 'string' && !hidden.has(name));
  return names.length === 0 ? undefined : [...new Set(names)];
}

/** The value of a keyword that holds schemas. Undefined if the keyword would have no effect. */
function convertKeyword(key: string, member: Located, here: Inside): unknown {
  const { position, context } = here;
  const inside: SchemaPosition = IN_PLACE.has(key)
    ? { within: position.within, hidden: key === 'allOf' ? position.hidden : NONE }
    : { within: [], hidden: NONE };
  const part = (value: unknown): JsonSchema | undefined => convert({ value, at: member.at }, inside, context);
  const { value } = member;
  const kind = KEYWORDS.get(key)?.kind;
  if (kind === 'schemas') return Array.isArray(value) ? listed(key, value.map(part)) : undefined;
  if (kind === 'schema') return isMembers(value) || typeof value === 'boolean' ? part(value) : undefined;
  if (!isMembers(value)) return undefined;
  const { documents, direction } = context.options;
  const entries = Object.entries(value).filter(([name, one]) =>
    kind === 'patternMap'
      ? isPattern(name)
      : key !== 'properties' || !isHidden({ value: one, at: member.at }, documents, direction),
  );
  return Object.fromEntries(entries.map(([name, one]) => [name, part(one) ?? true]));
}

/** An undefined part is always true: `allOf` drops it, and `anyOf` or `oneOf` becomes true. */
function listed(key: string, parts: readonly (JsonSchema | undefined)[]): readonly JsonSchema[] | undefined {
  const known = parts.filter((part) => part !== undefined);
  const isMoot = key !== 'allOf' && key !== 'prefixItems' && known.length < parts.length;
  return known.length === 0 || isMoot ? undefined : known;
}

/** Direction of the data: input holds no `readOnly` properties, output no `writeOnly` ones. */
type Direction = 'input' | 'output';

const HIDING: Readonly<Record<Direction, string>> = { input: 'readOnly', output: 'writeOnly' };

function isHidden(property: Located, documents: Documents, direction: Direction): boolean {
  if (saysHidden(property.value, direction)) return true;
  const end = documents.follow(property);
  return end.ok && saysHidden(end.value.value, direction);
}

/** Names of properties hidden by the schema or by its `allOf` parts, any of which may require them. */
function hiddenNames(schema: Located, documents: Documents, direction: Direction): readonly string[] {
  const names: string[] = [];
  const seen = new Set<unknown>();
  const visit = (located: Located): void => {
    const end = documents.follow(located);
    if (!end.ok || seen.has(end.value.value)) return;
    seen.add(end.value.value);
    for (const [name, property] of membersIn(end.value, 'properties'))
      if (isHidden(property, documents, direction)) names.push(name);
    for (const [, part] of membersIn(end.value, 'allOf')) visit(part);
  };
  visit(schema);
  return names;
}

function saysHidden(value: unknown, direction: Direction): boolean {
  return isMembers(value) && value[HIDING[direction]] === true;
}

function membersIn(located: Located, name: string): readonly (readonly [string, Located])[] {
  const value = findMemberAt(located, name)?.value;
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([key, member]: [string, unknown]) => [
    key,
    { value: member, at: located.at },
  ]);
}

/** Whether a definition refers, for the same value, to one of the keys: validators would loop forever. */
type InPlaceReach = (from: Target, keys: readonly string[]) => boolean;

/** A definition that reaches more than this many others counts as looping. */
const MAX_VISITED = 500;

function openInPlaceReach(documents: Documents): InPlaceReach {
  const known = new Map<string, readonly Target[]>();
  const nextOf = (target: Target): readonly Target[] => {
    const next = known.get(target.key) ?? inPlace(target, documents);
    known.set(target.key, next);
    return next;
  };
  return (from, keys) => {
    const goals = new Set(keys);
    const seen = new Set([from.key]);
    const waiting = [from];
    for (let here = waiting.pop(); here !== undefined; here = waiting.pop()) {
      if (goals.has(here.key) || seen.size > MAX_VISITED) return true;
      for (const next of nextOf(here)) {
        if (seen.has(next.key)) continue;
        seen.add(next.key);
        waiting.push(next);
      }
    }
    return false;
  };
}

function inPlace(schema: Located, documents: Documents): readonly Target[] {
  const targets: Target[] = [];
  const visit = (value: unknown): void => {
    if (!isMembers(value)) return;
    const reference = getRef(value);
    const found = reference === undefined ? undefined : documents.find(reference, schema.at);
    if (found?.ok === true) targets.push(found.value);
    for (const [keyword, member] of Object.entries(value)) {
      if (!IN_PLACE.has(keyword) || typeof member !== 'object' || member === null) continue;
      const parts =
        Array.isArray(member) || keyword === 'dependentSchemas' ? Object.values(member) : [member];
      for (const part of parts) visit(part);
    }
  };
  visit(schema.value);
  return targets;
}
