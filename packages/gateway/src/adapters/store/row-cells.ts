import { parseJson } from '@assay-mcp/kit/json-object';

/** The largest time that a `Date` can hold, in ms: https://tc39.es/ecma262/#sec-time-values-and-time-range */
export const MAX_TIME_MS = 8.64e15;

/**
 * Reads the cells of one row. Another program can put any text into a column, and SQLite takes values of any type; one
 * such cell must not make its whole list fail. Instead of what cannot be read, the methods return an empty text or 0,
 * and `fault` says so.
 */
export class RowCells<R extends object> {
  readonly #row: R;
  #fault: string | undefined;

  constructor(row: R) {
    this.#row = row;
  }

  /** Why the row cannot be read, as the end of a sentence. Undefined if everything read so far was readable. */
  get fault(): string | undefined {
    return this.#fault;
  }

  text(column: keyof R & string): string {
    const value = this.#row[column];
    return typeof value === 'string' ? value : this.fail(column, 'is not text', '');
  }

  /** One of these words, or `instead`. */
  oneOf<T extends string>(column: keyof R & string, words: readonly T[], instead: T): T {
    const value = this.#row[column];
    return words.find((word) => word === value) ?? this.fail(column, 'has an unknown value', instead);
  }

  /** Undefined if it is not JSON. */
  json(column: keyof R & string): unknown {
    const value = this.#row[column];
    const parsed = typeof value === 'string' ? parseJson(value) : undefined;
    if (parsed === undefined) this.fail(column, 'is not JSON', undefined);
    return parsed;
  }

  /** A text that is stored as JSON. */
  jsonText(column: keyof R & string): string {
    const value = this.json(column);
    return typeof value === 'string' ? value : this.fail(column, 'is not a JSON string', '');
  }

  /** Those of these words that are in a JSON array; a newer Assay may know others. */
  jsonWords<T extends string>(column: keyof R & string, words: readonly T[]): readonly T[] {
    const value = this.json(column);
    const isArray = Array.isArray(value) && value.every((one) => typeof one === 'string');
    return isArray ? words.filter((word) => value.includes(word)) : this.fail(column, 'is not an array', []);
  }

  /** Undefined if it is null. */
  optional<T>(column: keyof R & string, read: (column: keyof R & string) => T): T | undefined {
    return this.#row[column] === null ? undefined : read(column);
  }

  count(column: keyof R & string): number {
    const value = this.#row[column];
    return Number.isSafeInteger(value) ? Number(value) : this.fail(column, 'is not a whole number', 0);
  }

  /** In ms. */
  time(column: keyof R & string): number {
    const value = this.#row[column];
    const isTime = typeof value === 'number' && Math.abs(value) <= MAX_TIME_MS;
    return isTime ? value : this.fail(column, 'is not a time', 0);
  }

  bytes(column: keyof R & string): Buffer {
    const value = this.#row[column];
    return value instanceof Uint8Array
      ? Buffer.from(value)
      : this.fail(column, 'is not bytes', Buffer.alloc(0));
  }

  /** Reports a cell. The first report is the `fault`. */
  fail<T>(column: keyof R & string, fault: string, instead: T): T {
    this.#fault ??= `its column ${column} ${fault}`;
    return instead;
  }
}
