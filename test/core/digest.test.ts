import { expect, it } from 'vitest';
import { shortHash } from '../../src/core/digest.ts';

// The SHA-256 of "abc" is in FIPS 180-2, appendix B.1.
it('a short hash is the beginning of the SHA-256 of the text in UTF-8', () => {
  expect(shortHash('abc', 8)).toBe('ba7816bf');
  expect(shortHash('abc', 64)).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  expect(shortHash('', 8)).toBe('e3b0c442');
  expect(shortHash('é', 8)).toBe('4a99557e');
});
