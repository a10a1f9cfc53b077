import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { decodeText, readBytes, readEntry } from '../src/files/read-source.ts';
import { isTestPath } from '../src/files/test-path.ts';

const folder = mkdtempSync(join(tmpdir(), 'assay-read-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['UTF-8', Buffer.from('é = 1\r\n\r\nb\n'), { text: 'é = 1\n\nb\n', encoding: 'utf-8' }],
  ['UTF-8 with a byte order mark', Buffer.from('\uFEFFa'), { text: 'a', encoding: 'utf-8' }],
  ['UTF-16', Buffer.from('\uFEFFé', 'utf16le'), { text: 'é', encoding: 'utf-16le' }],
  ['big-endian UTF-16', Buffer.from([0xfe, 0xff, 0, 0xe9]), { text: 'é', encoding: 'utf-16be' }],
  ['Latin-1', Buffer.from('caf\xe9 = 1', 'latin1'), { text: 'café = 1', encoding: 'latin1' }],
  ['an empty file', Buffer.alloc(0), { text: '', encoding: 'utf-8' }],
  ['a NUL byte', Buffer.from('a\0b'), undefined],
  ['control characters', Buffer.from('\u0001\u0002key\u0003value'.repeat(50)), undefined],
  [
    'a file with a few control characters',
    Buffer.from(`\u0001${'a = 1;\n'.repeat(50)}`),
    { text: `\u0001${'a = 1;\n'.repeat(50)}`, encoding: 'utf-8' },
  ],
  ['compressed data', Buffer.from(Array.from({ length: 999 }, (_, at) => 1 + ((at * 89) % 255))), undefined],
])('text is decoded, and binary data refused: %s', (_, bytes, expected) => {
  expect(decodeText(bytes)).toEqual(expected);
});

test('only regular files within the size limit are read', () => {
  const file = join(folder, 'a.ts');
  writeFileSync(file, 'x = 1');
  symlinkSync(file, join(folder, 'link.ts'));
  execFileSync('mkfifo', [join(folder, 'pipe.ts')]);
  const read = (name: string, maxBytes: number): unknown => {
    const result = readBytes(join(folder, name), maxBytes);
    return result.ok ? [result.bytes.toString(), result.size] : result.reason;
  };
  expect(read('a.ts', 5)).toEqual(['x = 1', 5]);
  expect(read('a.ts', 4)).toBe('too_large');
  expect(read('link.ts', 99)).toBe('symlink');
  expect(read('pipe.ts', 99)).toBe('special_file');
  expect(read('absent.ts', 99)).toBe('unreadable');
  appendFileSync(file, '!');
  expect(read('a.ts', 99)).toEqual(['x = 1!', 6]);
});

test.each([
  ['src/parser.test.ts', true],
  ['src/__tests__/parser.ts', true],
  ['pkg/parser_test.go', true],
  ['tests/unit/helpers.py', true],
  ['test_parser.py', true],
  ['conftest.py', true],
  ['spec/models/cart_spec.rb', true],
  ['src/main/java/CartTest.java', true],
  ['src/test/java/Cart.java', true],
  ['Shop.Tests/Cart.cs', true],
  ['src/testing-library.ts', false],
  ['src/latest/index.ts', false],
  ['src/contest.py', false],
  ['src/attest.go', false],
  ['inspect/spectrum.js', false],
  ['src/Latest.java', false],
])('%s is a test: %s', (path, expected) => {
  expect(isTestPath(path)).toBe(expected);
});

test('what is below a file, or nowhere, has no facts', () => {
  expect(readEntry(join(import.meta.filename, 'x'))).toBeUndefined();
  expect(readEntry(join(import.meta.dirname, 'absent'))).toBeUndefined();
  expect(readEntry(import.meta.filename)?.isFile()).toBe(true);
});
