import type { Database } from '@assay-mcp/kit/platform/sqlite';

/** Of a larger index only the first terms are used. */
const MAX_CHARACTERS = 32_000_000;
const MAX_CACHED = 2;

const cached = new Map<string, string>();

/**
 * The terms of an index, stemmed by FTS5, each between line breaks. Reading them is slow, so they are cached until the
 * index changes.
 */
export function getVocabulary(database: Database): string {
  const file = database.location();
  const key = file === null ? undefined : `${file}\n${generationOf(database)}`;
  const known = key === undefined ? undefined : cached.get(key);
  if (known !== undefined) return known;
  const text = readVocabulary(database);
  if (key !== undefined) {
    for (const old of [...cached.keys()].slice(0, Math.max(0, cached.size + 1 - MAX_CACHED)))
      cached.delete(old);
    cached.set(key, text);
  }
  return text;
}

function readVocabulary(database: Database): string {
  let text = '\n';
  const rows = database.prepare('SELECT term FROM vocabulary').iterate() as Iterable<{ term: string }>;
  for (const { term } of rows) {
    text += `${term}\n`;
    if (text.length >= MAX_CHARACTERS) break;
  }
  return text;
}

/** The terms that contain a part, shortest first, at most `limit`. */
export function findTermsWith(part: string, vocabulary: string, limit: number): readonly string[] {
  const found: string[] = [];
  for (let at = vocabulary.indexOf(part); at >= 0 && found.length < MAX_FOUND;) {
    const start = vocabulary.lastIndexOf('\n', at) + 1;
    const end = vocabulary.indexOf('\n', at);
    found.push(vocabulary.slice(start, end));
    at = vocabulary.indexOf(part, end);
  }
  return found.sort((one, other) => one.length - other.length || (one < other ? -1 : 1)).slice(0, limit);
}

const MAX_FOUND = 2_000;

/** Changes with every completed run. */
function generationOf(database: Database): string {
  return JSON.stringify(database.prepare('SELECT id, indexed_at FROM repositories ORDER BY id').all());
}
