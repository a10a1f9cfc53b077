import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readResponsePieces, readServerMessage } from '../../src/protocol/message.ts';
import { replyFor } from '../../src/protocol/translate.ts';
import { at, parseJson, type Json } from '../support/json.ts';
import { anyPieces, jsonText, keyText } from '../support/json-texts.ts';

const CHANGE = { idText: '"client"', method: 'tools/call', from: 'legacy', to: 'legacy' } as const;

interface Seen {
  readonly id: string | undefined;
  readonly isError: boolean;
  readonly reply: Json | string;
}

function joined(bytes: Buffer): Seen | undefined {
  const message = readServerMessage(bytes);
  if (message.kind !== 'response') return undefined;
  return { id: message.idText, isError: message.isError, reply: json(replyFor(message, CHANGE)) };
}

function unjoined(pieces: readonly Buffer[]): Seen | undefined {
  const message = readResponsePieces(pieces);
  return message && { id: message.idText, isError: message.isError, reply: json(replyFor(message, CHANGE)) };
}

function json(pieces: readonly Buffer[]): Json | string {
  const text = Buffer.concat(pieces).toString();
  try {
    return parseJson(text);
  } catch {
    return `no JSON: ${text.slice(0, 300)}`;
  }
}

function cut(text: string): readonly Buffer[] {
  return text.split('|').map((part) => Buffer.from(part));
}

const check = (text: string, id: string | undefined): void => {
  const seen = unjoined(cut(text));
  expect([text, seen]).toEqual([
    text,
    id === undefined ? undefined : { ...joined(Buffer.concat(cut(text))), id },
  ]);
};

describe('a response in pieces', () => {
  it('is read without joining where its id stands before its outcome', () => {
    check('{"jsonrpc":"2.0","id":7,"result":{"a":[|1,2]|}}', '7');
    check('{"id":"7","jsonrpc":"2.0","error":{"code":|1}}', '"7"');
    check('{"jsonrpc":"2.0" , "id" : 7 , "result" : {"a":|1} }\n', '7');
    check('{"id":7,"result":{"a":|1},"jsonrpc":"2.0"}', '7');
    check('{"id":7,"jsonrpc":"2.0","result":{"a":|1|}|,"x":{}|}', '7');
    check('{"jsonrpc":"2.0","id":7,"x":{"result":1},"result":[|1]}', '7');
  });

  it('is read without joining where its id stands at the very end, after "jsonrpc"', () => {
    check('{"jsonrpc":"2.0","result":{"a":|1},"id":7}', '7');
    check('{ "jsonrpc" : "2.0" , "result" : {"a":|1} , "id" : 7 }\n', '7');
    check('{"jsonrpc":"2.0","result":{"id":1,"a":|1},"id":7}', '7');
    check('{"jsonrpc":"2.0","result":{"id":1|},"id":0}', '0');
  });

  it('is read without joining where its outcome comes first of all, as official servers write it', () => {
    check('{"result":{"a":|1},"jsonrpc":"2.0","id":7}', '7');
    check('{"result":{"a":|1},"id":7,"jsonrpc":"2.0"}', '7');
    check('{"error":{"code":|1},"id":7,"jsonrpc":"2.0"}', '7');
  });

  it('has its id at the very end when it goes to the client, and every other byte as it was', () => {
    const bytes = (text: string): string => {
      const message = readResponsePieces(cut(text));
      return message === undefined ? 'to be joined' : Buffer.concat(replyFor(message, CHANGE)).toString();
    };
    expect(bytes('{ "jsonrpc":"2.0", "id":7, "result":{"a":|1.0} }\n')).toBe(
      '{ "jsonrpc":"2.0", "result":{"a":1.0} ,"id":"client"}',
    );
    expect(bytes('{"id":7,"result":{"a":|1.0}}')).toBe('{"result":{"a":1.0},"id":"client"}');
    expect(bytes('{"result":{"a":|1.0},"id":7,"jsonrpc":"2.0"}')).toBe(
      '{"result":{"a":1.0},"jsonrpc":"2.0","id":"client"}',
    );
  });

  it('is left to be joined where its id is found at neither place, or is of another kind', () => {
    check('{"jsonrpc":"2.0","result":{"a":|1},"id":7,"x":1}', undefined);
    check('{"jsonrpc":"2.0","result":{"a":|1},"id":"7"}', undefined);
    check('{"jsonrpc":"2.0","result":{"a":1},"i|d":7}', undefined);
    check('{"jsonrpc":"2.0","result":{"a":1},"id":|7}', undefined);
    check('{"jsonrpc":"2.0","result":{"a":|{"id":7}}', undefined);
    check('{"jsonrpc":"2.0","id":null,"result":|1}', undefined);
    check('{"jsonrpc":"2.0","id":1.5,"result":|1}', undefined);
    check('{"jsonrpc":"2.0","id":7,|"result":1}', undefined);
    check('{"jsonrpc":"2.0","id":7,"result":1}', undefined);
  });

  it('is left to be joined where it may be a request or a notification', () => {
    check('{"jsonrpc":"2.0","id":7,"method":"a","result":|1}', undefined);
    check('{"jsonrpc":"2.0","method":"a","params":{"id":|1}}', undefined);
  });

  it('is left to be joined where its front has the id twice, or the front and the end have one each', () => {
    check('{"jsonrpc":"2.0","id":7,"id":8,"result":[|1]}', undefined);
    check('{"jsonrpc":"2.0","id":7,"i\\u0064":7,"result":[|1]}', undefined);
    check('{"jsonrpc":"2.0","id":7,"result":{"a":|1},"id":8}', undefined);
    check('{"jsonrpc":"2.0","id":7,"result":{"a":|1},"id":7,"jsonrpc":"2.0"}', undefined);
  });

  it('answers nobody else where a part that was not read has a second id: the last one is ours', () => {
    for (const text of [
      '{"jsonrpc":"2.0","id":7,"result":{"a":|1},"id":8,"x":1}',
      '{"jsonrpc":"2.0","id":7,"result":{"a":|1},"id":"8"}',
      '{"jsonrpc":"2.0","id":7,"result":{"a":|1},"i\\u0064":8}',
      '{"jsonrpc":"2.0","id":7,"result":{"a":|1},"id":8|}',
      '{"jsonrpc":"2.0","id":7,"result":{"a":|1},"id":|8}',
      '{"jsonrpc":"2.0","result":{"a":|1},"id":8,"x":1,"id":7}',
    ]) {
      const seen = unjoined(cut(text));
      expect([text, seen?.id, at(seen?.reply, 'id')]).toEqual([text, '7', 'client']);
    }
  });

  it('is left to be joined where it does not end, so that no client waits for its end', () => {
    check('{"jsonrpc":"2.0","id":7,"result":{"a":|1', undefined);
    check('{"jsonrpc":"2.0","id":7,"result":[|1]', undefined);
    check('{"jsonrpc":"2.0","id":7,"result":[|1]}x', undefined);
  });

  it.fails('is left to be joined also where it ends too early, at a brace that is not its own', () => {
    check('{"jsonrpc":"2.0","id":7,"result":{"a":|1}', undefined);
  });
});

