import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ArrayScan, scanArray } from '../src/scan.ts';
import { readRawValue } from '../src/spans.ts';
import { parseJson } from '../../../test/support/json.ts';
import { arrayText } from '../../../test/support/json-texts.ts';

describe('the elements of an array', () => {
  const elements = (text: string, strict = true): readonly string[] | undefined => {
    const bytes = Buffer.from(text);
    return scanArray(bytes, 0, strict)?.map((span) => readRawValue(bytes, span));
  };

  it('are found as written', () => {
    expect(elements(' [ 1.0 , "a]" ,{"b":[2]}\n]')).toEqual(['1.0', '"a]"', '{"b":[2]}']);
    expect(elements('[]')).toEqual([]);
    expect(elements('[ ]')).toEqual([]);
  });

  it('are those that JSON.parse finds, strictly and leniently', () => {
    fc.assert(
      fc.property(arrayText, (text) => {
        for (const strict of [true, false])
          expect(elements(text, strict)?.map(parseJson)).toEqual(parseJson(text));
      }),
      { numRuns: 1000 },
    );
  });

  it('do not exist without an array, or in a broken one', () => {
    for (const text of ['', '{}', 'null', '[', '[1', '[1,', '[1,]', '[,1]', '[1 2]', '[1}', '["a]', '[[1]'])
      expect([text, elements(text)]).toEqual([text, undefined]);
  });

  it('also exist if text follows the array, as in the middle of a message', () => {
    expect(elements('[1] x')).toEqual(['1']);
  });
});

describe('the elements of a complete array', () => {
  const STEPS = [1, 3, 1_000];

  /** The elements, which must not depend on the step size. */
  const elements = (bytes: Buffer): readonly string[] | undefined => {
    const [first, ...others] = STEPS.map((step) => {
      const scan = new ArrayScan(bytes, 1_000);
      for (;;) {
        const found = scan.step(step);
        if (found !== undefined)
          return 'reason' in found ? undefined : found.map((span) => readRawValue(bytes, span));
      }
    });
    for (const other of others) expect(other).toEqual(first);
    return first;
  };

  it('are found as written', () => {
    expect(elements(Buffer.from(' [ 1.0 , "]é" ,{"b":[2]}\n] \r\n'))).toEqual(['1.0', '"]é"', '{"b":[2]}']);
    for (const text of ['[]', ' [ ] ', '[\n]\n'])
      expect([text, elements(Buffer.from(text))]).toEqual([text, []]);
  });

  it('take steps in proportion to their length, also within one long string', () => {
    for (const text of ['x'.repeat(1_000_000), 'x\\n'.repeat(300_000), 'é'.repeat(500_000)]) {
      const scan = new ArrayScan(Buffer.from(`["${text}"]`), 10);
      let steps = 1;
      while (scan.step(10_000) === undefined) steps += 1;
      expect(steps).toBeGreaterThan(50);
    }
  });

  it('are those that JSON.parse finds, and do not exist if it fails', () => {
    const rest = fc.constantFrom(
      '',
      '',
      ' ',
      '\n',
      ']',
      '[]',
      ',',
      'x',
      ' ]',
      '"]"',
      '\0',
      '\u00a0',
      '\ufeff',
    );
    fc.assert(
      fc.property(arrayText, rest, (text, after) => {
        let expected: unknown;
        try {
          expected = parseJson(text + after);
        } catch {
          expected = undefined;
        }
        expect(elements(Buffer.from(text + after))?.map(parseJson)).toEqual(expected);
      }),
      { numRuns: 1000 },
    );
  });

  it('do not exist without an array, in a broken one, or with more text', () => {
    for (const text of [
      '',
      '{}',
      'null',
      '[',
      '[1',
      '[1,]',
      '[,1]',
      '[1 2]',
      '["]',
      '[1] x',
      '[1][2]',
      '[]]',
      '{"a":[]}',
    ])
      expect([text, elements(Buffer.from(text))]).toEqual([text, undefined]);
  });

  it('do not exist if followed by white space that JSON does not have', () => {
    for (const text of ['[1]\f', '[1]\v', '[]\f'])
      expect([text, elements(Buffer.from(text))]).toEqual([text, undefined]);
  });

  it('are limited, and the reason says that there are more', () => {
    const scan = (text: string): unknown => new ArrayScan(Buffer.from(text), 2).step(Infinity);
    expect(scan('[1,2]')).toHaveLength(2);
    expect(scan('[1,2,3]')).toEqual({ reason: 'more than 2 elements', isJson: true, offset: 4 });
  });

  it('do not exist if the text is not UTF-8', () => {
    expect(elements(Buffer.from('["\xe9"]', 'latin1'))).toBeUndefined();
  });
});
