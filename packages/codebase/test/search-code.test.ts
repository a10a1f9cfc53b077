import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatFileChunks } from '../src/search/assemble-results.ts';
import { searchCode, type SearchAnswer, type SearchRequest } from '../src/search/search-code.ts';
import type { Database } from '@assay-mcp/kit/platform/sqlite';
import { readColumn } from '../../../test/support/sqlite.ts';
import { memoryIndex } from './support/memory-index.ts';

const USERS = `import { Database } from './database';

const MAX_USERS = 100;

export function getUserById(database: Database, id: number) {
  const rows = database.select('users', { id });
  return rows[0];
}

export function removeUser(database: Database, id: number) {
  database.delete('users', { id });
  audit.log('user.removed', id);
}

export class UserCache {
  #entries = new Map<number, User>();

  get(id: number) {
    return this.#entries.get(id);
  }

  close() {
    this.#entries.clear();
  }
}
`;
const SERVER = `package server

type HttpServer struct {
	port int
}

func (s *HttpServer) listen() -> bool {
	return bind(s.port)
}
`;
const HEADERS = `def parse_header(raw):
    """Splits a header into its name and value."""
    name, _, value = raw.partition(":")
    return name.strip(), value.strip()


def parse_headers(lines):
    return [parse_header(line) for line in lines]
`;
const CLOSER = `class Connection:
    def close(self):
        self.socket.shutdown()
        self.socket.close()
`;
const FILES = {
  'src/users.ts': USERS,
  'src/server.go': SERVER,
  'lib/headers.py': HEADERS,
  'lib/closer.py': CLOSER,
  'src/copy/users.ts': 'export function getUserById(id: number) {\n  return fetch("/users/" + id);\n}\n',
  'test/users.test.ts': 'it("gets a user", () => {\n  expect(getUserById(database, 1)).toBe(user);\n});\n',
  'test/get-user-by-id.test.ts': 'export function getUserById() {\n  return 1;\n}\n',
  'a_b/one.ts': 'export function wildcardOne() {}\n',
  'axb/two.ts': 'export function wildcardTwo() {}\n',
  'a%/three.ts': 'export function wildcardThree() {}\n',
  'src/old.ts': { text: 'export function onlyStaged() {}\n', state: 'staged' },
  'src/older.ts': { text: 'export function onlySuperseded() {}\n', state: 'superseded' },
  'other.ts': { text: 'export function elsewhere() {}\n', repository: 'two' },
} as const;

let database: Database;
beforeAll(async () => {
  database = await memoryIndex(FILES);
});
afterAll(() => {
  database.close();
});

function search(query: string, filter: Partial<SearchRequest> = {}): SearchAnswer {
  return searchCode(database, { query, limit: 10, ...filter });
}
function places(answer: SearchAnswer): readonly string[] {
  return answer.results.map(
    ({ file_path, symbol, start_line }) => `${file_path}:${start_line} ${symbol ?? ''}`,
  );
}
const firstOf = (query: string, filter: Partial<SearchRequest> = {}) => places(search(query, filter))[0];

