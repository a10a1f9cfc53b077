import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readMessage, readResponsePieces } from '../../src/protocol/message.ts';
import { replyFor } from '../../src/protocol/translate.ts';
import { parseJson, type Json } from '../support/json.ts';
import { anyPieces, jsonText, stringText } from '../support/json-texts.ts';

const CHANGE = { idText: '"client"', method: 'tools/call', from: 'legacy', to: 'legacy' } as const;

interface Seen {
  readonly id: string | undefined;
  readonly reply: Json | string;
}

function joined(bytes: Buffer): Seen | undefined {
  const message = readMessage(bytes);
  if (message.kind !== 'response') return undefined;
  return { id: message.idText, reply: json(replyFor(message, CHANGE)) };
}

function unjoined(pieces: readonly Buffer[]): Seen | undefined {
  const message = readResponsePieces(pieces);
  return message && { id: message.idText, reply: json(replyFor(message, CHANGE)) };
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
    check('{"jsonrpc":"2.0","id":7,"x":{"result":1},"result":[|1]}', '7');
  });

  it('is read without joining where its id stands at the very end, after "jsonrpc"', () => {
    check('{"jsonrpc":"2.0","result":{"a":|1},"id":7}', '7');
    check('{ "jsonrpc" : "2.0" , "result" : {"a":|1} , "id" : 7 }\n', '7');
    check('{"jsonrpc":"2.0","result":{"id":1,"a":|1},"id":7}', '7');
    check('{"jsonrpc":"2.0","result":{"id":1|},"id":0}', '0');
  });

  it.fails(
    'is read without joining where its outcome comes first of all, as official servers write it',
    () => {
      check('{"result":{"a":|1},"jsonrpc":"2.0","id":7}', '7');
      check('{"result":{"a":|1},"id":7,"jsonrpc":"2.0"}', '7');
      check('{"error":{"code":|1},"id":7,"jsonrpc":"2.0"}', '7');
    },
  );

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

  it.fails('is left to be joined where its front has the id twice', () => {
    check('{"jsonrpc":"2.0","id":7,"id":8,"result":[|1]}', undefined);
  });

  it.fails('is left to be joined where a second id follows its outcome, which a client would believe', () => {
    check('{"jsonrpc":"2.0","id":7,"result":{"a":|1},"id":8}', undefined);
  });

  it.fails('is left to be joined where it is no JSON, so that no client waits for its end', () => {
    check('{"jsonrpc":"2.0","id":7,"result":{"a":|1', undefined);
  });
});

describe('any response cut anywhere', () => {
  const gap = fc.constantFrom('', '', ' ', '\n');
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
      stringText.map((key) => `"x${key.slice(1)}`),
      fc.oneof(jsonText, traps),
    ),
    {
      maxLength: 2,
    },
  );

  /** Responses of any order of members, in which "jsonrpc" comes before the outcome. */
  const response = fc
    .tuple(outcome, others, id, gap, fc.array(fc.nat(), { minLength: 5, maxLength: 5 }))
    .map(([[kind, value], more, idText, space, order]) => {
      const members = [['"id"', idText], [kind, value], ...more]
        .map((member, index) => ({ member, place: order[index] ?? 0 }))
        .sort((a, b) => a.place - b.place)
        .map(({ member }) => member.join(`${space}:${space}`));
      return Buffer.from(`{${space}${['"jsonrpc":"2.0"', ...members].join(`${space},${space}`)}${space}}`);
    });

  it('is left to be joined, or has the same id and becomes the same reply', () => {
    let unjoinedOnes = 0;
    fc.assert(
      fc.property(
        response.chain((bytes) => fc.tuple(fc.constant(bytes), anyPieces(bytes))),
        ([bytes, pieces]) => {
          const seen = unjoined(pieces);
          if (seen === undefined) return;
          unjoinedOnes += 1;
          expect(seen).toEqual(joined(bytes));
        },
      ),
      { numRuns: 3000 },
    );
    expect(unjoinedOnes).toBeGreaterThan(100);
  });
});
