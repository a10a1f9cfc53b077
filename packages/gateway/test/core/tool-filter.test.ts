import { expect, it } from 'vitest';
import { allowsTool, matchesGlob } from '../../src/core/tool-filter.ts';

it.each([
  ['read', 'read', true],
  ['read', 'reads', false],
  ['read_*', 'read_file', true],
  ['read_*', 'thread_file', false],
  ['*_file', 'read_file', true],
  ['*', '', true],
  ['a*b*c', 'a-b-b-c', true],
  ['a*bc*c', 'abc', false],
  ['ab*ba', 'aba', false],
  ['**', 'anything', true],
  ['a.c', 'abc', false],
])('the pattern "%s" matches "%s": %s', (pattern, text, expected) => {
  expect(matchesGlob(pattern, text)).toBe(expected);
});

it('a tool both allowed and denied is denied', () => {
  expect(allowsTool({ allow: ['read_*'], deny: ['read_secret'] }, 'read_secret')).toBe(false);
  expect(allowsTool({ allow: ['read_*'], deny: ['read_secret'] }, 'read_file')).toBe(true);
  expect(allowsTool({ allow: [] }, 'read_file')).toBe(false);
  expect(allowsTool({}, 'read_file')).toBe(true);
});