describe('an identifier', () => {
  it.each([
    ['getUserById', expect.stringMatching(/^src.*users[.]ts:[15] getUserById$/)],
    ['get_user_by_id', expect.stringMatching(/^src.*users[.]ts:[15] getUserById$/)],
    ['get user by id', expect.stringMatching(/^src.*users[.]ts:[15] getUserById$/)],
    ['parse_header', 'lib/headers.py:1 parse_header'],
    ['parseHeader()', 'lib/headers.py:1 parse_header'],
    ['UserCache', 'src/users.ts:15 UserCache'],
    ['UserCache.close', 'src/users.ts:15 UserCache'],
    ['Connection#close', 'lib/closer.py:1 Connection'],
    ['HttpServer', expect.stringMatching(/^src.server.go/)],
    ['headers.parse_headers', 'lib/headers.py:7 parse_headers'],
    ['where is parse_header called', 'lib/headers.py:1 parse_header'],
    ['MAX_USERS', 'src/users.ts:1 '],
  ])('%s is found first where it is defined', (query, place) => {
    expect(firstOf(query)).toEqual(place);
  });
  it('is found in the class that qualifies it', () => {
    expect(search('UserCache.close').results[0]).toMatchObject({ file_path: 'src/users.ts', kind: 'class' });
    expect(firstOf('Connection.close')).toMatch(/^lib\/closer\.py/);
  });
  it('is found in the class that qualifies it before the module of that name', async () => {
    const lines = Array.from({ length: 80 }, (_, at) => `total_${at} = compute_part(${at})`);
    const method = (name: string): string => `    def ${name}(self):\n        ${lines.join('\n        ')}\n`;
    const text = `def rank(t):\n    return t.rank()\n\n\nclass Tensor:\n${method('shape')}\n${method('rank')}`;
    const tensors = await memoryIndex({ 'lib/tensor.py': text });
    const { results } = searchCode(tensors, { query: 'Tensor.rank', limit: 10 });
    tensors.close();
    expect(results.slice(0, 2).map(({ symbol, parent }) => [symbol, parent])).toEqual([
      ['rank', 'Tensor'],
      ['rank', null],
    ]);
  });
  it('is found in the code of the repository before copies of other projects, and by its kind', async () => {
    const struct = (name: string): string => `struct ${name} {\n  int arity;\n  const char *name;\n};\n`;
    const files = {
      'deps/client/redis.h': struct('redisCommand'),
      'src/server.h': struct('redisCommand').replace('arity', 'flags'),
      'src/lookup.c': 'void redisCommand(int id) {\n  run(id);\n}\n',
    };
    const sources = await memoryIndex(files);
    const found = (query: string): unknown =>
      searchCode(sources, { query, limit: 10 }).results.map(({ file_path }) => file_path)[0];
    expect([found('struct redisCommand'), found('redisCommand')]).toEqual(['src/server.h', 'src/lookup.c']);
    sources.close();
  });
  it('that the index does not have is said to be unknown, and scores at most one half', () => {
    const { notes, results } = search('getUserBiId');
    expect(notes).toEqual([
      'The index has no identifier getUserBiId. The results have parts of it (get, user, bi, id).',
    ]);
    expect(results[0]?.similarity_score).toBeLessThanOrEqual(0.5);
    expect(search('getUserById').notes).toEqual([]);
  });
  it('is found in sources before tests', () => {
    const found = places(search('getUserById'));
    expect(found.slice(0, 2).every((place) => place.startsWith('src/'))).toBe(true);
    expect(found).toContain('test/get-user-by-id.test.ts:1 getUserById');
  });
  it('is found by a part of its name', () => {
    expect(firstOf('userby')).toBe('src/copy/users.ts:1 getUserById');
    expect(search('userby').results[0]?.similarity_score).toBeGreaterThan(0);
  });
});

describe('text', () => {
  it.each([
    ['"user.removed"', 'src/users.ts:10 removeUser'],
    ['self.socket.shut', 'lib/closer.py'],
    ['raw.partition(', 'lib/headers.py:1 parse_header'],
    ["database.delete('users'", 'src/users.ts:10 removeUser'],
    ['-> bool', 'src/server.go'],
  ])('%s is found as exact text', (query, place) => {
    const { results } = search(query);
    expect(places({ ...search(query), results })[0]).toMatch(place);
  });
  it('is reported as an exact match', () => {
    expect(search('raw.partition(').results[0]).toMatchObject({
      match_reason: 'contains the exact text',
      similarity_score: 1,
    });
  });
});

describe('the end of a path', () => {
  it.each([
    ['headers.py', 'lib/headers.py:1 parse_header'],
    ['users.ts', 'src/users.ts:1 '],
    ['copy/users.ts', 'src/copy/users.ts:1 getUserById'],
    ['./LIB/closer.py', 'lib/closer.py:1 Connection'],
    ['src/users.ts:17', 'src/users.ts:15 UserCache'],
  ])('%s gives that file first', (query, place) => {
    expect(firstOf(query)).toBe(place);
  });
  it('is whole names only', () => {
    expect(firstOf('ders.py')).not.toBe('lib/headers.py:1 parse_header');
  });
});

