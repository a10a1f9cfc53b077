import { isMembers } from '../../../core/canonical-json.ts';

/** Arguments of a call in which each number is a text as the client wrote it: no double holds all of them. */
export type ExactArguments = ReadonlyMap<string, unknown>;

/** A number as it was written. */
class WrittenNumber {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

export function exactArguments(text: string): ExactArguments {
  const read: unknown = JSON.parse(text, keepNumbers);
  return new Map(isMembers(read) ? Object.entries(read) : []);
}

/** JSON of an exact value. */
export function exactJsonOf(value: unknown): string {
  if (value instanceof WrittenNumber) return value.source;
  if (Array.isArray(value)) return `[${value.map(exactJsonOf).join(',')}]`;
  if (!isMembers(value)) return JSON.stringify(value ?? null);
  const members = Object.entries(value).map(([key, one]) => `${JSON.stringify(key)}:${exactJsonOf(one)}`);
  return `{${members.join(',')}}`;
}

/** An exact value as a text within a URL, a header or a form: JSON where it is no single value. */
export function exactText(value: unknown): string {
  return typeof value === 'string' ? value : exactJsonOf(value);
}

/** Members of an exact object, in their order. Undefined for anything else. */
export function exactMembers(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  return isMembers(value) && !(value instanceof WrittenNumber) ? Object.entries(value) : undefined;
}

function keepNumbers(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === 'number' && context?.source !== undefined
    ? new WrittenNumber(context.source)
    : value;
}
