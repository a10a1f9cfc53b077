import { z } from '@hono/zod-openapi';
import { nearest } from '../../core/nearest.ts';
import type { Misfit } from '../../core/refusal.ts';

/** A body with its members under the names that its schema has for them. */
export interface Folded {
  readonly value: unknown;
  readonly misfits: readonly Misfit[];
  /** Where a part of it stands in the body as it was sent. */
  readonly pointerTo: (path: readonly PropertyKey[]) => string;
}

type Schema = z.core.$ZodType;

/** What the members are called, and where they stand in what was sent. */
export interface Sent {
  readonly noun: 'field' | 'parameter';
  /** JSON pointer. */
  readonly base: string;
}

interface Folding extends Pick<Sent, 'noun'> {
  readonly misfits: Misfit[];
  /** JSON pointers in the body as it was sent, by those in the folded one. */
  readonly sent: Map<string, string>;
}

interface Place {
  readonly here: string;
  readonly there: string;
}

/**
 * Takes snake_case names for the camelCase ones of the schema, wherever the schema names members and nowhere else. What
 * the schema does not name is a misfit, and so is a member that stands there under both names.
 */
export function foldNames(schema: Schema, given: unknown, { noun, base }: Sent): Folded {
  const folding: Folding = { noun, misfits: [], sent: new Map() };
  const value = folded(schema, given, { here: '', there: base }, folding);
  return { value, misfits: folding.misfits, pointerTo: (path) => pointerTo(path, folding.sent) };
}

/** One step of a JSON pointer (RFC 6901, section 3). */
export function step(key: PropertyKey): string {
  return `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** The members that a schema names, by name; undefined where it takes any. */
export function membersOf(schema: Schema): ReadonlyMap<string, Schema> | undefined {
  const objects = coresOf(schema).filter((core) => core instanceof z.ZodObject);
  if (objects.length === 0 || objects.some(({ def }) => isOpen(def.catchall))) return undefined;
  return new Map(objects.flatMap(({ shape }) => Object.entries(shape)));
}

// eslint-disable-next-line @typescript-eslint/max-params -- what is folded, by what, where, and what came of it
function folded(schema: Schema, value: unknown, { here, there }: Place, folding: Folding): unknown {
  folding.sent.set(here, there);
  const inner = (key: PropertyKey): Place => ({ here: here + step(key), there: there + step(key) });
  if (Array.isArray(value)) {
    const item = coresOf(schema).find((core) => core instanceof z.ZodArray)?.element;
    const items: readonly unknown[] = value;
    return item === undefined ? items : items.map((one, at) => folded(item, one, inner(at), folding));
  }
  if (typeof value !== 'object' || value === null) return value;
  const members = membersOf(schema);
  if (members !== undefined) return foldedMembers(members, value, { here, there }, folding);
  const member = coresOf(schema).find((core) => core instanceof z.ZodRecord)?.valueType;
  if (member === undefined) return value;
  const entries = Object.entries(value).map(
    ([key, one]) => [key, folded(member, one, inner(key), folding)] as const,
  );
  return Object.fromEntries(entries);
}

// eslint-disable-next-line @typescript-eslint/max-params -- as above
function foldedMembers(
  members: ReadonlyMap<string, Schema>,
  value: object,
  { here, there }: Place,
  folding: Folding,
): unknown {
  const found = new Map<string, unknown>();
  for (const [key, one] of Object.entries(value)) {
    const name = members.has(key) ? key : camelCase(key);
    const member = members.get(name);
    const at = there + step(key.slice(0, LONGEST_KEY));
    if (member === undefined)
      folding.misfits.push({ at, kind: 'unknown', reason: unknown(key, [...members.keys()], folding) });
    else if (found.has(name))
      folding.misfits.push({ at, kind: 'twice', reason: 'it is given twice, under two spellings' });
    else found.set(name, folded(member, one, { here: here + step(name), there: at }, folding));
  }
  return Object.fromEntries(found);
}

const LONGEST_KEY = 100;

function unknown(key: string, known: readonly string[], { noun }: Folding): string {
  const meant = nearest(camelCase(key), known);
  if (meant !== undefined) return `there is no such ${noun}; did you mean ${JSON.stringify(meant)}`;
  return known.length === 0
    ? `there is no such ${noun}`
    : `there is no such ${noun}; there are ${known.join(', ')}`;
}

function camelCase(key: string): string {
  return key.replace(/(?<=[^_])_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}

/** What a schema is about once all that is around it is taken off; more than one where it is a choice. */
function coresOf(schema: Schema): readonly Schema[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap(coresOf);
  if (schema instanceof z.ZodPipe) return coresOf(schema.in);
  if (
    schema instanceof z.ZodOptional ||
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
    const known = sent.get(path.slice(0, length).map(step).join(''));
    if (known !== undefined) return known + path.slice(length).map(step).join('');
  }
  return path.map(step).join('');
}
