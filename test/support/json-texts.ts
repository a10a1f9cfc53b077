import fc from 'fast-check';

/** JSON texts with spellings that parsing and printing would not preserve. */
const space = fc.constantFrom('', '', '', ' ', '\t', '\r\n', ' \n ');
const number = fc.oneof(
  fc.constantFrom('0', '-0', '1.0', '1e400', '-1E-400', '0.10', '12345678901234567890', '1E+2'),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);
const letter = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).map((one) => JSON.stringify(one).slice(1, -1)),
  fc.constantFrom('\\u0041', '\\/', '\\"', '\\\\', '\\ud83d\\ude00', '\\ud800', '{', '}', '[', ']', ',', ':'),
  fc.nat({ max: 60 }).map((length) => 'x'.repeat(length)), // so that some strings are long
);
export const stringText: fc.Arbitrary<string> = fc
  .array(letter, { maxLength: 8 })
  .map((letters) => `"${letters.join('')}"`);
/**
 * No key contains a backslash: after such a key, `JSON.parse` in Node 24 to 26, which the tests compare with, confuses
 * other escaped keys with it (https://github.com/nodejs/node/issues/63785). Escapes of other characters do occur.
 */
export const keyText: fc.Arbitrary<string> = stringText.map((text) => text.replace(/\\(?:\\|u005c)/gi, '/'));
const known = fc.constantFrom('"id"', '"i\\u0064"', '"a"', '"b"', '"__proto__"', '""');

const texts = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    number,
    stringText,
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
    .map(([values, gap]) => `[${gap}${values.join(`${gap},${gap}`)}${gap}]`),
  object: fc
    .tuple(fc.array(fc.tuple(fc.oneof(known, keyText), tie('value')), { maxLength: 5 }), space)
    .map(
      ([members, gap]) =>
        `{${gap}${members.map(([key, one]) => `${key}${gap}:${gap}${one}`).join(`${gap},${gap}`)}${gap}}`,
    ),
}));

export const jsonText: fc.Arbitrary<string> = texts.value;
export const objectText: fc.Arbitrary<string> = texts.object;
export const arrayText: fc.Arbitrary<string> = texts.list;

const harm = fc.record({
  at: fc.nat(),
  removed: fc.constantFrom(0, 0, 1, 1, 2, 9),
  added: fc.oneof(
    fc.constantFrom(
      '',
      '',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '-',
      '.',
      'e',
      'u',
      ' ',
      '\n',
      '\0',
    ),
    fc.constantFrom('\\"', '\\u12', '""', ',,', '{}', '[]', 'nul', '\u007f', '\u00a0', '\ufeff', '"a":1,'),
  ),
});

/** The bytes of a damaged JSON object, which may still be JSON; they start at any offset in their buffer. */
export const harmedObject: fc.Arbitrary<Buffer> = fc
  .tuple(objectText, fc.array(harm, { maxLength: 2 }), fc.nat({ max: 7 }), fc.boolean())
  .map(([text, harms, offset, isLatin1]) => {
    let harmed = text;
    for (const { at, removed, added } of harms) {
      const from = at % (harmed.length + 1);
      harmed = harmed.slice(0, from) + added + harmed.slice(from + removed);
    }
    const isTorn = isLatin1 && harms.length > 1; // then characters beyond ASCII are not valid UTF-8
    return Buffer.concat([Buffer.alloc(offset), Buffer.from(harmed, isTorn ? 'latin1' : 'utf8')]).subarray(
      offset,
    );
  });

/** The same bytes cut into pieces at arbitrary places. */
export function anyPieces(bytes: Buffer): fc.Arbitrary<readonly Buffer[]> {
  return fc.array(fc.nat({ max: bytes.length }), { maxLength: 5 }).map((places) => {
    const cuts = [0, ...[...places].sort((a, b) => a - b), bytes.length];
    return cuts.slice(1).map((end, index) => bytes.subarray(cuts[index], end));
  });
}
