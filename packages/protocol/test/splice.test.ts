import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanObject } from '../src/scan.ts';
import { ALL_MEMBERS, buildPlan, type Plan } from '../src/plan.ts';
import type { JsonObject } from '../src/spans.ts';
import {
  buildInsertion,
  toOneLine,
  spliceToPieces,
  buildRemovals,
  splice,
  type Edit,
} from '../src/splice.ts';
import { isObject, parseJson, type JsonObject as Parsed } from '../../../test/support/json.ts';
import { jsonText, keyText, objectText } from '../../../test/support/json-texts.ts';

const RUNS = { numRuns: 1000 };

function objectOf(bytes: Buffer, plan: Plan = ALL_MEMBERS): JsonObject {
  const scan = scanObject(bytes, { plan, strict: true });
  if (!scan.ok) throw new Error(scan.fault.reason);
  return scan.value;
}

function parsedObject(bytes: Buffer): Parsed {
  const value = parseJson(bytes.toString());
  if (!isObject(value)) throw new Error('no object');
  return value;
}

describe('edits', () => {
  /** Bytes and edits of them: stretches that are kept, each followed by one that is replaced. */
  const edited = fc
    .array(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), fc.string()), {
      maxLength: 6,
    })
    .chain((stretches) =>
      fc.record({
        stretches: fc.constant(stretches),
        order: fc.array(fc.nat(), { minLength: 6, maxLength: 6 }),
      }),
    )
    .map(({ stretches, order }) => {
      let at = 0;
      const edits = stretches.map(([kept, old, text]): Edit => {
        const start = at + Buffer.byteLength(kept);
        at = start + Buffer.byteLength(old);
        return { start, end: at, text };
      });
      return {
        bytes: Buffer.from(stretches.map(([kept, old]) => kept + old).join('')),
        // In any order, except those at one position, which keep their order.
        edits: edits.every((edit, index) => edit.start !== edits[index + 1]?.start)
          ? [...edits.entries()].sort(([a], [b]) => (order[a] ?? 0) - (order[b] ?? 0)).map(([, edit]) => edit)
          : edits,
        expected: stretches.map(([kept, , text]) => kept + text).join(''),
      };
    });

  it('replace their ranges, and keep every other byte', () => {
    fc.assert(
      fc.property(edited, ({ bytes, edits, expected }) => {
        expect(splice(bytes, edits).toString()).toBe(expected);
      }),
      RUNS,
    );
  });

  it('have the same result in pieces, even for many bytes', () => {
    const padding = fc.constantFrom(0, 1, 16 * 1024, 16 * 1024 + 1, 40_000);
    fc.assert(
      fc.property(edited, padding, padding, ({ bytes, edits }, before, after) => {
        const large = Buffer.concat([Buffer.alloc(before, 'a'), bytes, Buffer.alloc(after, 'z')]);
        const moved = edits.map(({ start, end, text }) => ({
          start: start + before,
          end: end + before,
          text,
        }));
        expect(Buffer.concat(spliceToPieces(large, moved)).equals(splice(large, moved))).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it('do not change the original bytes', () => {
    const bytes = Buffer.from('{"a":1}');
    splice(bytes, [{ start: 5, end: 6, text: '2' }]);
    spliceToPieces(bytes, [{ start: 5, end: 6, text: '2' }]);
    expect(bytes.toString()).toBe('{"a":1}');
  });

  it('reference the large parts of a buffer instead of copying them', () => {
    const bytes = Buffer.from(`{"a":1,"b":"${'x'.repeat(100_000)}","c":2}`);
    const parts = spliceToPieces(bytes, [{ start: 5, end: 6, text: '7' }]);
    expect(parts.map((part) => [part.length, part.buffer === bytes.buffer])).toEqual([
      [6, false],
      [bytes.length - 6, true],
    ]);
  });
});

describe('an insertion', () => {
  it('puts members at the front, and keeps every other byte', () => {
    fc.assert(
      fc.property(objectText, keyText, jsonText, (text, key, value) => {
        const bytes = Buffer.from(text);
        const spliced = splice(bytes, [buildInsertion(objectOf(bytes), `${key}:${value}`)]);
        const name = JSON.parse(key) as string;
        const others = parsedObject(bytes);
        const first = Object.fromEntries([[name, parseJson(value)] as const]);
        expect(parsedObject(spliced)).toEqual(
          Object.fromEntries([...Object.entries(first), ...Object.entries(others)]),
        );
        expect(spliced.toString().endsWith(text.slice(1))).toBe(true);
      }),
      RUNS,
    );
  });
});

describe('removals', () => {
  const without = (text: string, gone: (key: string) => boolean): string => {
    const bytes = Buffer.from(text);
    return splice(
      bytes,
      buildRemovals(objectOf(bytes), ({ key }) => gone(key)),
    ).toString();
  };
  const check = (text: string, keys: string, expected: string): void => {
    expect(without(text, (key) => keys.includes(key))).toBe(expected);
  };

  it('include the comma that belonged to a member, and no other byte', () => {
    check('{"a":1,"b":2,"c":3}', 'a', '{"b":2,"c":3}');
    check('{"a":1,"b":2,"c":3}', 'b', '{"a":1,"c":3}');
    check('{"a":1,"b":2,"c":3}', 'c', '{"a":1,"b":2}');
    check('{"a":1,"b":2,"c":3}', 'ab', '{"c":3}');
    check('{"a":1,"b":2,"c":3}', 'bc', '{"a":1}');
    check('{"a":1,"b":2,"c":3}', 'ac', '{"b":2}');
    check('{"a":1,"b":2,"c":3}', 'abc', '{}');
    check('{ "a" : 1 , "b" : 2 }', 'a', '{ "b" : 2 }');
    check('{ "a" : 1 , "b" : 2 }', 'b', '{ "a" : 1 }');
    check('{ "a" : 1 , "b" : 2 }', 'ab', '{  }');
    check('{"a":1,"b":2,"a":3}', 'a', '{"b":2}');
    check('{"a":1}', 'x', '{"a":1}');
    check('{}', 'a', '{}');
  });

  it('are the same if only the removed members are listed', () => {
    fc.assert(
      fc.property(objectText, fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), (text, isGone) => {
        const bytes = Buffer.from(text);
        const all = objectOf(bytes);
        const keys = new Set(all.members.filter((_, index) => isGone[index]).map(({ key }) => key));
        // A plan treats case variants of a key as that key, so it can contain one of them.
        fc.pre(new Set([...keys].map((key) => key.toLowerCase())).size === keys.size);
        const plan = buildPlan(Object.fromEntries([...keys].map((key) => [key, {}])));
        const removed = (object: JsonObject): string =>
          splice(
            bytes,
            buildRemovals(object, ({ key }) => keys.has(key)),
          ).toString();
        expect(removed(objectOf(bytes, plan))).toBe(removed(all));
      }),
      RUNS,
    );
  });

  it('leave the remaining members as written, in their order', () => {
    fc.assert(
      fc.property(objectText, fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }), (text, isGone) => {
        const bytes = Buffer.from(text);
        const object = objectOf(bytes);
        const goes = new Set(object.members.filter((_, index) => isGone[index]));
        const left = splice(
          bytes,
          buildRemovals(object, (member) => goes.has(member)),
        );
        const written = (of: Buffer, from: JsonObject): readonly string[] =>
          from.members.map(({ keyStart, end }) => of.toString('utf8', keyStart, end));
        const kept = { ...object, members: object.members.filter((member) => !goes.has(member)) };
        expect(written(left, objectOf(left))).toEqual(written(bytes, kept));
      }),
      RUNS,
    );
  });
});

describe('JSON on one line', () => {
  it('is the same JSON with the same length and without line breaks', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const bytes = Buffer.from(text);
        const line = toOneLine(bytes);
        expect([line.length, /[\r\n]/.test(line.toString())]).toEqual([bytes.length, false]);
        expect(parseJson(line.toString())).toEqual(parseJson(text));
      }),
      RUNS,
    );
  });

  it('is the same buffer if there was no line break, and leaves the original unchanged', () => {
    const [plain, broken] = [Buffer.from('{"a":"\u2028\\n"}'), Buffer.from('{\r\n"a":1\n}')];
    expect(toOneLine(plain)).toBe(plain);
    expect([toOneLine(broken).toString(), broken.toString()]).toEqual(['{  "a":1 }', '{\r\n"a":1\n}']);
  });
});
