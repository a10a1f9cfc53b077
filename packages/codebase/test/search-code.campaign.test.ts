import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { searchCode } from '../src/search/search-code.ts';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { rounds } from '../../../test/support/campaign.ts';
import { memoryIndex } from './support/memory-index.ts';

const RUNS = rounds({ short: 300, long: 20_000 });
const PATHS = ['src/a_b/user.ts', 'src/axb/user.ts', 'src/a%/user.py', 'lib/user.py', 'test/user.test.ts'];

let database: Database;
beforeAll(async () => {
  const code = (path: string): string =>
    path.endsWith('.py')
      ? `def get_user(id):\n    """${path}"""\n    return users["${path}"]\n`
      : `export function getUser(id) {\n  return users.get("${path}", NOT);\n}\n`;
  database = await memoryIndex({
    ...Object.fromEntries(PATHS.map((path) => [path, code(path)])),
    'src/staged.ts': { text: code('src/staged.ts'), state: 'staged' },
    'src/superseded.ts': { text: code('src/superseded.ts'), state: 'superseded' },
    'src/foreign.ts': { text: code('src/foreign.ts'), repository: 'two' },
  });
});
afterAll(() => {
  database.close();
});

/** Words of the index, FTS5 and SQL syntax, and any text. */
const PIECES = [
  'getUser',
  'get_user',
  'user',
  'users.get(',
  'src/a_b',
  '"',
  "'",
  '`',
  '*',
  '^',
  ':',
  '-',
  '+',
  '(',
  ')',
  '{',
  '}',
  'NEAR(',
  'AND',
  'OR',
  'NOT',
  'name :',
  '{name body} :',
  '%',
  '_',
  '\\',
  '\0',
  '; DROP TABLE files',
  '::',
  '->',
  '#',
  '$',
  '@',
  '[a',
  '(?:',
  '😀',
  '\ud800',
  'é',
  '数据',
  '\n',
  ' ',
];
const query = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join('')),
  fc.array(fc.constantFrom(...PIECES), { maxLength: 12 }).map((pieces) => pieces.join(' ')),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.constantFrom(
    'user '.repeat(5_000),
    'aB'.repeat(50_000),
    '"'.repeat(10_000),
    'a.'.repeat(10_000),
    'é'.repeat(99_999),
  ),
);
const filter = fc.record(
  {
    repositoryId: fc.constantFrom('one', 'two', "one' OR '1"),
    fileType: fc.constantFrom('ts', 'PY', 's', '%', '_s'),
    directory: fc.constantFrom('src', 'src/a_b', 'src/a_b/', './src/a%', 'src/%', '%', '_rc', '', '..'),
  },
  { requiredKeys: [] },
);

function passes(
  path: string,
  { repositoryId, fileType, directory = '' }: typeof filter extends fc.Arbitrary<infer T> ? T : never,
): boolean {
  const names = directory.split('/').filter((name) => name !== '' && name !== '.');
  return (
    (path === 'src/foreign.ts' || PATHS.includes(path)) &&
    (repositoryId === undefined || repositoryId === (path === 'src/foreign.ts' ? 'two' : 'one')) &&
    (fileType === undefined || path.endsWith(`.${fileType.toLowerCase()}`)) &&
    (names.length === 0 || path.startsWith(`${names.join('/')}/`))
  );
}

it('any query returns only files that pass the filters, or a diagnosis if there are none', () => {
  fc.assert(
    fc.property(query, filter, fc.integer({ min: 1, max: 50 }), (text, only, limit) => {
      const answer = searchCode(database, { query: text, limit, ...only });
      expect(answer.results.filter(({ file_path }) => !passes(file_path, only))).toEqual([]);
      expect(answer.results.length).toBeLessThanOrEqual(limit);
      expect(answer.diagnosis === null).toBe(answer.results.length > 0);
      expect(searchCode(database, { query: text, limit, ...only })).toEqual(answer);
    }),
    { numRuns: RUNS },
  );
});
