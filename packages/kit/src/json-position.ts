import { isJsonObject } from './json-object.ts';
import { parsePointer, formatPointerStep } from './json-pointer.ts';

/** A value in a JSON document, with its location and the errors found so far. */
export interface JsonPosition {
  /** Undefined if absent. */
  readonly value: unknown;
  /** JSON pointer (RFC 6901); empty for the document. */
  readonly pointer: string;
  /** Errors in the order in which they were found. Readers add to it and continue with a placeholder value. */
  readonly faults: Fault[];
}

export interface Fault {
  readonly pointer: string;
  /** The end of a sentence. */
  readonly reason: string;
}

export function addFault({ pointer, faults }: JsonPosition, reason: string): void {
  faults.push({ pointer, reason });
}

export function isGiven({ value }: JsonPosition): boolean {
  return value !== undefined;
}

export function readMemberAt({ value, pointer, faults }: JsonPosition, name: string): JsonPosition {
  const member = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return { value: member, pointer: pointer + formatPointerStep(name), faults };
}

/** The members of an object, in its own order. */
export function readMembersAt(
  position: JsonPosition,
): readonly (readonly [name: string, member: JsonPosition])[] {
  if (!isJsonObject(position.value)) addFault(position, 'it must be an object');
  const names = isJsonObject(position.value) ? Object.keys(position.value) : [];
  return names.map((name) => [name, readMemberAt(position, name)]);
}

export function readItemsAt(position: JsonPosition): readonly JsonPosition[] {
  const { value, pointer, faults } = position;
  if (!Array.isArray(value)) addFault(position, value === undefined ? MISSING : 'it must be a list');
  const items: readonly unknown[] = Array.isArray(value) ? value : [];
  return items.map((item, index) => ({ value: item, pointer: `${pointer}/${index}`, faults }));
}

export function readTextAt(position: JsonPosition): string {
  if (typeof position.value === 'string') return position.value;
  addFault(position, position.value === undefined ? MISSING : 'it must be a string');
  return '';
}

export function readTextIfGiven(position: JsonPosition): string | undefined {
  return isGiven(position) ? readTextAt(position) : undefined;
}

/** A text that must pass a check, which returns what is wrong with it. */
export function readFitTextAt(position: JsonPosition, fault: (text: string) => string | undefined): string {
  const text = readTextAt(position);
  const reason = typeof position.value === 'string' ? fault(text) : undefined;
  if (reason !== undefined) addFault(position, reason);
  return text;
}

export function readFlagAt(position: JsonPosition, defaultValue: boolean): boolean {
  if (isGiven(position) && typeof position.value !== 'boolean')
    addFault(position, 'it must be true or false');
  return typeof position.value === 'boolean' ? position.value : defaultValue;
}

/** ECMAScript date-time format: ISO 8601 with the time in UTC or with an offset. */
const TIME = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT/;

export function readTimeMsAt(position: JsonPosition, defaultValue: number): number {
  if (!isGiven(position)) return defaultValue;
  const ms =
    typeof position.value === 'string' && TIME.test(position.value) ? Date.parse(position.value) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  addFault(position, 'it must be a time in ISO 8601');
  return defaultValue;
}

export const MISSING = 'it is missing';

/** `toolsets.0.name`; empty for the document. */
export function toField(pointer: string): string {
  return parsePointer(pointer).join('.');
}

/** A fault in an entry that someone wrote. */
export interface EntryFault {
  /** The faulty member, such as `auth.type`; empty for the name of the entry. */
  readonly field: string;
  /** A sentence. */
  readonly reason: string;
}

export function toEntryFault({ pointer, reason }: Fault): EntryFault {
  const end = reason.endsWith('?') ? '' : '.';
  return { field: toField(pointer), reason: `${reason.charAt(0).toUpperCase()}${reason.slice(1)}${end}` };
}