describe('a question', () => {
  it('is answered by the code of the repository before copies, documents and examples, unless it asks for these', async () => {
    const text = 'def retry_delay(attempt):\n    # it grows\n    return 2 ** attempt\n';
    const sources = await memoryIndex({
      'vendor/lib/retry.py': `${text}# vendored\n`,
      'docs/retry.md': 'How the delay of a retry grows: retry delay attempt\n',
      'examples/retry.py': `${text}# example\n`,
      'net/retry.py': `${text}# own\n`,
    });
    const found = (query: string): unknown => searchCode(sources, { query, limit: 10 }).results[0]?.file_path;
    expect(found('how does the delay of a retry grow')).toBe('net/retry.py');
    expect(found('an example of the delay of a retry in examples')).toBe('examples/retry.py');
    sources.close();
  });

  it('is matched against names and code', () => {
    expect(firstOf('how is a user removed from the database')).toBe('src/users.ts:10 removeUser');
    expect(firstOf('splitting headers into names and values')).toMatch(/^lib\/headers\.py/);
  });
  it('finds a matching function, not just many functions of the same name', async () => {
    const names = ['Box', 'Circle', 'Ellipse', 'Square', 'Star'];
    const draw = (name: string): string => `function draw(line) {\n  canvas.draw(line, ${name});\n}\n`;
    const drawing = Object.fromEntries(names.map((name) => [`src/${name}.js`, draw(name)]));
    const line = 'function lineTo(canvas, line) {\n  canvas.draw(line);\n}\n';
    const shapes = await memoryIndex({ ...drawing, 'src/line.js': line });
    const { results } = searchCode(shapes, { query: 'where does it draw a line on the canvas', limit: 5 });
    shapes.close();
    expect(results.map(({ symbol }) => symbol)).toContain('lineTo');
  });
  it('is answered by synonyms of words that no name of the index has', async () => {
    const database = await memoryIndex({
      'src/cleaner.ts': 'export function removeObsolete(out: string) {\n  return rm(out);\n}\n',
      'src/delete.ts': 'export function deletePost(id: string) {\n  return post(id);\n}\n',
      'src/paste.ts': 'export function past(age: number) {\n  return age;\n}\n',
    });
    const ask = (query: string): readonly unknown[] =>
      searchCode(database, { query, limit: 10 }).results.map(({ file_path, match_reason }) => [
        file_path,
        match_reason,
      ]);
    expect(ask('what wipes leftovers')).toEqual([
      ['src/cleaner.ts', 'similar words: remove, obsolete'],
      ['src/delete.ts', 'similar words: delete'],
    ]);
    // "delete" is in a name, so it needs no other words.
    expect(ask('what deletes it now')).toEqual([['src/delete.ts', 'name has deletes']]);
    database.close();
  });

  it('about tests finds tests', () => {
    expect(firstOf('test that gets a user')).toMatch(/^test\//);
    expect(firstOf('expects a user of getUserById toBe')).not.toMatch(/^test\//);
  });
});

describe('a description', () => {
  it('does not rank the definition of a mentioned identifier first', () => {
    const query = 'removes a user from the database and writes to the audit log before HttpServer is told';
    expect(firstOf(query)).toBe('src/users.ts:10 removeUser');
    expect(places(search(query))).toContainEqual(expect.stringMatching('src/server.go'));
  });
});

describe('filters', () => {
  it('limit results to a directory, with % and _ taken literally', () => {
    expect(places(search('wildcard', { directory: 'a_b' }))).toEqual(['a_b/one.ts:1 wildcardOne']);
    expect(places(search('wildcard', { directory: 'a%' }))).toEqual(['a%/three.ts:1 wildcardThree']);
    expect(search('wildcard', { directory: 'a' }).results).toEqual([]);
  });
  it('limit results to a file type and to a repository', () => {
    const found = search('get user header server', { fileType: 'py' });
    expect(new Set(found.results.map(({ language }) => language))).toEqual(new Set(['python']));
    expect(places(search('elsewhere', { repositoryId: 'two' }))).toEqual(['other.ts:1 elsewhere']);
    expect(search('elsewhere', { repositoryId: 'one' }).results).toEqual([]);
  });
  it.each(['onlyStaged', 'onlySuperseded'])('exclude files that are not live: %s', (query) => {
    const found = search(query).results;
    expect(found.filter(({ symbol, file_path }) => symbol === query || file_path.includes('old'))).toEqual(
      [],
    );
  });
});

describe('a result', () => {
  it('includes the surrounding lines, as indexed', () => {
    const [result] = search('removeUser', { context: 10 }).results;
    expect(result).toEqual({
      chunk_id: expect.stringMatching(/^src\/users\.ts#\d$/),
      file_path: 'src/users.ts',
      content: USERS.split('\n').slice(9, 14).join('\n'),
      start_line: 10,
      end_line: 14,
      similarity_score: 1,
      context_before: USERS.split('\n').slice(0, 9).join('\n'),
      context_after: USERS.split('\n').slice(14, 24).join('\n'),
      symbol: 'removeUser',
      parent: null,
      kind: 'function',
      language: 'typescript',
      match_reason: 'defines removeUser',
      content_truncated: false,
      // Its repository is nowhere.
      state: 'missing',
      repository: 'one',
    });
  });
  it('has the line of its name and the lines with words of the query, by number', () => {
    const [result] = search('what clears the entries of the user cache').results;
    expect(result).toMatchObject({
      symbol: 'UserCache',
      content: 'export class UserCache {\n  #entries = new Map<number, User>();\n    this.#entries.clear();',
      lines: [15, 16, 23],
      content_truncated: true,
    });
    expect(result).not.toHaveProperty('context_before');
  });
  it('is in the list of files, which are more than the results if these share a file', () => {
    const { results, files } = search('user', { limit: 2 });
    expect(results).toHaveLength(2);
    expect(new Set(files.map(({ file_path }) => file_path)).size).toBe(files.length);
    expect(files[0]).toMatchObject({ file_path: results[0]?.file_path });
    expect(files[0]?.chunks[0]).toMatchObject({ start_line: results[0]?.start_line });
  });
  it('appears once even if a symbol has the same text in two files', async () => {
    const text = 'export function twice() {\n  return 2;\n}\n';
    const copies = await memoryIndex({ 'esm/a.js': text, 'cjs/a.js': text });
    const { results } = searchCode(copies, { query: 'twice', limit: 10 });
    copies.close();
    expect(results.map(({ file_path }) => file_path)).toEqual(['cjs/a.js']);
  });
  it('never scores higher than the one before it', () => {
    const scores = search('user database get').results.map(({ similarity_score }) => similarity_score);
    expect(scores.length).toBeGreaterThan(2);
    expect(scores).toEqual([...scores].sort((one, other) => other - one));
  });
});

describe('the size limit of an answer', () => {
  it.each([
    ['long paths', 100, 7],
    ['very long paths', 900, 2],
  ])('has at most 5,500 bytes with %s', async (_, length, count) => {
    const lines = (name: string): string =>
      Array.from({ length: 30 }, (__, at) => `export function refundOf${name}${at}(order: Order) {}\n`).join(
        '',
      );
    const files = Array.from({ length: 12 }, (__, at) => [`${'d'.repeat(length)}/${at}.ts`, lines(`${at}x`)]);
    const long = await memoryIndex(Object.fromEntries(files) as Record<string, string>);
    const { results, files: found, truncated } = searchCode(long, { query: 'refund of order', limit: 10 });
    long.close();
    const bytes = Buffer.byteLength(JSON.stringify({ results, files: found.map(formatFileChunks) }));
    expect(bytes).toBeLessThanOrEqual(5_500 + 25);
    expect(results.length).toBeGreaterThanOrEqual(count);
    expect(truncated).toBe(results.length < 10);
  });
  it('drops whole results, and marks the answer as truncated', () => {
    const request = { query: 'user', limit: 10, context: 10 };
    const all = searchCode(database, request);
    const some = searchCode(database, request, { maxBytes: 1_200 });
    expect(some.results).toEqual(all.results.slice(0, some.total_count));
    expect(some).toMatchObject({
      truncated: true,
      truncation: {
        limit_bytes: 1_200,
        omitted_results: all.total_count - some.total_count,
        content_cut: false,
      },
    });
    expect(all).toMatchObject({ truncated: false, truncation: null });
  });
  it('cuts the content of a single result that does not fit', () => {
    const { results, truncation } = searchCode(
      database,
      { query: 'removeUser', limit: 1, context: 0 },
      { maxBytes: 40 },
    );
    expect(results).toMatchObject([{ content_truncated: true }]);
    expect(Buffer.byteLength(results[0]!.content)).toBe(40);
    expect(truncation).toMatchObject({ omitted_results: 0, content_cut: true });
  });
});

describe('an empty answer', () => {
  it('names unknown terms and similar identifiers', () => {
    expect(search('getUserBiId').total_count).toBeGreaterThan(0);
    expect(search('removUsr').diagnosis).toBeNull();
    expect(search('parsheader').diagnosis).toMatchObject({
      code: 'TERMS_UNKNOWN',
      unknown_terms: ['parsheader'],
      similar_terms: expect.arrayContaining(['parse_header']),
    });
  });
  it('says that a filter excluded everything', () => {
    expect(search('user', { directory: 'nowhere' }).diagnosis).toMatchObject({
      code: 'FILTERED_OUT',
      files_searched: 0,
    });
    expect(search('HttpServer', { fileType: 'py' }).diagnosis).toMatchObject({ code: 'FILTERED_OUT' });
  });
  it('says that nothing is indexed, or that the query has no terms', async () => {
    const empty = await memoryIndex({});
    expect(searchCode(empty, { query: 'user', limit: 10 }).diagnosis).toMatchObject({
      code: 'NOTHING_INDEXED',
    });
    empty.close();
    expect(search('( ) *').diagnosis).toMatchObject({ code: 'NO_TERMS' });
  });
});

describe('a search by meaning', () => {
  it('adds its results to the lexical ones, after definitions', () => {
    const id = readColumn(database, "SELECT id FROM chunks WHERE symbol = 'close'")[0];
    const idOf = Number(id ?? readColumn(database, "SELECT id FROM chunks WHERE symbol = 'Connection'")[0]);
    const answer = searchCode(
      database,
      { query: 'removeUser', limit: 10 },
      { vectorMatches: [{ chunkRowId: idOf, distance: 0.2 }] },
    );
    expect(answer.mode).toBe('hybrid');
    expect(places(answer)[0]).toBe('src/users.ts:10 removeUser');
    expect(answer.results.find(({ match_reason }) => match_reason.includes('meaning'))).toMatchObject({
      file_path: 'lib/closer.py',
    });
  });
  it.each<readonly [string, number]>([
    ['frobnicator', 0],
    ['zzqq wibble', 0],
    ['wo werden Nutzer geholt', 3],
  ])('does not fill up with the nearest chunks if the index has no word of the query: %s', (query, count) => {
    const vectorMatches = database
      .prepare(
        "SELECT c.id AS chunkRowId, 0.4 AS distance FROM chunks c JOIN files f ON f.id = c.file_id WHERE f.state = 'live'",
      )
      .all() as { chunkRowId: number; distance: number }[];
    const { results, diagnosis, notes } = searchCode(database, { query, limit: 10 }, { vectorMatches });
    expect(results).toHaveLength(count);
    expect(diagnosis?.code).toBe(count === 0 ? 'TERMS_UNKNOWN' : undefined);
    expect(notes).toEqual(
      count === 0 ? [] : [expect.stringMatching(/found by meaning only and may be unrelated/)],
    );
  });
  it('returns nothing that the filters exclude', () => {
    const vectorMatches = database.prepare('SELECT id AS chunkRowId, 0.1 AS distance FROM chunks').all() as {
      chunkRowId: number;
      distance: number;
    }[];
    const { results } = searchCode(
      database,
      { query: 'header', fileType: 'py', limit: 50 },
      { vectorMatches },
    );
    expect(results.length).toBeGreaterThan(2);
    expect(results.filter(({ file_path }) => !file_path.endsWith('.py'))).toEqual([]);
  });
});

it('a repeated search returns the same answer', () => {
  expect(search('user database header')).toEqual(search('user database header'));
});
