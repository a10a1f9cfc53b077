import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ListFrame } from '../src/list-frame.ts';

interface Found {
  readonly entries: readonly string[];
  readonly values: readonly number[];
  readonly frame: ListFrame;
}

/** The result of scanning in this many steps. */
function found(text: string, steps = 1_000_000): Found {
  const bytes = Buffer.from(text);
  const frame = new ListFrame(bytes, 'tools');
  const spans = [];
  while (!frame.isDone) spans.push(...frame.read(steps));
  return {
    entries: spans.map(({ start, end }) => bytes.toString('utf8', start, end)),
    values: spans.map(({ values }) => values),
    frame,
  };
}

describe('a list in a result', () => {
  it('is split into its entries, as written, and its cursor', () => {
    const { entries, values, frame } = found(
      '{ "x" : {"tools":[9]}, "tools" : [ {"a":[1,2]} , "b,]" ,3,[[],[]]\n] ,"nextCursor": "a\\"\\u0062" }',
    );
    expect(entries).toEqual(['{"a":[1,2]}', '"b,]"', '3', '[[],[]]']);
    expect(values[0]).toBeGreaterThan(0);
    expect([frame.hasList, frame.nextCursor, frame.fault]).toEqual([true, 'a"b', undefined]);
  });

  it('is missing if its member is not an array, or no object holds it', () => {
    for (const text of ['{"tools":{"a":[1]}}', '{"tools":null}', '{"tool":[1]}', '[[1]]', '"tools"', '{}'])
      expect([text, found(text).frame.hasList, found(text).entries]).toEqual([text, false, []]);
    expect(found('{"tools":[ ]}').frame.hasList).toBe(true);
  });

  it('is invalid if a relevant member is duplicated, or the cursor has no end', () => {
    const fault = (text: string): string | undefined => found(text).frame.fault;
    expect(fault('{"tools":[],"t\\u006fols":[]}')).toBe('it holds the key "tools" twice');
    expect(fault('{"nextCursor":"a","tools":[],"nextCursor":null}')).toBe(
      'it holds the key "nextCursor" twice',
    );
    expect(fault('{"x":1,"x":2,"tools":[{"tools":1,"nextCursor":2}],"_meta":{"tools":1}}')).toBeUndefined();
    expect(fault(`{"tools":[],"nextCursor":"${'c'.repeat(65_536)}"}`)).toBe(
      'its nextCursor is longer than 65536 bytes',
    );
  });

  it('is read the same in steps of any size', () => {
    const entry = fc.json({ maxDepth: 4 });
    fc.assert(
      fc.property(
        fc.array(entry, { maxLength: 5 }),
        fc.json(),
        fc.option(fc.string(), { nil: undefined }),
        fc.integer({ min: 1, max: 40 }),
        (tools, other, cursor, steps) => {
          const text = `{"a":${other},"tools":[${tools.join(' ,\n')}],${cursor === undefined ? '' : `"nextCursor":${JSON.stringify(cursor)},`}"z":${other}}`;
          const { entries, frame } = found(text, steps);
          expect([entries, frame.nextCursor, frame.fault]).toEqual([tools, cursor, undefined]);
        },
      ),
    );
  });
});
