import fc from 'fast-check';
import { expect, test } from 'vitest';
import { chunkSource } from '../src/chunks/chunk-source.ts';
import { GRAMMARS } from '../src/chunks/languages.ts';
import { parse } from '../src/chunks/parsers.ts';
import type { Language, SourceChunk } from '../src/source-chunk.ts';

const LANGUAGES: readonly Language[] = ['text', ...(Object.keys(GRAMMARS) as Language[])];

/** Code fragments of many languages, so that parsers recognize parts of their combinations. */
const FRAGMENT = fc.constantFrom(
  'class A {',
  'class B:',
  '  def f(self):',
  '    return 1',
  'function g() {',
  'const x = () => {',
  '}',
  '})',
  ');',
  '  m() { return 1; }',
  '// note',
  '# note',
  '/* note',
  '*/',
  '"""',
  "'",
  '`',
  '@dec',
  '@Override',
  '#[test]',
  'export default {',
  'export ',
  'fn h() {',
  'func (t *T) M() {',
  'impl X {',
  'namespace N {',
  'module M',
  'end',
  'public int k() {',
  'template <class T>',
  '#define Z \\',
  '#if 1',
  '#endif',
  '<?php',
  '<<EOF',
  'EOF',
  'case 1:',
  '\t',
  ' ',
  '',
  '\r',
  '\u{1F600}',
  '\u2028',
  '\0',
  '(',
  '[',
  '{',
  'x = [',
  '1,',
  'if x:',
  'try:',
  'def z; end',
  'f() {',
);
const LINE = fc.array(
  fc.oneof({ weight: 3, arbitrary: FRAGMENT }, fc.string({ unit: 'grapheme', maxLength: 12 })),
  {
    maxLength: 4,
  },
);
const TEXT = fc
  .array(LINE, { maxLength: 120 })
  .map((lines) => lines.map((parts) => parts.join('')).join('\n'));

test('the chunks of any text contain each of its lines exactly once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(TEXT, fc.constantFrom(...LANGUAGES), async (text, language) => {
      const { chunks } = await chunkSource({ text, language });
      expect(linesOf(chunks)).toEqual(/\S/.test(text) ? text.replace(/\n$/, '').split('\n') : []);
    }),
    { numRuns: 120 },
  );
});

test('a large class is split into its header, its methods and the code between them', async () => {
  const body = '    work();\n'.repeat(30);
  const text = [
    '/** A parser. */',
    'export class Parser extends Base {',
    '  #rest = 1;',
    '',
    '  // Reads.',
    '  read() {',
    `${body}  }`,
    '  static LIMIT = 10;',
    '  handle = () => {',
    `${body}  };`,
    '}',
    'run();',
  ].join('\n');
  const { chunks } = await chunkSource({ text, language: 'typescript' });
  expect(
    chunks.map(({ startLine, endLine, kind, parent, symbol }) => [startLine, endLine, kind, parent, symbol]),
  ).toEqual([
    [1, 4, 'class', null, 'Parser'],
    [5, 37, 'method', 'Parser', 'read'],
    [38, 38, 'block', 'Parser', null],
    [39, 71, 'method', 'Parser', 'handle'],
    [72, 72, 'block', null, null],
  ]);
});

test('a large function is split at inner functions, and parts that are still too large at lines', async () => {
  const inner = `  function inner() {\n${'    work();\n'.repeat(900)}  }\n`;
  const { chunks } = await chunkSource({ text: `(function () {\n${inner}})();\n`, language: 'javascript' });
  expect(chunks.slice(1).map(({ kind, symbol }) => [kind, symbol])).toEqual([
    ['function', 'inner'],
    ['function', 'inner'],
  ]);
  const all = await chunkSource({ text: `function outer() {\n${inner}}\n`, language: 'javascript' });
  expect(all.chunks[1]).toMatchObject({ symbol: 'inner', parent: 'outer' });
  expect(Math.max(...all.chunks.map(({ content }) => content.length))).toBeLessThanOrEqual(8_000);
});

test('a symbol is a single identifier without quotes, and the name before a dot is its parent', async () => {
  const javascript = [
    'const {\n  one,\n  two,\n} = load();',
    'Point.origin = {\n  x: 0,\n  y: 0,\n};',
    `exports.handlers = {\n${'  x: 1,\n'.repeat(60)}  'on-change': () => {\n    act();\n  },\n};`,
  ].join('\n');
  const names = async (text: string, language: 'javascript' | 'python'): Promise<readonly unknown[]> =>
    (await chunkSource({ text, language })).chunks.flatMap(({ kind, parent, symbol }) =>
      symbol === null ? [] : [[kind, parent, symbol]],
    );
  expect(await names(javascript, 'javascript')).toEqual([
    ['constant', 'Point', 'origin'],
    ['constant', null, 'handlers'],
    ['method', 'handlers', 'on-change'],
  ]);
  expect(await names('Model.fields = [\n  1,\n]\na, b = (\n  1,\n  2)\n', 'python')).toEqual([
    ['constant', 'Model', 'fields'],
  ]);
});

test('a text crafted to be slow to parse is given up, and the next one is parsed', async () => {
  expect(await parse('bash', '<'.repeat(20_000), 20)).toBeUndefined();
  const { chunks } = await chunkSource({ text: 'f() { :; }', language: 'bash' });
  expect(chunks).toMatchObject([{ symbol: 'f' }]);
});

/** All lines of the chunks. Fails if there is a gap or an overlap. */
function linesOf(chunks: readonly SourceChunk[]): readonly (string | undefined)[] {
  const lines: (string | undefined)[] = [];
  for (const { startLine, endLine, content } of chunks) {
    expect(startLine).toBe(lines.length + 1);
    lines.push(...content.split('\n'));
    expect(endLine).toBe(lines.length);
  }
  return lines;
}
