import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanArray, scanFront } from '../../src/protocol/scan.ts';
import { planOf, rawOf } from '../../src/protocol/spans.ts';
import { parseJson } from '../support/json.ts';
import { arrayText, objectText } from '../support/json-texts.ts';

describe('the elements of an array', () => {
  const elements = (text: string, strict = true): readonly string[] | undefined => {
    const bytes = Buffer.from(text);
    return scanArray(bytes, 0, strict)?.map((span) => rawOf(bytes, span));
  };

  it('are found as they were written', () => {
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

  it('are not there where no array is, or a broken one', () => {
    for (const text of ['', '{}', 'null', '[', '[1', '[1,', '[1,]', '[,1]', '[1 2]', '[1}', '["a]', '[[1]'])
      expect([text, elements(text)]).toEqual([text, undefined]);
  });

  it.fails('are not there where text follows the array', () => {
    expect(elements('[1] x')).toBeUndefined();
  });
});

describe('the front of an object', () => {
  const PLAN = planOf({ id: {} });
  const front = (text: string): readonly string[] | undefined => {
    const bytes = Buffer.from(text);
    const object = scanFront(bytes, PLAN, new Set(['result', 'error']));
    return object?.members.map((member) => `${member.key}=${rawOf(bytes, member)}`);
  };

  it('reaches up to the first key to stop at', () => {
    expect(front('{"jsonrpc":"2.0","id":1,"result":{"unfini')).toEqual(['jsonrpc="2.0"', 'id=1']);
    expect(front('{"id" : 1 , "r\\u0065sult" : [')).toEqual(['id=1']);
    expect(front('{"result":1')).toEqual([]);
    expect(front('{"x":{"result":1},"error":{')).toEqual(['x={"result":1}']);
  });

  it('is unknown where the bytes end before that key has a value, or are no JSON object', () => {
    for (const text of [
      '',
      '[',
      '{',
      '{}',
      '{"id":1',
      '{"id":1,',
      '{"id":1}',
      '{"res',
      '{"result"',
      '{"result":',
    ])
      expect([text, front(text)]).toEqual([text, undefined]);
    for (const text of [
      '{"id":1,,"result":1',
      '{"id":01,"result":1',
      '{"id":1"result":1',
      '{id:1,"result":1',
    ])
      expect([text, front(text)]).toEqual([text, undefined]);
  });

  it.fails('is refused where a planned key stands there twice, as a whole message is', () => {
    expect(front('{"id":1,"id":2,"result":{')).toBeUndefined();
  });

  it('has the members that the whole object begins with', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const body = text.trimEnd().slice(0, -1);
        const whole = /[^{\s]\s*$/.test(body) ? `${body},"result":1}` : `${body}"result":1}`;
        const bytes = Buffer.from(whole);
        const object = scanFront(bytes, planOf({}), new Set(['result']));
        const before = object?.members.map(
          (member) => [member.key, parseJson(rawOf(bytes, member))] as const,
        );
        expect(Object.fromEntries([...(before ?? []), ['result', 1]])).toEqual(parseJson(whole));
      }),
      { numRuns: 1000 },
    );
  });
});
