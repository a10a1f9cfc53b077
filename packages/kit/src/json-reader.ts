import { isJsonObject, type JsonObject } from './json-object.ts';
import {
  addFault,
  readFitTextAt,
  readFlagAt,
  isGiven,
  readItemsAt,
  type JsonPosition,
  readMemberAt,
  readMembersAt,
  MISSING,
  readTextAt,
  readTimeMsAt,
} from './json-position.ts';
import { findNearest } from './nearest.ts';

/** Reads a value. Faults are added at its position; the result is then a placeholder. */
export interface Reader<T> {
  (position: JsonPosition): T;
  /** A JSON Schema of what it reads; broader where only code can decide. Absent: anything. */
  readonly schema?: () => JsonObject;
  readonly isOptional?: true;
}

/** A reader for each member. */
export type Members<T> = { readonly [P in keyof Required<T>]: Reader<T[P]> };

/** An object with these members; any other is a fault. Members that read as undefined are left out. */
export function object<T extends object>(members: Members<T>): Reader<T> {
  const known = Object.keys(members);
  const read = openObject(members);
  return withSchema(
    (position) => {
      reportUnknown(position, known);
      return read(position);
    },
    () => ({ ...getSchema(read), additionalProperties: false }),
  );
}

/** An object with these members; others are left out. */
export function openObject<T extends object>(members: Members<T>): Reader<T> {
  const readers = Object.entries<Reader<unknown>>(members);
  return withSchema(
    (position) => {
      const isObject = isJsonObject(position.value);
      if (!isObject) addFault(position, isGiven(position) ? 'it must be an object' : MISSING);
      // One fault is enough: that its members are missing too says nothing more.
      const within = isObject ? position : { ...position, faults: [] };
      const read: Record<string, unknown> = {};
      for (const [name, reader] of readers) {
        const value = reader(readMemberAt(within, name));
        if (value !== undefined) read[name] = value;
      }
      return read as T; // each member was read by its reader
    },
    () => objectSchema(members),
  );
}

/** The JSON Schema of an object with these members. */
export function objectSchema(members: Readonly<Record<string, Reader<unknown>>>): JsonObject {
  const entries = Object.entries(members);
  const required = entries.filter(([, reader]) => reader.isOptional !== true).map(([name]) => name);
  return {
    type: 'object',
    properties: getSchemas(members),
    ...(required.length > 0 && { required }),
  };
}

export function getSchemas(members: Readonly<Record<string, Reader<unknown>>>): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, reader]) => [name, getSchema(reader)]));
}

/** Unknown members are not reported beyond this number of faults: each costs a comparison with all known names. */
const MAX_FAULTS = 100;

/** Adds a fault for each member with an unknown name. */
export function reportUnknown(position: JsonPosition, known: readonly string[]): void {
  if (!isJsonObject(position.value)) return;
  for (const name of Object.keys(position.value)) {
    if (position.faults.length >= MAX_FAULTS) return;
    if (!known.includes(name)) addFault(readMemberAt(position, name), unknownReason(name, known));
  }
}

