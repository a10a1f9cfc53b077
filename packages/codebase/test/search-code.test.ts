import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
    ['getUserById', 'src/copy/users.ts:1 getUserById'],
    ['get_user_by_id', 'src/copy/users.ts:1 getUserById'],
    ['get user by id', 'src/copy/users.ts:1 getUserById'],
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

describe('a question', () => {
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
    const [result] = search('removeUser').results;
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
    });
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
  it('drops whole results, and marks the answer as truncated', () => {
    const request = { query: 'user', limit: 10 };
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
    const { results, truncation } = searchCode(database, { query: 'removeUser', limit: 1 }, { maxBytes: 40 });
    expect(results).toMatchObject([{ content_truncated: true, context_before: '', context_after: '' }]);
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
