import { expect, it } from 'vitest';
import { countBySubject, chooseEviction } from '../../src/core/fair-share.ts';

const counts = (entries: Readonly<Record<string, number>>): ReadonlyMap<string, number> =>
  new Map(Object.entries(entries));

it.each([
  [
    'the subject with the most entries',
    { greedy: 9, other: 1 },
    'new',
    { subject: 'greedy', mayEvictInUse: true },
  ],
  [
    'the subject with the most entries, for one that has some',
    { greedy: 9, other: 1 },
    'other',
    { subject: 'greedy', mayEvictInUse: true },
  ],
  [
    'the requesting subject, if it has the most',
    { greedy: 9, other: 1 },
    'greedy',
    { subject: 'greedy', mayEvictInUse: false },
  ],
  [
    'the requesting subject, if another has as many',
    { one: 5, other: 5 },
    'other',
    { subject: 'other', mayEvictInUse: false },
  ],
  [
    'the subject with one more entry, unless in use',
    { one: 5, other: 4 },
    'other',
    { subject: 'one', mayEvictInUse: false },
  ],
  [
    'the requesting subject, if it is the only one',
    { local: 10 },
    'local',
    { subject: 'local', mayEvictInUse: false },
  ],
  ['the requesting subject, in an empty pool', {}, 'new', { subject: 'new', mayEvictInUse: false }],
])('evicts an entry of %s', (_, pool, requester, expected) => {
  expect(chooseEviction(counts(pool), requester)).toEqual(expected);
});

it('entries are counted by subject', () => {
  const entries = ['a', 'b', 'a'].map((subject) => ({ subject }));
  expect(countBySubject(entries)).toEqual(
    new Map([
      ['a', 2],
      ['b', 1],
    ]),
  );
});
