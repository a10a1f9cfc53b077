import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { createLineMatcher, type LineMatcher, type TextMode } from '../src/search/line-matcher.ts';
import type { SearchAnswer, SearchRequest } from '../src/search/search-code.ts';
import { searchText, type TextSearchOptions } from '../src/search/search-text.ts';
import { memoryIndex } from './support/memory-index.ts';

const RETRIES = `const MAX = 3;

export function retry(run) {
  for (let at = 0; at < MAX; at += 1) run();
}

export function later(run) {
  // retry(run) comes first.
  return () => retry(run);
}
`;
const COPY = '// Licence: see retry(run).\n';
const FILES = {
  'test/retry.test.ts': 'it("works", () => {\n  retry(run);\n});\n',
  'vendor/retry.ts': COPY,
  'lib/copy.ts': COPY,
  'src/caller.ts': 'retry(run);\n',
  'src/retry.ts': RETRIES,
  'src/long.ts': `const table = "${'a'.repeat(300)}"; mark(${'b'.repeat(300)});\n`,
  'src/old.ts': { text: 'retry(run);\n', state: 'superseded' },
} as const;

let database: Database;
beforeAll(async () => {
  database = await memoryIndex(FILES);
});
afterAll(() => {
  database.close();
});

async function matcherOf(query: string, mode: TextMode): Promise<LineMatcher> {
  const matcher = await createLineMatcher(query, mode);
  if (!matcher.ok) throw new Error(matcher.error);
  return matcher.value;
}

interface Given extends Partial<SearchRequest>, Partial<TextSearchOptions> {
  readonly mode?: TextMode;
}

async function find(query: string, { mode = 'exact', maxMs, signal, ...more }: Given = {}) {
  const matcher = await matcherOf(query, mode);
  const options = { matcher, signal: signal ?? new AbortController().signal, maxMs };
  return searchText(database, { query, limit: 10, ...more }, options);
}
/** Each line that matches, with its place. */
function lines({ results }: SearchAnswer): readonly string[] {
  return results.flatMap(({ file_path, content, lines: numbers = [] }) =>
    content.split('\n').map((line, at) => `${file_path}:${numbers[at] ?? ''} ${line.trim()}`),
  );
}

describe('the lines that contain a text', () => {
  it('have their numbers, come by file with tests and copies of other projects last, and each copy counts', async () => {
    const answer = await find('retry(run)');
    expect(lines(answer)).toEqual([
      'src/retry.ts:3 export function retry(run) {',
      'src/retry.ts:8 // retry(run) comes first.',
      'src/retry.ts:9 return () => retry(run);',
      'lib/copy.ts:1 // Licence: see retry(run).',
      'src/caller.ts:1 retry(run);',
      'vendor/retry.ts:1 // Licence: see retry(run).',
      'test/retry.test.ts:2 retry(run);',
    ]);
    expect(answer).toMatchObject({
      ...{ mode: 'exact', truncated: false, notes: [], diagnosis: null },
      matches: { lines: 7, chunks: 6, files: 5, is_complete: true },
    });
    expect(answer.results[1]).toMatchObject({ match_reason: '2 lines match', similarity_score: 1 });
  });
  it('count with their case, and only below a directory if there is one', async () => {
    expect((await find('Retry(run)')).results).toEqual([]);
    expect(lines(await find('retry(run)', { directory: 'lib' }))).toEqual([
      'lib/copy.ts:1 // Licence: see retry(run).',
    ]);
  });
  it('are said to be more than the results', async () => {
    const { results, notes } = await find('retry(run)', { limit: 2 });
    expect(results).toHaveLength(2);
    expect(notes).toEqual([
      '7 lines in 5 files match, in 6 chunks; 2 shown. Raise limit, or narrow the search.',
    ]);
  });
  it('are cut around the match if they are long', async () => {
    const [result] = (await find('mark(')).results;
    expect(result?.content).toMatch(/^…a{20,30}"; mark\(b+…$/);
    expect(result?.content_truncated).toBe(true);
  });
  it('are in whole chunks if lines around them are asked for', async () => {
    const [first] = (await find('() => retry', { context: 1 })).results;
    expect(first).toMatchObject({ context_before: '', start_line: 7, content_truncated: false });
    expect(first?.content).toContain('retry(run) comes first');
  });
});

describe('a regular expression', () => {
  it.each<readonly [string, number]>([
    ['^retry\\(\\w+\\);$', 1],
    ['(?i)^// LICENCE', 2],
    ['\\A +return', 1],
    ['(?-m)^ +return', 1],
    ['\\bMAX\\b.*[0-9]', 2],
    ['run\\)[^;]$', 2],
    ['at = 0;\\s*}', 0],
  ])('%s matches line by line: %i', async (query, count) => {
    expect((await find(query, { mode: 'regex' })).matches?.lines).toBe(count);
  });
  it.each([
    ['(a', 'The regular expression is invalid: missing closing ): `(a`.'],
    ['a(?!b)', 'The regular expression is invalid: invalid or unsupported Perl syntax: `(?!`.'],
    ['(a{100}){100}', 'The regular expression is invalid: invalid repeat count: `{100}`.'],
    ['(?:a{0,30}){20}', 'The regular expression is too large.'],
    ['a\nb', 'It has several lines, but lines are searched one by one.'],
  ])('%j is refused: %s', async (query, error) => {
    expect(await createLineMatcher(query, 'regex')).toEqual({ ok: false, error });
  });
});

it('what was not searched is said, with how much it was', async () => {
  const { matches, notes } = await find('retry', { maxMs: 0 });
  expect(matches?.is_complete).toBe(false);
  expect(notes[0]).toMatch(
    /^The search stopped after 0 % of the indexed code, because the time limit was reached\./,
  );
  const aborted = await find('nowhere at all', { mode: 'regex', signal: AbortSignal.abort(), maxMs: 0 });
  expect(aborted.diagnosis?.message).toMatch(/^No line that was searched matches this regular expression\./);
});

it('finds nothing without a reason', async () => {
  expect((await find('zzz')).diagnosis).toMatchObject({
    code: 'NO_MATCH',
    message: expect.stringMatching(/^No indexed line contains this text\. Case and spaces count:/) as string,
    files_searched: 6,
  });
  expect((await find('zzz', { fileType: 'go' })).diagnosis?.code).toBe('FILTERED_OUT');
});
