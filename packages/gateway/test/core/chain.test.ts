import { expect, it } from 'vitest';
import { Chain, type Link } from '../../src/core/chain.ts';

const NAMES = ['a', 'b', 'c'] as const;
type Name = (typeof NAMES)[number];

it.each([
  ['a b c', ['a', 'b', 'c']],
  ['a c b', ['a', 'b', 'b']],
  ['b a c', ['a', 'a', 'c']],
  ['b c a', ['a', 'a', 'a']],
  ['c a b', ['a', 'a', 'b']],
  ['c b a', ['a', 'a', 'a']],
] as const)(
  'a chain whose elements are removed in order %s always knows its oldest one, and can be reused',
  (order, oldest) => {
    const chain = new Chain<Name>();
    for (const round of [1, 2]) {
      const links = new Map<string, Link<Name>>(NAMES.map((name) => [name, chain.add(name)]));
      const seen = order.split(' ').map((name) => {
        const before = chain.oldest;
        const link = links.get(name);
        if (link !== undefined) chain.remove(link);
        return before;
      });
      expect([round, seen, chain.oldest]).toEqual([round, [...oldest], undefined]);
    }
  },
);