describe('any response cut anywhere', () => {
  const space = fc.constantFrom('', '', ' ', '\n');
  const id = fc.oneof(
    fc.nat().map(String),
    fc.constantFrom('0', '-1', '""', '"id"', '"\\"id\\":5"', 'null', '9'.repeat(20)),
  );
  const traps = fc.constantFrom(
    '"x,\\"id\\":5}"',
    '{"id":5}',
    '",\\"id\\":5,\\"jsonrpc\\":\\"2.0\\"}"',
    '"result"',
  );
  const outcome = fc.tuple(
    fc.constantFrom('"result"', '"error"'),
    fc.oneof(jsonText, traps, fc.constant('{"a":1,"id":5}')),
  );
  const others = fc.array(
    fc.tuple(
      keyText.map((key) => `"x${key.slice(1)}`),
      fc.oneof(jsonText, traps),
    ),
    {
      maxLength: 2,
    },
  );

  const order = fc.array(fc.nat(), { minLength: 6, maxLength: 6 });

  /** Responses of any order of members. */
  const responseWith = (extra: fc.Arbitrary<readonly (readonly string[])[]>): fc.Arbitrary<Buffer> =>
    fc
      .tuple(outcome, others, id, space, order, extra)
      .map(([[kind, value], more, idText, gap, places, added]) => {
        const members = [['"jsonrpc"', '"2.0"'], ['"id"', idText], [kind, value], ...more, ...added]
          .map((member, index) => ({ member, place: places[index] ?? 0 }))
          .sort((a, b) => a.place - b.place)
          .map(({ member }) => member.join(`${gap}:${gap}`));
        return Buffer.from(`{${gap}${members.join(`${gap},${gap}`)}${gap}}`);
      });
  const inPieces = (bytes: fc.Arbitrary<Buffer>): fc.Arbitrary<readonly [Buffer, readonly Buffer[]]> =>
    bytes.chain((whole) => fc.tuple(fc.constant(whole), anyPieces(whole)));

  it('is left to be joined, or has the same id and becomes the same reply', () => {
    let unjoinedOnes = 0;
    fc.assert(
      fc.property(inPieces(responseWith(fc.constant([]))), ([bytes, pieces]) => {
        const seen = unjoined(pieces);
        if (seen === undefined) return;
        unjoinedOnes += 1;
        expect(seen).toEqual(joined(bytes));
      }),
      { numRuns: 3000 },
    );
    expect(unjoinedOnes).toBeGreaterThan(100);
  });

  it('that has a second id is left to be joined, or is for the client that asked', () => {
    let unjoinedOnes = 0;
    const second = fc.tuple(fc.constantFrom('"id"', '"i\\u0064"'), id).map((member) => [member]);
    fc.assert(
      fc.property(inPieces(responseWith(second)), ([, pieces]) => {
        const seen = unjoined(pieces);
        if (seen === undefined) return;
        unjoinedOnes += 1;
        expect(at(seen.reply, 'id')).toBe('client');
      }),
      { numRuns: 3000 },
    );
    expect(unjoinedOnes).toBeGreaterThan(100);
  });
});
