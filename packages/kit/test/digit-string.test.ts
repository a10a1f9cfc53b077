import { expect, it } from 'vitest';
import { readDigitString } from '../src/digit-string.ts';

it.each([
  ['10', 10],
  ['0', 0],
  ['-3', -3],
  ['9007199254740991', 9_007_199_254_740_991],
])('%j is an integer', (text, value) => {
  expect(readDigitString(text)).toBe(value);
});

it.each([
  ...['', ' 1', '1 ', '+1', '01', '-0', '1.0', '1e3', '0x1', '\u0661', '9007199254740993'],
  1,
  null,
  ['1'],
])('%j is not a digit string', (value) => {
  expect(readDigitString(value)).toBe(undefined);
});
