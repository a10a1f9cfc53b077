import type { Database } from 'better-sqlite3';
import { searchCode } from '../../src/codebase/search/search-code.ts';

export interface IndexedSymbol {
  readonly symbol: string;
  readonly parent: string | null;
}

/** Each named chunk outside of tests, by name and parent, once. */
export function symbolsOf(database: Database): readonly IndexedSymbol[] {
  return database
    .prepare(
      `SELECT DISTINCT c.symbol, c.parent FROM chunks c JOIN files f ON f.id = c.file_id
       WHERE f.state = 'live' AND f.is_test = 0 AND c.symbol IS NOT NULL AND c.symbol GLOB '*[A-Za-z0-9]*'
       ORDER BY c.symbol, c.parent`,
    )
    .all() as readonly IndexedSymbol[];
}

export interface IdentifierReport {
  readonly asked: number;
  /** The queries whose first result is another symbol. */
  readonly faults: readonly string[];
}

/** Asks for each symbol by its name, and by its name after its parent's. */
export function identifierReport(database: Database, symbols: readonly IndexedSymbol[]): IdentifierReport {
  const queries = symbols.flatMap((wanted) => [
    { query: wanted.symbol, wanted: { symbol: wanted.symbol, parent: undefined } },
    ...(wanted.parent === null ? [] : [{ query: `${wanted.parent}.${wanted.symbol}`, wanted }]),
  ]);
  const faults = queries.flatMap(({ query, wanted }) => {
    const [first] = searchCode(database, { query, limit: 1 }).results;
    const isRight =
      first?.symbol === wanted.symbol && (wanted.parent === undefined || first.parent === wanted.parent);
    return isRight ? [] : [`${query}: ${first?.parent ?? ''}.${first?.symbol ?? 'nothing'}`];
  });
  return { asked: queries.length, faults };
}
