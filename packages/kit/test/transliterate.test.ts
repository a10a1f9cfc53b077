import { expect, it } from 'vitest';
import { transliterate } from '../src/transliterate.ts';

it.each([
  ['查询', 'ChaXun'],
  ['搜索', 'SouSuo'],
  ['поиск', 'poisk'],
  ['검색', 'GeomSaeg'],
  ['Größe öffnen', 'Grosse offnen'],
  ['\u{E000}a\u{10FFFF}', 'a'],
  ['plain_1', 'plain_1'],
])('%s is written %s', (text, ascii) => {
  expect(transliterate(text)).toBe(ascii);
});
