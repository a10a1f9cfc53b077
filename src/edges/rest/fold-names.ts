import * as z from 'zod';
import { findNearest } from '../../core/nearest.ts';
import type { FieldError } from '../../core/field-error.ts';
import { truncateText } from '../../core/shorten.ts';
import { formatPointerStep } from '../../core/json-pointer.ts';

/** A body with its members renamed to those of its schema. */
export interface Folded {
  readonly value: unknown;
  readonly fieldErrors: readonly FieldError[];
  /** The pointer to a part of it in the body as sent. */
  readonly pointerTo: (path: readonly PropertyKey[]) => string;
}

type Schema = z.core.$ZodType;

/** How errors name the members, and where they are in the body. */
export interface Sent {
  readonly noun: 'field' | 'parameter';
  /** JSON pointer. */
  readonly base: string;
}

interface FoldState extends Pick<Sent, 'noun'> {
  readonly fieldErrors: FieldError[];
  /** Maps JSON pointers into the folded body to those into the body as sent. */
  readonly sent: Map<string, string>;
}

interface PointerPair {
  readonly here: string;
  readonly there: string;
}

/**
 * Accepts snake_case names for the camelCase names of the schema, only where the schema names members. Unknown members,
 * and members given under both names, are reported as fieldErrors.
 */
export function foldNames(schema: Schema, given: unknown, { noun, base }: Sent): Folded {
  const folding: FoldState = { noun, fieldErrors: [], sent: new Map() };
  const value = foldValue(schema, given, { here: '', there: base }, folding);
  return { value, fieldErrors: folding.fieldErrors, pointerTo: (path) => pointerTo(path, folding.sent) };
}

/** The members that a schema names. Undefined if it accepts any. */
export function getSchemaMembers(schema: Schema): ReadonlyMap<string, Schema> | undefined {
  const objects = coresOf(schema).filter((core) => core instanceof z.ZodObject);
  if (objects.length === 0 || objects.some(({ def }) => isOpen(def.catchall))) return undefined;
  return new Map(objects.flatMap(({ shape }) => Object.entries(shape)));
}

function foldValue(
  schema: Schema,
  value: unknown,
  { here, there }: PointerPair,
  folding: FoldState,
): unknown {
  folding.sent.set(here, there);
  const inner = (key: PropertyKey): PointerPair => ({
    here: here + formatPointerStep(key),
    there: there + formatPointerStep(key),
  });
  if (Array.isArray(value)) {
    const item = coresOf(schema).find((core) => core instanceof z.ZodArray)?.element;
    const items: readonly unknown[] = value;
    return item === undefined ? items : items.map((one, at) => foldValue(item, one, inner(at), folding));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = getSchemaMembers(schema);
  if (members !== undefined) return foldedMembers(members, value, { here, there }, folding);
  const member = coresOf(schema).find((core) => core instanceof z.ZodRecord)?.valueType;
  if (member === undefined) return value;
  const entries = Object.entries(value).map(
    ([key, one]) => [key, foldValue(member, one, inner(key), folding)] as const,
  );
  return Object.fromEntries(entries);
}

function foldedMembers(
  members: ReadonlyMap<string, Schema>,
  value: object,
  { here, there }: PointerPair,
  folding: FoldState,
): unknown {
  const found = new Map<string, unknown>();
  for (const [key, one] of Object.entries(value)) {
    const name = members.has(key) ? key : toCamelCase(key);
    const member = members.get(name);
    const at = there + formatPointerStep(truncateText(key, MAX_KEY_LENGTH));
    if (member === undefined)
      folding.fieldErrors.push({ at, kind: 'unknown', reason: unknown(key, [...members.keys()], folding) });
    else if (found.has(name))
      folding.fieldErrors.push({ at, kind: 'twice', reason: 'it is given twice, under two spellings' });
    else
      found.set(name, foldValue(member, one, { here: here + formatPointerStep(name), there: at }, folding));
  }
  return Object.fromEntries(found);
}

const MAX_KEY_LENGTH = 100;

function unknown(key: string, known: readonly string[], { noun }: FoldState): string {
  const meant = findNearest(toCamelCase(key), known);
  if (meant !== undefined) return `there is no such ${noun}; did you mean ${JSON.stringify(meant)}`;
  return known.length === 0
    ? `there is no such ${noun}`
    : `there is no such ${noun}; there are ${known.join(', ')}`;
}

export function toCamelCase(key: string): string {
  return key.replace(/(?<=[^_])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** The schema without its wrappers; more than one for a union. */
function coresOf(schema: Schema): readonly Schema[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(coresOf);
  if (schema instanceof z.ZodPipe) return coresOf(schema.in);
  if (
    schema instanceof z.ZodOptional ||
    schema instanceof z.ZodExactOptional ||
    schema instanceof z.ZodNullable ||
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodReadonly ||
    schema instanceof z.ZodLazy
  )
    return coresOf(schema.unwrap());
  return [schema];
}

function isOpen(catchall: Schema | undefined): boolean {
  return catchall !== undefined && !(catchall instanceof z.ZodNever);
}

function pointerTo(path: readonly PropertyKey[], sent: ReadonlyMap<string, string>): string {
  for (let length = path.length; length >= 0; length -= 1) {
    const known = sent.get(path.slice(0, length).map(formatPointerStep).join(''));
    if (known !== undefined) return known + path.slice(length).map(formatPointerStep).join('');
  }
  return path.map(formatPointerStep).join('');
}
