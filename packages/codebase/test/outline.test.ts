// The server and an official client run in this process, connected in memory. Only the threads are real.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { at, listAt, type JsonObject } from '../../../test/support/json.ts';
import { tempDir } from '../../../test/support/paths.ts';
import { detectLanguage } from '../src/chunks/languages.ts';
import { outlineSource } from '../src/symbols/outline-source.ts';
import { type Answer, call, index, type Peer, writeIn } from './hint-checks.ts';
import { connected } from './support/connected.ts';

const SOURCE = `export const MAX = 3;

/** Parses. */
export class Parser {
  #at = 0;

  /** Parses a text. */
  parse(text: string): number {
    return text.length;
  }

  reset(): void {}
}

export function main(): void {}
`;

let peer: Peer;
let repo: string;
beforeAll(async () => {
  peer = await connected();
  repo = tempDir();
  writeIn(repo, 'src/parser.ts', SOURCE);
  writeIn(repo, 'notes.txt', 'Nothing to parse.\n');
  writeIn(repo, 'one/index.ts', 'export function one(): void {}\n');
  writeIn(repo, 'two/index.ts', 'export function two(): void {}\n');
  writeIn(repo, '.mcpignore', 'private/\n*.gen.ts\n');
  await index(peer, { repo, project: 'p' });
});

function outline(file_path: string, more: JsonObject = {}): Promise<Answer> {
  return call(peer, 'outline', { file_path, project_id: 'p', ...more });
}

it('lists the symbols of a file with kinds, lines, signatures and nesting', async () => {
  const answer = await outline('src/parser.ts');
  expect(answer.structured).toEqual({
    ...{ file_path: 'src/parser.ts', language: 'typescript', index_state: 'unchanged' },
    symbols: [
      {
        ...{ kind: 'constant', symbol: 'MAX', parent: null, start_line: 1, end_line: 1 },
        signature: 'const MAX = 3;',
      },
      {
        ...{ kind: 'class', symbol: 'Parser', parent: null, start_line: 3, end_line: 13 },
        signature: 'class Parser',
      },
      {
        ...{ kind: 'method', symbol: 'parse', parent: 'Parser', start_line: 7, end_line: 10 },
        signature: 'parse(text: string): number',
      },
      {
        ...{ kind: 'method', symbol: 'reset', parent: 'Parser', start_line: 12, end_line: 12 },
        signature: 'reset(): void',
      },
      {
        ...{ kind: 'function', symbol: 'main', parent: null, start_line: 15, end_line: 15 },
        signature: 'function main(): void',
      },
    ],
    ...{ symbol_count: 5, truncated: false, notes: [] },
    ...{ project_id: 'p', database_name: 'p/index.db', latency_ms: expect.any(Number) as number },
  });
  expect(answer.text).toBe(
    [
      'src/parser.ts (typescript): 5 symbols.',
      '1-1 const MAX = 3;',
      '3-13 class Parser',
      '  7-10 method parse(text: string): number',
      '  12-12 method reset(): void',
      '15-15 function main(): void',
    ].join('\n'),
  );
});

it('takes the end of a path and an absolute path, and shows one symbol of the file', async () => {
  for (const path of ['parser.ts', './src/parser.ts', join(repo, 'src/parser.ts')])
    expect(at((await outline(path)).structured, 'file_path')).toBe('src/parser.ts');
  const one = await outline('parser.ts', { symbol: 'Parser' });
  expect(listAt(one.structured, 'symbols').map((entry) => at(entry, 'symbol'))).toEqual([
    'Parser',
    'parse',
    'reset',
  ]);
  expect((await outline('parser.ts', { symbol: 'Parser.parse' })).structured).toMatchObject({
    symbol_count: 1,
  });
  expect((await outline('parser.ts', { symbol: 'prase' })).text).toContain(
    'The file has no symbol prase. Did you mean parse?',
  );
});

describe('a file that differs from the index', () => {
  it('is outlined as it is now, and the answer says so', async () => {
    writeIn(repo, 'src/later.ts', 'export function later(): void {}\n');
    const later = await outline('src/later.ts');
    expect(later.structured).toMatchObject({ index_state: 'not_indexed', symbol_count: 1 });
    expect(later.text).toContain('The file is not in the index.\n1-1 function later(): void');
    writeIn(repo, 'two/index.ts', '\n\nexport function changed(): void {}\n');
    const changed = await outline('two/index.ts');
    expect(changed.structured).toMatchObject({ index_state: 'stale', symbols: [{ start_line: 3 }] });
    expect(changed.text).toContain('The file has changed since it was indexed; these are its lines now.');
  });

  it('is refused if indexing would leave it out for its name, its place or a .mcpignore', async () => {
    const code = 'export function secret(): void {}\n';
    const outside = tempDir();
    writeIn(outside, 'other.ts', code);
    for (const path of ['private/a.ts', 'src/b.gen.ts', '.git/hook.ts', 'id_rsa', 'key.pem'])
      writeIn(repo, path, code);
    symlinkSync(join(outside, 'other.ts'), join(repo, 'link.ts'));
    symlinkSync(outside, join(repo, 'linked'));
    const refused = [
      ...['private/a.ts', 'src/b.gen.ts', '.git/hook.ts', 'id_rsa', 'key.pem'],
      ...['link.ts', 'linked/other.ts', join(outside, 'other.ts'), '/etc/passwd', '../x.ts'],
    ];
    for (const path of refused) {
      const { text } = await outline(path);
      expect([path, text]).not.toContain('secret');
      expect([path, text]).toEqual([
        path,
        expect.stringMatching(/^(?:ACCESS_DENIED|NOT_FOUND) \(file_path\): |symbolic link/) as string,
      ]);
    }
  });
});

