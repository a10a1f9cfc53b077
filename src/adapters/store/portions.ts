/** Databases bound the values of one statement; so many rows stay far below that. */
const ROWS_AT_A_TIME = 1_000;

/** The same rows, so many at a time as one statement takes. */
export function* portions<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < rows.length; from += ROWS_AT_A_TIME)
    yield rows.slice(from, from + ROWS_AT_A_TIME);
}