/** Why an object may not have a member of this name, as the end of a sentence. */
export function unknownReason(
  name: string,
  known: readonly string[],
  meant: string | undefined = findNearest(name, known),
): string {
  const hint =
    meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${JSON.stringify(meant)}?`;
  return `there is no such member; ${hint}`;
}

/** An object whose members have any names. */
export function record<T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return withSchema(
    (position) => Object.fromEntries(readMembersAt(position).map(([name, member]) => [name, read(member)])),
    () => ({ type: 'object', additionalProperties: getSchema(read) }),
  );
}

interface ListLimit {
  readonly max: number;
  /** The items, in the plural. */
  readonly of: string;
}

/** A longer list than allowed reads as an empty one. */
export function list<T>(read: Reader<T>, limit?: ListLimit): Reader<readonly T[]> {
  return withSchema(
    (position) => {
      const items = readItemsAt(position);
      if (limit === undefined || items.length <= limit.max) return items.map(read);
      addFault(position, `it may have at most ${limit.max} ${limit.of}`);
      return [];
    },
    () => ({ type: 'array', items: getSchema(read), ...(limit && { maxItems: limit.max }) }),
  );
}

export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  const { schema } = read;
  return Object.assign(
    (position: JsonPosition): T | undefined => (isGiven(position) ? read(position) : undefined),
    { isOptional: true as const, ...(schema && { schema }) },
  );
}

/** The same reader with a description for people: the end of a sentence about the member. */
export function described<T>(about: string, read: Reader<T>): Reader<T> {
  const schema = (): JsonObject => ({ description: about, ...getSchema(read) });
  const again = withSchema<T>((position) => read(position), schema);
  return read.isOptional === true ? Object.assign(again, { isOptional: read.isOptional }) : again;
}

export function oneOf<const T extends string>(known: readonly [T, ...T[]]): Reader<T> {
  return withSchema(
    (position) => {
      const value = known.find((one) => one === position.value);
      if (value === undefined)
        addFault(position, isGiven(position) ? `it must be one of ${known.join(', ')}` : MISSING);
      return value ?? known[0];
    },
    () => ({ enum: known }),
  );
}

export const flag: Reader<boolean> = withSchema(
  (position) => {
    if (!isGiven(position)) addFault(position, MISSING);
    return readFlagAt(position, false);
  },
  () => ({ type: 'boolean' }),
);

export const number: Reader<number> = withSchema(
  (position) => {
    if (typeof position.value === 'number') return position.value;
    addFault(position, isGiven(position) ? 'it must be a number' : MISSING);
    return 0;
  },
  () => ({ type: 'number' }),
);

export function wholeNumber({ min, max }: { readonly min: number; readonly max: number }): Reader<number> {
  return withSchema(
    (position) => {
      const { value } = position;
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
      addFault(position, `it must be a whole number from ${min} to ${max}`);
      return min;
    },
    () => ({ type: 'integer', minimum: min, maximum: max }),
  );
}

/** Any value, as it is. */
export const anything: Reader<unknown> = ({ value }) => value;

/** ISO 8601, read as ms since 1970. */
export const time: Reader<number> = (position) => {
  if (!isGiven(position)) addFault(position, MISSING);
  return readTimeMsAt(position, 0);
};

export const text: Reader<string> = withSchema(readTextAt, () => ({ type: 'string' }));

/** A text that must pass a check, which returns what is wrong with it as the end of a sentence. */
export function fitText(
  fault: (text: string) => string | undefined,
  schema: JsonObject = {},
): Reader<string> {
  return withSchema(
    (position) => readFitTextAt(position, fault),
    () => ({ type: 'string', ...schema }),
  );
}

/** Adds a check of what was read without faults, which returns what is wrong with it as the end of a sentence. */
export function checked<T>(read: Reader<T>, fault: (value: T) => string | undefined): Reader<T> {
  return (position) => {
    const before = position.faults.length;
    const value = read(position);
    const reason = position.faults.length === before ? fault(value) : undefined;
    if (reason !== undefined) addFault(position, reason);
    return value;
  };
}

/** A text of 1 to this many UTF-16 units that may have to pass a further check. */
export function textUpTo(
  max: number,
  fault: (text: string) => string | undefined = () => undefined,
): Reader<string> {
  return fitText(
    (given) => (given === '' || given.length > max ? `it must have 1 to ${max} characters` : fault(given)),
    { minLength: 1, maxLength: max },
  );
}

export function withSchema<T>(read: (position: JsonPosition) => T, schema: () => JsonObject): Reader<T> {
  return Object.assign((position: JsonPosition) => read(position), { schema });
}

/** Any value if the reader does not know its schema. */
export function getSchema({ schema }: Reader<unknown>): JsonObject {
  return schema?.() ?? {};
}
