import { expect, it } from 'vitest';
import { countBySubject, evictionCandidate } from '../../src/core/fair-share.ts';

const counts = (entries: Readonly<Record<string, number>>): ReadonlyMap<string, number> =>
  new Map(Object.entries(entries));

it.each([
  ['who has most', { greedy: 9, other: 1 }, 'new', { subject: 'greedy', mayBeInUse: true }],
  [
    'who has most, for one that has some',
    { greedy: 9, other: 1 },
    'other',
    { subject: 'greedy', mayBeInUse: true },
  ],
  [
    'who asks, if it has most itself',
    { greedy: 9, other: 1 },
    'greedy',
    { subject: 'greedy', mayBeInUse: false },
  ],
  [
    'who asks, if another has as much',
    { one: 5, other: 5 },
    'other',
    { subject: 'other', mayBeInUse: false },
  ],
  [
    'nobody while in use, for one more of the same',
    { one: 5, other: 4 },
    'other',
    { subject: 'one', mayBeInUse: false },
  ],
  ['who asks, if it is alone', { local: 10 }, 'local', { subject: 'local', mayBeInUse: false }],
  ['nobody else in a pool without room', {}, 'new', { subject: 'new', mayBeInUse: false }],
])('%s makes room', (_, pool, asking, expected) => {
  expect(evictionCandidate(counts(pool), asking)).toEqual(expected);
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
