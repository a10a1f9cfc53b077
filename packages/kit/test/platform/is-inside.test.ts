import { expect, it } from 'vitest';
import { isInside } from '../../src/platform/is-inside.ts';

it.each([
  ['/a/b', '/a/b', true],
  ['/a/b/', '/a/b', true],
  ['/a/b/c/d', '/a/b/', true],
  ['/a/bc', '/a/b', false],
  ['/a', '/a/b', false],
  ['/a/b/../c', '/a/b', false],
  ['/a/c/../b/d', '/a/b', true],
  ['/a/b/..c', '/a/b', true],
  ['/a', '/', true],
  ['/', '/', true],
  ['/', '/a', false],
  ['node:fs', process.cwd(), false],
  ['', process.cwd(), false],
])('%s in %s: %s', (path, folder, expected) => {
  expect(isInside(path, folder)).toBe(expected);
});
