import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findEscapeEnd, findScalarEnd } from '../src/tokens.ts';

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('a number or literal', () => {
  const check = (text: string, end: number): void => {
    expect([text, findScalarEnd(Buffer.from(text), 0)]).toEqual([text, end]);
  };

  it('ends according to its grammar', () => {
    for (const text of ['0', '-0', '10', '1.5', '-1.50', '1e5', '1E+05', '1.0e-400', '9'.repeat(400)])
      check(`${text},`, text.length);
    for (const text of ['true', 'false', 'null']) check(`${text}]`, text.length);
  });

  it('is invalid if a part is missing or repeated', () => {
    for (const text of [
      '',
      '-',
      '+1',
      '.5',
      '1.',
      '1.e5',
      '1e',
      '1e+',
      '01',
      '-01',
      'tru',
      'True',
      'nul',
      'NaN',
      'x',
    ])
      check(text, -1);
  });

  it('is valid exactly if JSON.parse reads all of it', () => {
    const text = fc.string({
      unit: fc.constantFrom('0', '1', '9', '-', '+', '.', 'e', 'E'),
      minLength: 1,
      maxLength: 9,
    });
    fc.assert(
      fc.property(text, (one) => {
        expect(findScalarEnd(Buffer.from(one), 0) === one.length).toBe(isJson(one));
      }),
      { numRuns: 3000 },
    );
  });
});

describe('an escape', () => {
  it('is valid exactly if JSON.parse accepts it', () => {
    for (let byte = 0; byte < 0x80; byte += 1) {
      const one = `\\${String.fromCharCode(byte)}`;
      if (byte === 0x75) continue;
      expect([one, findEscapeEnd(Buffer.from(one), 0)]).toEqual([
        one,
        isJson(`"${one}"`) || byte === 0x22 ? 2 : -1,
      ]);
    }
  });

  it('of a code unit has four hexadecimal digits', () => {
    for (const one of ['\\u0000', '\\uABCD', '\\uabcd', '\\ud800'])
      expect([one, findEscapeEnd(Buffer.from(one), 0)]).toEqual([one, 6]);
    for (const one of ['\\', '\\u', '\\u12', '\\u123', '\\u123g', '\\u 123', '\\u12\n4', '\\U1234'])
      expect([one, findEscapeEnd(Buffer.from(one), 0)]).toEqual([one, -1]);
  });
});
