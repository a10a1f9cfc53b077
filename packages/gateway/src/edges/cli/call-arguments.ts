import { isJsonObject, type JsonObject } from '@assay-mcp/kit/json-object';
import { findNearest } from '@assay-mcp/kit/nearest';
import { err, ok, type Result } from '@assay-mcp/kit/result';

/** One argument of a tool, as its schema describes it. */
export interface ToolArgument {
  readonly name: string;
  readonly isRequired: boolean;
  /** For people: `string`, `a | b`, `number[]`. */
  readonly type: string;
  readonly description: string;
}

/** Whether the words of a command line are one JSON object instead of `key=value`. */
export function isObjectText(words: readonly string[]): boolean {
  const [first = '{}', ...more] = words;
  return more.length === 0 && !WORD.test(first);
}

/** `key=value`, or `key:=JSON`. */
const WORD = /^([^\s={}[\]":]+)(:?=)([^]*)$/;

/**
 * The arguments given as `key=value`, typed as the schema says, or as `key:=JSON`. A key of a list can be repeated.
 * Error: what is wrong, as a phrase.
 */
export function readKeyValues(words: readonly string[], schema: unknown): Result<JsonObject, string> {
  const known = propertiesOf(schema);
  // A key may be called `__proto__`.
  const args = new Map<string, unknown>();
  for (const word of words) {
    const [, key, sign, text = ''] = WORD.exec(word) ?? [];
    if (key === undefined) return err(`${JSON.stringify(word)}: write key=value, or key:=JSON`);
    if (isMistyped(key, schema)) return err(`${key}: ${adviseOnKey(key, [...known.keys()])}`);
    const value = sign === ':=' ? readJson(text) : readTyped(text, known.get(key));
    if (!value.ok) return err(`${key}: ${value.error}`);
    const before = args.get(key);
    if (before === undefined) args.set(key, value.value);
    else if (Array.isArray(before) && Array.isArray(value.value))
      args.set(key, [...(before as unknown[]), ...(value.value as unknown[])]);
    else return err(`${key}: it is given twice, and is not a list`);
  }
  return ok(Object.fromEntries(args));
}

/** The arguments of a tool, required ones first. */
export function listArguments(schema: unknown): readonly ToolArgument[] {
  const required = requiredOf(schema);
  const all = [...propertiesOf(schema)].map(([name, property]) => ({
    name,
    isRequired: required.has(name),
    type: formatType(property),
    description: isJsonObject(property) ? textIn(property['description']) : '',
  }));
  return [...all.filter(({ isRequired }) => isRequired), ...all.filter(({ isRequired }) => !isRequired)];
}

function propertiesOf(schema: unknown): ReadonlyMap<string, unknown> {
  const properties = isJsonObject(schema) ? schema['properties'] : undefined;
  return new Map(isJsonObject(properties) ? Object.entries(properties) : []);
}

function requiredOf(schema: unknown): ReadonlySet<unknown> {
  const required = isJsonObject(schema) ? schema['required'] : undefined;
  return new Set(Array.isArray(required) ? (required as readonly unknown[]) : []);
}

/** Many servers drop a member that they do not know, so a mistyped key would go unnoticed. */
function isMistyped(key: string, schema: unknown): boolean {
  const known = propertiesOf(schema);
  if (known.size === 0 || known.has(key) || !isJsonObject(schema)) return false;
  const more = schema['additionalProperties'];
  return (more === undefined || more === false) && schema['patternProperties'] === undefined;
}

function adviseOnKey(key: string, known: readonly string[]): string {
  const nearest = findNearest(key, known);
  const meant = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return `the tool has no such argument.${meant} It has: ${known.join(', ')}`;
}

/** Reads a text as the first type of the schema that it fits; text is the last resort. */
function readTyped(text: string, schema: unknown): Result<unknown, string> {
  const types = typesOf(schema);
  if (types.size === 0 || types.has('string')) {
    const isChoice = choicesOf(schema).some(
      (choice) => typeof choice !== 'string' && String(choice) === text,
    );
    return ok(isChoice ? JSON.parse(text) : text);
  }
  const json = readJson(text);
  if (json.ok && types.has(typeOf(json.value))) return json;
  if (types.has('array') && !text.startsWith('[')) {
    const item = readTyped(text, isJsonObject(schema) ? schema['items'] : undefined);
    return item.ok ? ok([item.value]) : item;
  }
  return err(`it must be ${[...types].map((type) => TYPES[type] ?? type).join(' or ')}`);
}

const TYPES: Readonly<Record<string, string>> = {
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  array: 'a JSON array',
  object: 'a JSON object',
};

/** The types that a schema allows. Empty: it does not say. A `number` may also be an `integer`. */
function typesOf(schema: unknown): ReadonlySet<string> {
  if (!isJsonObject(schema)) return new Set();
  const { type } = schema;
  const stated = typeof type === 'string' ? [type] : Array.isArray(type) ? type.map(String) : [];
  const choices = choicesOf(schema).map(typeOf);
  const inner = ['anyOf', 'oneOf'].flatMap((name) => {
    const parts = schema[name];
    return Array.isArray(parts) ? parts.flatMap((part) => [...typesOf(part)]) : [];
  });
  const all = new Set(stated.length > 0 ? stated : choices.length > 0 ? choices : inner);
  if (all.has('number')) all.add('integer');
  return all;
}

function choicesOf(schema: unknown): readonly unknown[] {
  if (!isJsonObject(schema)) return [];
  const { enum: choices, const: only } = schema;
  return Array.isArray(choices) ? (choices as readonly unknown[]) : only === undefined ? [] : [only];
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

function readJson(text: string): Result<unknown, string> {
  try {
    return ok(JSON.parse(text) as unknown);
  } catch (error) {
    return err(`it is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const MAX_CHOICES = 8;

function formatType(schema: unknown): string {
  const choices = choicesOf(schema);
  if (choices.length > 0) {
    const shown = choices
      .slice(0, MAX_CHOICES)
      .map((choice) => (typeof choice === 'string' ? choice : JSON.stringify(choice)));
    return [...shown, ...(choices.length > MAX_CHOICES ? ['…'] : [])].join(' | ');
  }
  const types = typesOf(schema);
  const named = [...types].filter((type) => type !== 'integer' || !types.has('number'));
  const items = isJsonObject(schema) ? schema['items'] : undefined;
  return named.map((type) => (type === 'array' ? `${formatType(items) || 'any'}[]` : type)).join(' | ');
}

function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
