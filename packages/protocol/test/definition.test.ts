import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changeDefinition } from '../src/definition.ts';
import { isObject, parseJson } from '../../../test/support/json.ts';
import { jsonText, objectText } from '../../../test/support/json-texts.ts';

type Paths = readonly (readonly string[])[];

function changed(text: string, name: string | undefined, ...without: Paths): string {
  return changeDefinition(Buffer.from(text), { name, without }).toString();
}

describe('a definition', () => {
  it('is the same buffer if nothing is to change', () => {
    const bytes = Buffer.from('{ "name" : "a" }');
    expect(changeDefinition(bytes, { name: undefined, without: [] })).toBe(bytes);
  });

  it('gets its public name in place of its own, and keeps every other byte', () => {
    expect(changed('{ "title":"name", "name" : "a\\u0062" ,"x":{"name":"a"}, "n":1.0}', 's_a')).toBe(
      '{ "title":"name", "name" : "s_a" ,"x":{"name":"a"}, "n":1.0}',
    );
    expect(changed('{"name":"a"}', '"\n')).toBe('{"name":"\\"\\n"}');
  });

  it('gets its public name in every duplicate, as readers differ in which one they use', () => {
    expect(changed('{"name":"a","x":1,"n\\u0061me":"b"}', 's_a')).toBe(
      '{"name":"s_a","x":1,"n\\u0061me":"s_a"}',
    );
    expect(changed('{"name":"a","name":null}', 's_a', ['x'])).toBe('{"name":"s_a","name":"s_a"}');
  });

  it('gets no name if it had none, and is unchanged if it is not an object', () => {
    expect(changed('{"title":"a"}', 'b')).toBe('{"title":"a"}');
    expect(changed('["name"]', 'b', ['name'])).toBe('["name"]');
  });

  it('loses the members at the given paths, with their commas, and no others', () => {
    const text = '{"a":1,"b":{"a":2,"c":{"a":3,"d":[{"a":4}]}},"c":5}';
    const check = (paths: Paths, expected: string): void => {
      expect([paths, changed(text, undefined, ...paths)]).toEqual([paths, expected]);
    };
    check([['a']], '{"b":{"a":2,"c":{"a":3,"d":[{"a":4}]}},"c":5}');
    check([['b', 'a']], '{"a":1,"b":{"c":{"a":3,"d":[{"a":4}]}},"c":5}');
    check([['b', 'c', 'd']], '{"a":1,"b":{"a":2,"c":{"a":3}},"c":5}');
    check([['b', 'c', 'd'], ['b', 'c', 'a'], ['c']], '{"a":1,"b":{"a":2,"c":{}}}');
    check([['b'], ['a'], ['c']], '{}');
    check([['x'], ['a', 'x'], ['b', 'c', 'd', 'a']], text);
  });

  it('loses every duplicate of a member, however its key is spelled', () => {
    expect(changed('{"a":1,"\\u0061":2,"b":{"x":1,"x":2}}', undefined, ['a'], ['b', 'x'])).toBe('{"b":{}}');
    expect(changed('{"__proto__":{"x":1},"y":2}', undefined, ['__proto__', 'x'])).toBe(
      '{"__proto__":{},"y":2}',
    );
  });

  it('can be renamed and lose members at once', () => {
    expect(
      changed(
        '{"outputSchema":1,"name":"a","annotations":{"title":1}}',
        'b',
        ['outputSchema'],
        ['annotations', 'title'],
      ),
    ).toBe('{"name":"b","annotations":{}}');
  });

  it('keeps the values of all other members after any such change', () => {
    const paths = fc.subarray<readonly string[]>([['a'], ['b', 'a'], ['b', 'id'], ['id', 'b', 'a'], ['x']]);
    fc.assert(
      fc.property(objectText, jsonText, paths, (text, value, gone) => {
        const definition = `{"name":"n","b":{"a":${value},"k":${value}},"k":${text}}`;
        const after = parseJson(changed(definition, 'new', ...gone));
        expect(after).toEqual({
          name: 'new',
          b: gone.some(([first, second]) => first === 'b' && second === 'a')
            ? { k: parseJson(value) }
            : { a: parseJson(value), k: parseJson(value) },
          k: parseJson(text),
        });
        const bare = parseJson(changed(text, undefined, ...gone));
        expect(
          isObject(bare) && Object.keys(bare).filter((key) => gone.some((path) => path.join() === key)),
        ).toEqual([]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('members of a definition with a new value', () => {
  const set = (
    text: string,
    members: Parameters<typeof changeDefinition>[1]['members'],
    ...without: Paths
  ): string => changeDefinition(Buffer.from(text), { name: undefined, without, members }).toString();
  const READS = { path: ['annotations', 'readOnlyHint'], value: true } as const;
  const KEEPS = { path: ['annotations', 'destructiveHint'], value: false } as const;
  const TITLE = { path: ['title'], value: 'A "b"' } as const;

  it.each([
    [
      'replace the existing value, and keep every other byte',
      '{ "name":"a", "annotations" : { "x":1.0, "readOnlyHint" : false } }',
      [READS],
      [],
      '{ "name":"a", "annotations" : { "x":1.0, "readOnlyHint" : true } }',
    ],
    [
      'are added if the object lacks them',
      '{"name":"a","annotations":{"x":1}}',
      [READS, KEEPS],
      [],
      '{"name":"a","annotations":{"readOnlyHint":true,"destructiveHint":false,"x":1}}',
    ],
    [
      'are added to an empty object',
      '{"name":"a","annotations":{}}',
      [READS],
      [],
      '{"name":"a","annotations":{"readOnlyHint":true}}',
    ],
    [
      'create the object if it is missing',
      '{"name":"a"}',
      [READS, TITLE],
      [],
      '{"title":"A \\"b\\"","annotations":{"readOnlyHint":true},"name":"a"}',
    ],
    [
      'replace a value that is not an object',
      '{"annotations":null,"name":"a"}',
      [READS],
      [],
      '{"annotations":{"readOnlyHint":true},"name":"a"}',
    ],
    [
      'replace a removed member',
      '{"annotations":{"readOnlyHint":"maybe"},"name":"a"}',
      [READS],
      [['annotations', 'readOnlyHint']],
      '{"annotations":{"readOnlyHint":true},"name":"a"}',
    ],
    [
      'are alone if everything else is removed',
      '{"name":"a","annotations":{"readOnlyHint":"maybe"}}',
      [KEEPS],
      [['annotations', 'readOnlyHint']],
      '{"name":"a","annotations":{"destructiveHint":false}}',
    ],
    [
      'replace their object if it is removed',
      '{"name":"a","annotations":[]}',
      [KEEPS],
      [['annotations']],
      '{"annotations":{"destructiveHint":false},"name":"a"}',
    ],
    [
      'are changed in every duplicate',
      '{"annotations":{"readOnlyHint":1,"readOnlyHint":2},"name":"a","annotations":{}}',
      [READS],
      [],
      '{"annotations":{"readOnlyHint":true,"readOnlyHint":true},"name":"a","annotations":{"readOnlyHint":true}}',
    ],
  ] as const)('%s', (_name, text, members, without, expected) => {
    expect(set(text, members, ...without)).toBe(expected);
  });

  it('are what a reader finds, next to a new name and notes, whatever the definition contained', () => {
    fc.assert(
      fc.property(
        jsonText,
        fc.array(fc.constantFrom(READS, KEEPS, TITLE), { maxLength: 3 }),
        (annotations, members) => {
          const bytes = Buffer.from(`{"annotations":${annotations},"name":"a"}`);
          const change = { name: 'n', notes: 'note', without: [['annotations', 'x']], members };
          const after = parseJson(changeDefinition(bytes, change).toString());
          if (!isObject(after)) throw new Error('it is no object any more');
          for (const { path, value } of members) {
            const [first, second] = path;
            const found = after[first];
            expect(second === undefined ? found : isObject(found) && found[second]).toBe(value);
          }
        },
      ),
    );
  });
});
