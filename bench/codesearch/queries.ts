import type { Corpus } from './corpus.ts';
import type { Database } from '@assay-mcp/kit/platform/sqlite';

/** What a function's documentation says, and the function. */
export interface Query {
  readonly text: string;
  readonly path: string;
  readonly symbol: string;
  readonly parent: string | null;
  /** Its lines, one-based and inclusive. */
  readonly start: number;
  readonly end: number;
  /** `chunks.id` of each part of the function. */
  readonly ids: readonly number[];
}

interface FunctionChunk {
  readonly id: number;
  readonly path: string;
  readonly symbol: string;
  readonly parent: string | null;
  readonly start: number;
  readonly end: number;
}

const WORDS = { min: 3, max: 60 } as const;
const MIN_LINES = 3;

/** Functions and methods of at least three lines outside of tests with documentation that no other one has. */
export function queriesOf(corpus: Corpus, database: Database): readonly Query[] {
  const chunks = database
    .prepare(
      `SELECT c.id, f.path, c.symbol, c.parent, c.start_line AS start, c.end_line AS "end"
       FROM chunks c JOIN files f ON f.id = c.file_id
       WHERE f.state = 'live' AND f.is_test = 0 AND c.kind IN ('function', 'method') AND c.symbol IS NOT NULL
       ORDER BY f.path, c.ordinal`,
    )
    .all() as readonly FunctionChunk[];
  const byPath = Map.groupBy(chunks, ({ path }) => path);
  const byText = new Map<string, Query | null>();
  for (const [path, list] of corpus.documented)
    for (const { line, from, text } of list) {
      const words = text.split(' ').length;
      if (words < WORDS.min || words > WORDS.max) continue;
      const own = byPath.get(path) ?? [];
      const found = own.find(({ start, end }) => start >= from && start <= line && line <= end);
      if (found === undefined || isConstructor(found)) continue;
      const parts = partsOf(found, own);
      const { symbol, parent, start } = found;
      const end = parts.at(-1)?.end ?? found.end;
      if (end - start + 1 < MIN_LINES) continue;
      const query = { text, path, symbol, parent, start, end, ids: parts.map(({ id }) => id) };
      byText.set(text, byText.has(text) ? null : query);
    }
  return [...byText.values()].filter((query) => query !== null);
}

function partsOf(first: FunctionChunk, own: readonly FunctionChunk[]): readonly FunctionChunk[] {
  const parts = [first];
  for (const chunk of own.slice(own.indexOf(first) + 1)) {
    const last = parts.at(-1);
    if (
      chunk.symbol !== first.symbol ||
      chunk.parent !== first.parent ||
      chunk.start !== (last?.end ?? 0) + 1
    )
      break;
    parts.push(chunk);
  }
  return parts;
}

function isConstructor({ symbol }: FunctionChunk): boolean {
  return symbol === 'constructor' || /^__\w+__$/.test(symbol);
}

/** So many of a list, the same ones each time. */
export function sample<T>(list: readonly T[], count: number): readonly T[] {
  let state = 18;
  const next = (): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return state / 2 ** 32;
  };
  return list
    .map((value) => ({ value, key: next() }))
    .sort((one, other) => one.key - other.key)
    .slice(0, count)
    .map(({ value }) => value);
}
