import { searchCode } from '../../packages/codebase/src/search/search-code.ts';
import type { Database } from '@assay-mcp/kit/platform/sqlite';

export interface IndexedSymbol {
  readonly symbol: string;
  readonly parent: string | null;
}

/** Each chunk outside of tests that is named by an identifier, by name and parent, once. Keys such as 'a, b' are not. */
export function symbolsOf(database: Database): readonly IndexedSymbol[] {
  const symbols = database
    .prepare(
      `SELECT DISTINCT c.symbol, c.parent FROM chunks c JOIN files f ON f.id = c.file_id
       WHERE f.state = 'live' AND f.is_test = 0 AND c.symbol IS NOT NULL ORDER BY c.symbol, c.parent`,
    )
    .all() as readonly IndexedSymbol[];
  return symbols.filter(
    ({ symbol, parent }) =>
      IDENTIFIER.test(symbol) && (parent ?? 'none').split('.').every((name) => IDENTIFIER.test(name)),
  );
}

/** With at least one letter or digit. */
const IDENTIFIER = /^(?=.*[\p{L}\p{N}])[\p{L}_$][\p{L}\p{M}\p{N}_$]*$/u;

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
