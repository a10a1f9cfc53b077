import fc from 'fast-check';
import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { setJsonMember, removeJsonMember } from '../../../src/adapters/config/json-edit.ts';

function added(text: string, path: readonly string[] = ['s', 'x'], value: unknown = { c: 1 }): string {
  const done = setJsonMember(text, path, value);
  if (!done.ok) throw new Error(done.error.reason);
  return done.value.text;
}

describe('inserting a member', () => {
  const cases: readonly (readonly [what: string, before: string, after: string])[] = [
    [
      'goes behind the last one, indented as that is',
      '{\n  "s": {\n    "a": 1\n  }\n}\n',
      '{\n  "s": {\n    "a": 1,\n    "x": {\n      "c": 1\n    }\n  }\n}\n',
    ],
    [
      'leaves comments where they are',
      '{\n  // one\n  "s": {\n    "a": 1 // two\n    // three\n  } /* four */\n}',
      '{\n  // one\n  "s": {\n    "a": 1, // two\n    // three\n    "x": {\n      "c": 1\n    }\n  } /* four */\n}',
    ],
    [
      'ends with a comma where the last one does',
      '{\n  "s": {\n    "a": 1, // two\n  },\n}',
      '{\n  "s": {\n    "a": 1, // two\n    "x": {\n      "c": 1\n    },\n  },\n}',
    ],
    [
      'keeps tabs and CRLF',
      '{\r\n\t"s": {\r\n\t\t"a": 1\r\n\t}\r\n}\r\n',
      '{\r\n\t"s": {\r\n\t\t"a": 1,\r\n\t\t"x": {\r\n\t\t\t"c": 1\r\n\t\t}\r\n\t}\r\n}\r\n',
    ],
    [
      'opens an empty object',
      '{\n    "s": {}\n}',
      '{\n    "s": {\n        "x": {\n            "c": 1\n        }\n    }\n}',
    ],
    [
      'goes behind the comment of an empty object',
      '{\n  "s": {\n    // none yet\n  }\n}',
      '{\n  "s": {\n    // none yet\n    "x": {\n      "c": 1\n    }\n  }\n}',
    ],
    [
      'makes the objects on its way',
      '{\n  "a": 1\n}',
      '{\n  "a": 1,\n  "s": {\n    "x": {\n      "c": 1\n    }\n  }\n}',
    ],
    ['stays on the one line that there is', '{"s": {"a": 1}}', '{"s": {"a": 1, "x": {"c":1}}}'],
    ['fills a text of blanks', ' \n', '{\n  "s": {\n    "x": {\n      "c": 1\n    }\n  }\n}\n'],
    [
      'takes the place of one that has its name',
      '{\n  "s": {\n    "x": 5, // five\n    "a": 1\n  }\n}',
      '{\n  "s": {\n    "x": {\n      "c": 1\n    }, // five\n    "a": 1\n  }\n}',
    ],
  ];
  it.each(cases)('%s', (_what, before, after) => {
    expect(added(before)).toBe(after);
  });

  it('reports the lines of the member', () => {
    expect(setJsonMember('{\n  "s": {\n    "a": 1\n  }\n}', ['s', 'x'], 2)).toMatchObject({
      value: { line: 4, lines: ['    "x": 2'], isReplaced: false },
    });
  });

  it('is refused, with the position, if it is not possible', () => {
    const refused = (text: string): unknown => setJsonMember(text, ['s', 'x'], 1);
    expect(refused('{"s": [1]}')).toEqual({
      ok: false,
      error: { offset: 6, reason: 'this is not an object' },
    });
    expect(refused('[]')).toEqual({ ok: false, error: { offset: 0, reason: 'this is not an object' } });
    expect(refused('{"s": {}, "s": {}}')).toEqual({
      ok: false,
      error: { offset: 10, reason: 'this key appears twice' },
    });
    expect(refused('{"s": {')).toMatchObject({ ok: false });
  });
});

describe('removing a member', () => {
  const cases: readonly (readonly [what: string, before: string, after: string | undefined])[] = [
    [
      'the last one goes with the comma before it',
      '{\n  "s": {\n    "a": 1, // one\n    "x": 2\n  }\n}',
      '{\n  "s": {\n    "a": 1 // one\n  }\n}',
    ],
    [
      'one before others goes with the comma behind it',
      '{\n  "s": {\n    "x": 2,\n    "a": 1\n  }\n}',
      '{\n  "s": {\n    "a": 1\n  }\n}',
    ],
    [
      'one between comments leaves both',
      '{"s": {\n  // above\n  "x": 2, // beside\n  "a": 1\n}}',
      '{"s": {\n  // above\n // beside\n  "a": 1\n}}',
    ],
    ['the only one leaves an empty object', '{"s": {"x": 2}}', '{"s": {}}'],
    ['on one line its neighbours close up', '{"s": {"a": 1, "x": 2, "b": 3}}', '{"s": {"a": 1, "b": 3}}'],
    ['one that is not there is no change', '{"s": {"a": 1}}', undefined],
  ];
  it.each(cases)('%s', (_what, before, after) => {
    expect(removeJsonMember(before, ['s', 'x'])).toBe(after);
  });
});

describe('in any text', () => {
  const blanks = fc.constantFrom('', ' ', '\n', '\r\n\t', ' /* b */ ', ' // l\n', '\n// m, }\n  ', '/*,*/');
  const value = fc.constantFrom('1', '"}"', '[1, // n\n 2]', '{}', '{"k": "// no"}', 'null');
  const text = fc
    .tuple(
      fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd')),
      fc.array(fc.tuple(blanks, value, blanks, blanks), { minLength: 4, maxLength: 4 }),
      blanks,
      fc.boolean(),
    )
    .map(([names, parts, inside, hasTrailing]) => {
      const members = names.map((name, index) => {
        const [before = '', inner = '1', after = '', behind = ''] = parts[index] ?? [];
        const comma = index < names.length - 1 || hasTrailing ? `,${behind}` : '';
        return `${before}"${name}":${inner}${after}${comma}`;
      });
      return `{"top": 1,${inside}"s": {${inside}${members.join('')}} }`;
    });

  it('an inserted member leaves all existing bytes in place and in order', () => {
    fc.assert(
      fc.property(text, (before) => {
        const after = added(before);
        const expected = parse(before) as { s: object };
        expect(parse(after)).toEqual({ ...expected, s: { ...expected.s, x: { c: 1 } } });
        expect(isSubsequence(before, after)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });

  it('a removed member takes no other member or comment with it', () => {
    fc.assert(
      fc.property(text, (before) => {
        const names = Object.keys((parse(before) as { s: object }).s);
        for (const name of names) {
          const after = removeJsonMember(before, ['s', name]);
          const { [name]: _gone, ...rest } = (parse(before) as { s: Record<string, unknown> }).s;
          expect(parse(after ?? '')).toEqual({ top: 1, s: rest });
        }
        expect(parse(removeJsonMember(added(before), ['s', 'x']) ?? '')).toEqual(parse(before));
      }),
      { numRuns: 500 },
    );
  });
});

function isSubsequence(small: string, large: string): boolean {
  let at = 0;
  for (const character of large) if (character === small[at]) at += 1;
  return at === small.length;
}