it('says which file was meant, if several match or none does', async () => {
  expect((await outline('index.ts')).text).toMatch(
    /^VALIDATION_ERROR \(file_path\): Several files have the path "index.ts": "one\/index.ts", "two\/index.ts"\./,
  );
  expect((await outline('three/index.ts')).text).toMatch(
    /^NOT_FOUND \(file_path\): No indexed repository has a file "three\/index.ts"\. Files with this name: "one/,
  );
  for (const path of [' ', 'a\0b', 'src']) expect((await outline(path)).isError).toBe(true);
  expect((await outline('parser.ts', { limit: 0 })).text).toMatch(/^VALIDATION_ERROR \(limit\): /);
  expect((await outline('parser.ts', { symbol: 'two words' })).text).toMatch(
    /^VALIDATION_ERROR \(symbol\): /,
  );
});

it('a file that is not parsed has no symbols, with the reason', async () => {
  expect((await outline('notes.txt')).structured).toMatchObject({
    symbols: [],
    notes: ['Files of this kind are not parsed. search_code finds text in them.'],
  });
});

it('an outline stays small: signatures are left out first, then members, then the rest', async () => {
  const many = (count: number, of: (at: number) => string): string =>
    Array.from({ length: count }, (_, one) => of(one)).join('');
  const method = (one: number): string => `  method${one}(first: string, second: string): void {}\n`;
  writeIn(
    repo,
    'members.ts',
    many(20, (one) => `export class C${one} {\n${many(5, method)}}\n`),
  );
  writeIn(
    repo,
    'flat.ts',
    many(400, (one) => `export function function${one}(a: string): void {}\n`),
  );
  const wide = 'wide'.repeat(20);
  writeIn(
    repo,
    'wide.ts',
    many(45, (one) => `export function ${wide}${one}(): void {}\n`),
  );
  const members = await outline('members.ts');
  expect(members.structured).toMatchObject({ symbol_count: 120, truncated: true });
  expect(listAt(members.structured, 'symbols')).toHaveLength(20);
  expect(members.text).toContain('1-7 class C0  (5 members)\n');
  const flat = await outline('flat.ts');
  expect(flat.text).toMatch(
    /\nSignatures are left out; raise limit, or pass symbol\.\nand \d+ more symbols after/,
  );
  const cut = await outline('wide.ts');
  expect(cut.structured).toMatchObject({ symbol_count: 45, truncated: true });
  for (const { text, structured } of [members, flat, cut])
    expect([
      Buffer.byteLength(text) <= 3_000,
      Buffer.byteLength(JSON.stringify(structured)) <= 6_000,
    ]).toEqual([true, true]);
  const all = await outline('flat.ts', { limit: 500 });
  expect(listAt(all.structured, 'symbols')).toHaveLength(400);
});

it('comments that are made to take long do not', async () => {
  const source = `/** Word. ${'*'.repeat(200_000)} */\n// :${'a'.repeat(200_000)}\nfunction f() {}\n`;
  const [first] = (await outlineSource(source, 'typescript')) ?? [];
  expect(first?.doc).toMatch(/^Word[.] [*]+/);
});

it.each([
  [
    'a.py',
    'A = 1\n\nclass B:\n    C: int = 2\n\n    def d(self):\n        e = 3\n',
    ['A', 'B', 'B.C', 'B.d'],
  ],
  [
    'a.go',
    'package a\n\nconst (\n\tA = 1\n\tB = 2\n)\n\nfunc (c *C) D() {\n\te := 1\n}\n',
    ['A', 'B', 'C.D'],
  ],
  ['a.rs', 'const A: u8 = 1;\nimpl B {\n    fn c(&self) {}\n}\n', ['A', 'B', 'B.c']],
  [
    'A.java',
    'class A {\n  static final int B = 1;\n  int c;\n  @Override\n  void d() {}\n}\n',
    ['A', 'A.B', 'A.d'],
  ],
  [
    'a.h',
    '#ifndef A_H\n#define A_H\n#define B 1\nint c(int d);\nstruct e { int f; };\nextern int g;\n#endif\n',
    ['B', 'c', 'e'],
  ],
  [
    'a.rb',
    'module A\n  class B\n    C = 1\n    d = 2\n    def e?; end\n  end\nend\n',
    ['A.B', 'A.B.C', 'A.B.e?'],
  ],
  [
    'a.ts',
    'interface A {\n  b(c: string): void;\n}\nconst d = 1;\nfunction e() {\n  const f = 1;\n}\n',
    ['A', 'A.b', 'd', 'e'],
  ],
  ['a.php', '<?php\nclass A { function b() {} }\n', ['A', 'A.b']],
  ['a.cs', 'namespace N { class A { void B() {} } }\n', ['N.A', 'N.A.B']],
  ['a.sh', 'a() {\n  echo\n}\n', ['a']],
])('%s has its symbols and their members', async (path, text, names) => {
  const symbols = await outlineSource(text, detectLanguage(path, text));
  expect(symbols?.map(({ parent, name }) => [parent, name].filter(Boolean).join('.'))).toEqual(names);
});
