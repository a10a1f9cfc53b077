import { expect, it } from 'vitest';
import { findNameFault } from '../../src/core/name-fault.ts';

it('a name has no character that a shell expands, a terminal obeys, or people take for another one', () => {
  for (const name of [
    ...[
      'g$(id)',
      'g`id`',
      'a;b',
      'a|b',
      'a&b',
      'a>b',
      'a<b',
      'a(b',
      'a*',
      'a?',
      'a[b]',
      'a{b,c}',
      'a!b',
      '~a',
      'a#b',
    ],
    ...[
      "a'b",
      'a"b',
      String.raw`a\b`,
      'a=b',
      'a%b',
      'a^b',
      'a,b',
      'a/b',
      'a\nb',
      'a\tb',
      'a\u001b[31m',
      'a\u009bb',
    ],
    ...[
      'a\u202eb',
      'a\u2066b',
      'a\u200bb',
      'a\u00adb',
      'a\u00a0b',
      'a\ufeff',
      'l\u043ecal',
      'ﬁles',
      'ａ',
      'Über',
      '🦊',
    ],
    ...['\ud800', '', ' a', 'a ', 'a  b', '.', '..', '.a', '-a', '--help', '+a', '@a', ':0', 'x'.repeat(65)],
  ])
    expect([name, findNameFault(name)]).toEqual([
      name,
      expect.stringContaining('it takes 1 to 64 characters'),
    ]);
});

it('a name may have the punctuation of packages, addresses and versions, and spaces between words', () => {
  for (const name of [
    'a',
    '0',
    '_a',
    'my-server',
    'My Server 2',
    'team:ci',
    'ada@example.com',
    'c++',
    'v1.2',
    'x'.repeat(64),
  ])
    expect([name, findNameFault(name)]).toEqual([name, undefined]);
});

it('the error names the character at fault', () => {
  expect(findNameFault('g$(id)')).toMatch(/^it holds "\$"; /);
  expect(findNameFault('l\u043ecal')).toMatch(/^it holds "о" \(U\+043E\); /);
  expect(findNameFault('a\u202eb')).toMatch(/^it holds "\\\\u202e" \(U\+202E\); /);
});
