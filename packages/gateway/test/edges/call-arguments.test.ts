import { describe, expect, it } from 'vitest';
import { isObjectText, listArguments, readKeyValues } from '../../src/edges/cli/call-arguments.ts';

const SCHEMA = {
  type: 'object',
  properties: {
    note: { type: ['string', 'null'], description: 'A note' },
    owner: { type: 'string' },
    count: { type: 'integer' },
    ratio: { type: 'number' },
    draft: { type: 'boolean' },
    labels: { type: 'array', items: { type: 'string' } },
    ids: { type: 'array', items: { type: 'integer' } },
    where: { type: 'object' },
    size: { enum: ['s', 2] },
    limit: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    any: {},
  },
  required: ['owner'],
};

const read = (...words: string[]) => readKeyValues(words, SCHEMA);

describe('arguments of `assay call` as key=value', () => {
  it('get the types that the schema names', () => {
    expect(
      read(
        ...['owner=12', 'note=null', 'count=3', 'ratio=4', 'draft=true', 'labels=a', 'labels=b,c', 'ids=1'],
        ...['ids=[2,3]', 'where={"a":1}', 'size=2', 'limit=null', 'any=1'],
      ),
    ).toEqual({
      ok: true,
      value: {
        ...{
          owner: '12',
          note: 'null',
          count: 3,
          ratio: 4,
          draft: true,
          labels: ['a', 'b,c'],
          ids: [1, 2, 3],
        },
        ...{ where: { a: 1 }, size: 2, limit: null, any: '1' },
      },
    });
    expect(read('note:=null', 'any:={"b":[1]}', 'owner=a=b', 'size=s')).toEqual({
      ok: true,
      value: { note: null, any: { b: [1] }, owner: 'a=b', size: 's' },
    });
  });

  it.each([
    [['count=x'], 'count: it must be a whole number'],
    [['count=1.5'], 'count: it must be a whole number'],
    [['draft=yes'], 'draft: it must be true or false'],
    [['ids=x'], 'ids: it must be a whole number'],
    [['where=x'], 'where: it must be a JSON object'],
    [['any:={'], 'any: it is not JSON'],
    [['owner=a', 'owner=b'], 'owner: it is given twice, and is not a list'],
    [['ownr=a'], 'ownr: the tool has no such argument. Did you mean "owner"?'],
    [['owner=a', 'b'], '"b": write key=value, or key:=JSON'],
  ])('%j is refused', (words, says) => {
    expect(read(...words)).toEqual({ ok: false, error: expect.stringContaining(says) as unknown });
  });

  it('may have any name if the schema allows more than it names', () => {
    expect(readKeyValues(['b=1', '__proto__=x'], {})).toEqual({
      ok: true,
      value: Object.fromEntries([
        ['b', '1'],
        ['__proto__', 'x'],
      ]),
    });
    expect(readKeyValues(['b=1'], { ...SCHEMA, additionalProperties: true })).toMatchObject({ ok: true });
  });

  it('are told from one JSON object', () => {
    expect([[], ['{"a=":1}'], ['a=1'], ['{}', 'a=1'], ['[1]']].map(isObjectText)).toEqual([
      ...[true, true, false, false, true],
    ]);
  });

  it('are listed for --help, required ones first', () => {
    expect(listArguments(SCHEMA).map(({ name, isRequired, type }) => [name, isRequired, type])).toEqual([
      ['owner', true, 'string'],
      ['note', false, 'string | null'],
      ['count', false, 'integer'],
      ['ratio', false, 'number'],
      ['draft', false, 'boolean'],
      ['labels', false, 'string[]'],
      ['ids', false, 'integer[]'],
      ['where', false, 'object'],
      ['size', false, 's | 2'],
      ['limit', false, 'integer | null'],
      ['any', false, ''],
    ]);
  });
});
