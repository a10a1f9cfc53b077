import { isJsonObject } from './json-object.ts';
import {
  addFault,
  isGiven,
  itemsAt,
  type JsonPosition,
  memberAt,
  membersAt,
  MISSING,
} from './json-position.ts';
import { nearest } from './nearest.ts';

/** Reads a value. Faults are added at its position; the result is then a placeholder. */
export type Reader<T> = (position: JsonPosition) => T;

/** A reader for each member. */
type Members<T> = { readonly [P in keyof Required<T>]: Reader<T[P]> };

/** An object with these members; any other is a fault. Members that read as undefined are left out. */
export function object<T extends object>(members: Members<T>): Reader<T> {
  const known = Object.keys(members);
  const read = openObject(members);
  return (position) => {
    reportUnknown(position, known);
    return read(position);
  };
}

/** An object with these members; others are left out. */
export function openObject<T extends object>(members: Members<T>): Reader<T> {
  const readers = Object.entries<Reader<unknown>>(members);
  return (position) => {
    const isObject = isJsonObject(position.value);
    if (!isObject) addFault(position, isGiven(position) ? 'it must be an object' : MISSING);
    // One fault is enough: that its members are missing too says nothing more.
    const within = isObject ? position : { ...position, faults: [] };
    const read: Record<string, unknown> = {};
    for (const [name, reader] of readers) {
      const value = reader(memberAt(within, name));
      if (value !== undefined) read[name] = value;
    }
    return read as T; // each member was read by its reader
  };
}

/** Adds a fault for each member with an unknown name. */
export function reportUnknown(position: JsonPosition, known: readonly string[]): void {
  if (!isJsonObject(position.value)) return;
  for (const name of Object.keys(position.value))
    if (!known.includes(name)) addFault(memberAt(position, name), unknownReason(name, known));
}

function unknownReason(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  const hint =
    meant === undefined ? `known are ${known.join(', ')}` : `did you mean ${JSON.stringify(meant)}?`;
  return `there is no such member; ${hint}`;
}

/** An object whose members have any names. */
export function record<T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (position) => Object.fromEntries(membersAt(position).map(([name, member]) => [name, read(member)]));
}

export function list<T>(read: Reader<T>): Reader<readonly T[]> {
  return (position) => itemsAt(position).map(read);
}

export function optional<T>(read: Reader<T>): Reader<T | undefined> {
  return (position) => (isGiven(position) ? read(position) : undefined);
}

export function oneOf<const T extends string>(known: readonly [T, ...T[]]): Reader<T> {
  return (position) => {
    const value = known.find((one) => one === position.value);
    if (value === undefined)
      addFault(position, isGiven(position) ? `it must be one of ${known.join(', ')}` : MISSING);
    return value ?? known[0];
  };
}

export const flag: Reader<boolean> = (position) => {
  if (typeof position.value === 'boolean') return position.value;
  addFault(position, isGiven(position) ? 'it must be true or false' : MISSING);
  return false;
};

export const number: Reader<number> = (position) => {
  if (typeof position.value === 'number') return position.value;
  addFault(position, isGiven(position) ? 'it must be a number' : MISSING);
  return 0;
};

export function wholeNumber({ min, max }: { readonly min: number; readonly max: number }): Reader<number> {
  return (position) => {
    const { value } = position;
    if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value;
    addFault(position, `it must be a whole number from ${min} to ${max}`);
    return min;
  };
}
