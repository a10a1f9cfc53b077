import { expect, it } from 'vitest';
import type { Language } from '../src/source-chunk.ts';
import { findOccurrences } from '../src/symbols/occurrences.ts';

function linesOf(text: string, name = 'total', language: Language = 'typescript'): readonly number[] {
  return findOccurrences(text, { name, language, startLine: 1 }).map(({ line }) => line);
}

it('only whole words count, and each line once', () => {
  const text = 'total\nsubtotal\ntotals\n$total\ntotal_\ntötal\ntotal + total\n(total)';
  expect(linesOf(text)).toEqual([1, 7, 8]);
});

it('comments and strings that are nothing but the name do not count', () => {
  const text = '// total\n * total\n/* total */\ncall("total")\ncall("total is")\nx = total * y';
  expect(linesOf(text)).toEqual([5, 6]);
  expect(linesOf('# total\ntotal()', 'total', 'python')).toEqual([2]);
  expect(linesOf('#define X total\n*total = 1;', 'total', 'c')).toEqual([1, 2]);
});

it('docstrings do not count', () => {
  const text = 'def f():\n  """Adds up.\n\n  See total.\n  """\n  return total()';
  expect(linesOf(text, 'total', 'python')).toEqual([6]);
});

it('names with signs are found as they are written', () => {
  expect(linesOf('if a.valid?(1)\nvalid', 'valid?', 'ruby')).toEqual([1]);
  expect(linesOf('this.#count += 1;', '#count')).toEqual([1]);
});

it('calls, members and imports are told apart, and a long line is cut around the name', () => {
  const describe = (text: string): unknown =>
    findOccurrences(text, { name: 'total', language: 'typescript', startLine: 7 })[0];
  const plain = { line: 7, isCall: false, isImport: false, isMember: false };
  expect(describe('  cart.total<number>(1)')).toEqual({
    ...{ ...plain, isCall: true, isMember: true },
    text: 'cart.total<number>(1)',
  });
  expect(describe('import { total } from "x";')).toMatchObject({ isImport: true });
  const long = `${'x'.repeat(500)} + total + ${'y'.repeat(500)}`;
  expect(describe(long)).toMatchObject({ text: expect.stringMatching(/^…x+ \+ total \+ y+…$/) as string });
});

it('takes time in proportion to the text', () => {
  const lines = findOccurrences('total\n'.repeat(100_000), { name: 'total', language: 'java', startLine: 1 });
  expect(lines).toHaveLength(100_000);
});
