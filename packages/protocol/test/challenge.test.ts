import { expect, it } from 'vitest';
import { parseBearerChallenge, mergeScopes } from '../src/challenge.ts';

const NOTHING = { error: undefined, scope: undefined, resourceMetadata: undefined };

it.each([
  [undefined, undefined],
  ['', undefined],
  ['Basic realm="Bearer"', undefined],
  ['Bearerish x="y"', undefined],
  ['Bearer', NOTHING],
  ['bearer realm="x"', NOTHING],
  [
    'Bearer error="insufficient_scope", scope="a b"',
    { ...NOTHING, error: 'insufficient_scope', scope: 'a b' },
  ],
  ['Basic realm="x", Bearer scope=a,error=invalid_token', { ...NOTHING, error: 'invalid_token', scope: 'a' }],
  ['Bearer error_description="say \\"no\\", scope=x", scope="y"', { ...NOTHING, scope: 'y' }],
  [
    'Bearer resource_metadata="https://e.org/m"',
    { ...NOTHING, resourceMetadata: new URL('https://e.org/m') },
  ],
  ['Bearer resource_metadata="no address"', NOTHING],
])('the Bearer challenge is read from the header: %s', (header, expected) => {
  expect(parseBearerChallenge(header)).toEqual(expected);
});

it('scopes of several lists are each included once', () => {
  expect(mergeScopes('a  b', undefined, 'b c', '')).toEqual(['a', 'b', 'c']);
});
