import { isJsonObject } from './json-object.ts';

/** A value in a JSON document, with its location and the errors found so far. */
export interface Place {
  /** Undefined if absent. */
  readonly value: unknown;
  /** `toolsets.0.name`; empty for the document. */
  readonly field: string;
  /** The same as a JSON pointer (RFC 6901). Undefined if pointers are not needed. */
  readonly pointer?: string | undefined;
  /** Errors in the order in which they were found. Readers add to it and continue with a placeholder value. */
  readonly faults: Fault[];
}

export interface Fault {
  readonly field: string;
  readonly pointer?: string;
  /** The end of a sentence. */
  readonly reason: string;
}

export function complainAt({ field, pointer, faults }: Place, reason: string): void {
  faults.push({
    field: field === '' ? 'the document' : field,
    ...(pointer !== undefined && { pointer }),
    reason,
  });
}

export function isGiven({ value }: Place): boolean {
  return value !== undefined;
}

export function memberAt(place: Place, name: string): Place {
  const members = isJsonObject(place.value) ? place.value : {};
  return {
    ...place,
    value: Object.hasOwn(members, name) ? members[name] : undefined,
    ...stepTo(place, name),
  };
}

/** The members of an object, in its own order. */
export function membersAt(place: Place): readonly (readonly [name: string, member: Place])[] {
  if (!isJsonObject(place.value)) complainAt(place, 'it must be an object');
  const entries = isJsonObject(place.value) ? Object.entries(place.value) : [];
  return entries.map(([name, value]) => [name, { ...place, value, ...stepTo(place, name) }]);
}

export function itemsAt(place: Place): readonly Place[] {
  if (!Array.isArray(place.value))
    complainAt(place, place.value === undefined ? MISSING : 'it must be a list');
  const items: readonly unknown[] = Array.isArray(place.value) ? place.value : [];
  return items.map((value, index) => ({ ...place, value, ...stepTo(place, String(index)) }));
}

export function textAt(place: Place): string {
  if (typeof place.value === 'string') return place.value;
  complainAt(place, place.value === undefined ? MISSING : 'it must be a string');
  return '';
}

export function textIfGiven(place: Place): string | undefined {
  return isGiven(place) ? textAt(place) : undefined;
}

/** A text that must pass a check, which returns what is wrong with it. */
export function fitTextAt(place: Place, fault: (text: string) => string | undefined): string {
  const text = textAt(place);
  const reason = typeof place.value === 'string' ? fault(text) : undefined;
  if (reason !== undefined) complainAt(place, reason);
  return text;
}

export function flagAt(place: Place, defaultValue: boolean): boolean {
  if (isGiven(place) && typeof place.value !== 'boolean') complainAt(place, 'it must be true or false');
  return typeof place.value === 'boolean' ? place.value : defaultValue;
}

/** ECMAScript date-time format: ISO 8601 with the time in UTC or with an offset. */
const TIME = /^(?:\d{4}|[+-]\d{6})-\d\d-\d\dT/;

export function timeMsAt(place: Place, defaultValue: number): number {
  if (!isGiven(place)) return defaultValue;
  const ms = typeof place.value === 'string' && TIME.test(place.value) ? Date.parse(place.value) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  complainAt(place, 'it must be a time in ISO 8601');
  return defaultValue;
}

const MISSING = 'it is missing';

function stepTo({ field, pointer }: Place, name: string): Pick<Place, 'field' | 'pointer'> {
  return {
    field: field === '' ? name : `${field}.${name}`,
    pointer: pointer === undefined ? undefined : `${pointer}${pointerStep(name)}`,
  };
}

/** One step of a JSON pointer (RFC 6901, section 3). */
export function pointerStep(name: string): string {
  return `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** What is wrong with an entry that somebody wrote. */
export interface EntryFault {
  /** Its member, such as `auth.type`; empty: its name. */
  readonly field: string;
  /** A sentence. */
  readonly reason: string;
}
