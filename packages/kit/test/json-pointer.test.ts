import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parsePointerFragment, parsePointer, formatPointerStep } from '../src/json-pointer.ts';

it.each([
  ['', []],
  ['/', ['']],
  ['/a/0', ['a', '0']],
  ['/a~1b/~01/%20', ['a/b', '~1', '%20']],
])('the keys of %j are %j', (pointer, keys) => {
  expect(parsePointer(pointer)).toEqual(keys);
});

it.each([
  ['#', []],
  ['#/a%20b/c~1d/%7E1', ['a b', 'c/d', '/']],
  ['#/%', undefined],
])('the keys of the fragment %j are %j', (fragment, keys) => {
  expect(parsePointerFragment(fragment)).toEqual(keys);
});

it('the keys of a pointer are those that it was made of', () => {
  fc.assert(
    fc.property(fc.array(fc.string()), (keys) => {
      expect(parsePointer(keys.map(formatPointerStep).join(''))).toEqual(keys);
    }),
  );
});
