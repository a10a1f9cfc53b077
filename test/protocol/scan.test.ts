import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scanArray, scanFront, scanObject, scanWholeArray } from '../../src/protocol/scan.ts';
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

  it('are there also where text follows the array, as in the middle of a message', () => {
    expect(elements('[1] x')).toEqual(['1']);
  });
});

describe('the elements of an array that is all there is', () => {
  const elements = (bytes: Buffer): readonly string[] | undefined =>
    scanWholeArray(bytes)?.map((span) => rawOf(bytes, span));

  it('are found as they were written', () => {
    expect(elements(Buffer.from(' [ 1.0 , "]é" ,{"b":[2]}\n] \r\n'))).toEqual(['1.0', '"]é"', '{"b":[2]}']);
    for (const text of ['[]', ' [ ] ', '[\n]\n'])
      expect([text, elements(Buffer.from(text))]).toEqual([text, []]);
  });

  it('are those that JSON.parse finds, and where it finds none there are none', () => {
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

  it('are not there where no array is, or a broken one, or more than it', () => {
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

  it('are not there where white space follows that JSON does not have', () => {
    for (const text of ['[1]\f', '[1]\v', '[]\f'])
      expect([text, elements(Buffer.from(text))]).toEqual([text, undefined]);
  });

  it('are not there where it is no UTF-8', () => {
    expect(elements(Buffer.from('["\xe9"]', 'latin1'))).toBeUndefined();
  });
});

describe('the front of an object', () => {
  const PLAN = planOf({ id: {} });
  const front = (text: string): readonly string[] | undefined => {
    const bytes = Buffer.from(text);
    const object = scanFront(bytes, PLAN, new Set(['result', 'error']));
    return object?.members.map((member) => `${member.key}=${rawOf(bytes, member)}`);
  };

  it('reaches up to the first key to stop at, whose value is all that follows', () => {
    expect(front('{"jsonrpc":"2.0","id":1,"result":{"unfini')).toEqual([
      'jsonrpc="2.0"',
      'id=1',
      'result={"unfini',
    ]);
    expect(front('{"id" : 1 , "r\\u0065sult" : [')).toEqual(['id=1', 'result=[']);
    expect(front('{"result":1')).toEqual(['result=1']);
    expect(front('{"x":{"result":1},"error":{')).toEqual(['x={"result":1}', 'error={']);
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

  it('is unknown where a key stands there twice, so that the whole message must be read', () => {
    expect(front('{"id":1,"id":2,"result":{')).toBeUndefined();
    expect(front('{"id":1,"i\\u0064":1,"result":{')).toBeUndefined();
    expect(front('{"x":{"id":1,"id":2},"id":1,"result":{')).toEqual([
      'x={"id":1,"id":2}',
      'id=1',
      'result={',
    ]);
  });

  it('has the members that the whole object begins with, where none of them stands twice', () => {
    let known = 0;
    fc.assert(
      fc.property(objectText, (text) => {
        const body = text.trimEnd().slice(0, -1);
        const whole = /[^{\s]\s*$/.test(body) ? `${body},"result":1}` : `${body}"result":1}`;
        const bytes = Buffer.from(whole);
        const object = scanFront(bytes, planOf({}), new Set(['result']));
        const all = scanObject(bytes, { plan: planOf({}), strict: true });
        const keys = all.ok ? all.value.members.map(({ key }) => key) : [];
        if (new Set(keys).size < keys.length) {
          expect(object).toBeUndefined();
          return;
        }
        known += 1;
        const before = object?.members.map((member) => [member.key, rawOf(bytes, member)] as const) ?? [];
        expect(before.at(-1)).toEqual(['result', '1}']);
        const values = before.slice(0, -1).map(([key, raw]) => [key, parseJson(raw)] as const);
        expect(Object.fromEntries([...values, ['result', 1]])).toEqual(parseJson(whole));
      }),
      { numRuns: 1000 },
    );
    expect(known).toBeGreaterThan(100);
  });
});
