import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LineSplitter } from '../../src/platform/lines.ts';
import { anyPieces } from '../../../../test/support/json-texts.ts';

const TOO_LONG = '(too long)';

function lines(pieces: readonly Buffer[], { limit = 1_000, ends = true } = {}): readonly string[] {
  const found: string[] = [];
  const splitter = new LineSplitter(limit, {
    line: (line) => found.push(line.toString()),
    tooLong: () => found.push(TOO_LONG),
  });
  for (const piece of pieces) splitter.push(piece);
  if (ends) splitter.end();
  return found;
}

/** The lines of a stream, fed at once and byte by byte. */
function check(
  stream: string,
  expected: readonly string[],
  options?: { limit?: number; ends?: boolean },
): void {
  const bytes = Buffer.from(stream);
  expect([stream, lines([bytes], options)]).toEqual([stream, expected]);
  expect([
    stream,
    lines(
      Array.from(bytes, (byte) => Buffer.of(byte)),
      options,
    ),
  ]).toEqual([stream, expected]);
}

describe('a stream of lines', () => {
  it('is split at line feeds; these and preceding carriage returns are not part of a line', () => {
    check('a\nb\r\nc\n', ['a', 'b', 'c']);
    check('a\rb\r\r\n', ['a\rb\r']);
    check('é🎉\n', ['é🎉']);
  });

  it('has no empty lines', () => {
    check('', []);
    check('\n\r\n\na\n\n', ['a']);
  });

  it('yields an unterminated rest as a line only at its end', () => {
    check('a\nb', ['a', 'b']);
    check('a\nb', ['a'], { ends: false });
    check('a\r', ['a']);
  });

  it('has the same lines however it is chunked', () => {
    const stream = fc
      .array(fc.oneof(fc.constantFrom('\n', '\r\n', '\r'), fc.string({ unit: 'grapheme' })), {
        maxLength: 20,
      })
      .map((parts) => Buffer.from(parts.join('')));
    fc.assert(
      fc.property(
        stream.chain((bytes) => fc.tuple(fc.constant(bytes), anyPieces(bytes))),
        fc.constantFrom(3, 10, 1_000),
        ([bytes, pieces], limit) => {
          expect(lines(pieces, { limit })).toEqual(lines([bytes], { limit }));
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe('a line longer than the limit', () => {
  it('is reported once and dropped up to its end; surrounding lines are not affected', () => {
    check('aa\nbbbb\ncc\n', ['aa', TOO_LONG, 'cc'], { limit: 3 });
    check('bbbbbbbbbbbb\nbbbb\nccc', [TOO_LONG, TOO_LONG, 'ccc'], { limit: 3 });
    check('bbbbbb', [TOO_LONG], { limit: 3 });
    check('bbbb\n\nc', [TOO_LONG, 'c'], { limit: 3 });
  });

  it('is reported as soon as it is too long, not at its end', () => {
    check('bbbb', [TOO_LONG], { limit: 3, ends: false });
  });

  it('is measured without its line feed', () => {
    check('abc\n', ['abc'], { limit: 3 });
    check('abcd\n', [TOO_LONG], { limit: 3 });
  });
});
