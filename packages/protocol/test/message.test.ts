import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  findJsonFault,
  buildOwnRequest,
  readClientMessage,
  readServerMessage,
  type Message,
  type NoMessage,
} from '../src/message.ts';
import { isObject, parseJson, type Json } from '../../../test/support/json.ts';
import { harmedObject, jsonText, objectText } from '../../../test/support/json-texts.ts';

type Reader = (bytes: Buffer) => Message | NoMessage;

/** The classification of a message, without its bytes. */
function read(text: string, reader: Reader): Readonly<Record<string, unknown>> {
  const message = reader(Buffer.from(text));
  switch (message.kind) {
    case 'request':
      return { request: message.method, id: message.idText, hasParams: message.params !== undefined };
    case 'notification':
      return { notification: message.method, hasParams: message.params !== undefined };
    case 'response':
      return {
        response: message.isError ? 'error' : 'result',
        id: message.idText,
      };
    case 'none':
      return { none: message.fault, id: message.idText, reason: message.reason };
  }
}

type Expected = Readonly<Record<string, unknown>>;

const checkWith = (reader: Reader, text: string, expected: Expected): void => {
  expect([reader.name, text.slice(0, 200), read(text, reader)]).toEqual([
    reader.name,
    text.slice(0, 200),
    expected,
  ]);
};
/** Most messages are classified the same from either side. */
const check = (text: string, expected: Expected): void => {
  for (const reader of [readClientMessage, readServerMessage]) checkWith(reader, text, expected);
};
const invalid = (reason: string, id?: string): Readonly<Record<string, unknown>> => ({
  none: 'not_a_message',
  id,
  reason,
});

describe('a message is classified', () => {
  it('as a request, a notification or a response, by "method" and "id" alone', () => {
    check('{"jsonrpc":"2.0","id":1,"method":"a"}', { request: 'a', id: '1', hasParams: false });
    check('{"params":{},"method":"a","id":1,"jsonrpc":"2.0"}', { request: 'a', id: '1', hasParams: true });
    check('{"jsonrpc":"2.0","method":"a"}', { notification: 'a', hasParams: false });
    check('{"jsonrpc":"2.0","method":"a","params":{}}', { notification: 'a', hasParams: true });
    check('{"jsonrpc":"2.0","id":1,"result":null}', { response: 'result', id: '1' });
    check('{"jsonrpc":"2.0","id":1,"error":null}', { response: 'error', id: '1' });
    check('{"jsonrpc":"2.0","id":1,"method":"a","params":null}', { request: 'a', id: '1', hasParams: false });
    check('{"jsonrpc":"2.0","method":"a","params":null}', { notification: 'a', hasParams: false });
    check('{"jsonrpc":"2.0","id":1,"method":"","x":1}', { request: '', id: '1', hasParams: false });
    check('{"\\u006asonrpc":"2.\\u0030","\\u0069d":1,"method":"\\u0061"}', {
      request: 'a',
      id: '1',
      hasParams: false,
    });
  });

  it('as invalid without "jsonrpc":"2.0"', () => {
    for (const jsonrpc of ['"2"', '2.0', '"1.0"', 'null', '["2.0"]'])
      check(`{"jsonrpc":${jsonrpc},"id":1,"method":"a"}`, invalid('"jsonrpc" must be "2.0"', '1'));
    check('{"id":"x","method":"a"}', invalid('"jsonrpc" must be "2.0"', '"x"'));
    check('{}', invalid('"jsonrpc" must be "2.0"'));
  });

  it('as invalid with a wrong member', () => {
    check('{"jsonrpc":"2.0","id":1,"method":1}', invalid('"method" must be a string', '1'));
    for (const params of ['[]', 'false', '1', '""'])
      check(
        `{"jsonrpc":"2.0","id":1,"method":"a","params":${params}}`,
        invalid('"params" must be an object', '1'),
      );
    const outcome = 'a message has a "method", or else a "result" or an "error"';
    check('{"jsonrpc":"2.0","id":1}', invalid(outcome, '1'));
    check('{"jsonrpc":"2.0","id":1,"result":1,"error":1}', invalid(outcome, '1'));
    check('{"jsonrpc":"2.0","id":1,"method":"a","result":1}', invalid(outcome, '1'));
    check('{"jsonrpc":"2.0","method":"a","error":1}', invalid(outcome));
  });

  it('as invalid with a duplicate relevant member, with its id if that is clear', () => {
    const twice = (key: string, at: number, id?: string): Expected => ({
      none: 'ambiguous',
      id,
      reason: `the member "${key}" occurs twice, at byte ${at}`,
    });
    check('{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}', twice('id', 24));
    check('{"jsonrpc":"2.0","id":1,"\\u0069d":1,"method":"a"}', twice('id', 24));
    check('{"jsonrpc":"2.0","id":1,"id":2,"result":{}}', twice('id', 24));
    check('{"jsonrpc":"2.0","result":{},"result":{},"id":7}', twice('result', 29, '7'));
    check('{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"b","name":"c"}}', twice('name', 58, '1'));
    check(
      '{"jsonrpc":"2.0","id":1,"result":{"resultType":"a","resultType":"b"}}',
      twice('resultType', 51, '1'),
    );
    check('{"jsonrpc":"2.0","method":"a","x":1,"x":2}', { notification: 'a', hasParams: false });
  });

  it('as invalid with a relevant member in another case, even alone', () => {
    const other = (shown: string, key: string, at: number, id?: string): Expected => ({
      none: 'ambiguous',
      id,
      reason: `the member "${shown}" is read as "${key}" by readers that ignore case, at byte ${at}`,
    });
    check('{"jsonrpc":"2.0","method":"a","ID":5}', other('ID', 'id', 30));
    check('{"jsonrpc":"2.0","id":1,"Id":2,"result":{}}', other('Id', 'id', 24));
    check('{"jsonrpc":"2.0","id":1,"result":{},"Error":{}}', other('Error', 'error', 36, '1'));
    check(
      '{"jsonrpc":"2.0","id":1,"result":{"requeſtState":"s"}}',
      other('requeſtState', 'requestState', 34, '1'),
    );
    check(
      '{"jsonrpc":"2.0","method":"a","params":{"_meta":{"PROGRESSTOKEN":5}}}',
      other('PROGRESSTOKEN', 'progressToken', 49),
    );
  });

  it('as not JSON, or as JSON other than an object, or one that is too deep', () => {
    check('', { none: 'not_json', id: undefined, reason: 'not a JSON object, at byte 0' });
    check('x', { none: 'not_json', id: undefined, reason: 'not a JSON object, at byte 0' });
    check('{"id":1', { none: 'not_json', id: undefined, reason: 'expected "," or "}", at byte 7' });
    for (const text of ['[]', ' [{"jsonrpc":"2.0"}]', 'null', '"a"', '1', 'true'])
      check(text, invalid('a message is one JSON object, with "jsonrpc", "method" or "id"'));
  });
});

describe('the maximum depth of a message', () => {
  const deep = (depth: number): string =>
    `{"jsonrpc":"2.0","method":"a","x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
  const start = deep(1).length - 1;

  it('is 256 for a client', () => {
    checkWith(readClientMessage, deep(256), { notification: 'a', hasParams: false });
    checkWith(readClientMessage, deep(257), invalid(`nested more than 256 deep, at byte ${start + 255}`));
  });

  it('is practically unlimited for a server', () => {
    checkWith(readServerMessage, deep(10_000), { notification: 'a', hasParams: false });
    checkWith(
      readServerMessage,
      deep(10_001),
      invalid(`nested more than 10000 deep, at byte ${start + 9_999}`),
    );
  });
});

describe('the id of a message', () => {
  it('is kept as written: 0, "", a number and its text differ', () => {
    const longest = `"${'é'.repeat(500)}"`;
    for (const id of ['0', '-0', '-1', '""', '"1"', '"a\\"b"', '"\\u0000"', '9'.repeat(30), longest])
      check(`{"jsonrpc":"2.0","id":${id},"method":"a"}`, { request: 'a', id, hasParams: false });
  });

  it('is refused if it is neither a string nor an integer, or longer than any client needs', () => {
    const tooLong = `"${'x'.repeat(501)}"`;
    for (const id of ['null', '1.5', '1.0', '1e3', '-1E0', 'true', '{}', '[1]', '9'.repeat(31), tooLong]) {
      check(`{"jsonrpc":"2.0","id":${id},"method":"a"}`, invalid('"id" must be a string or an integer'));
    }
  });

  it('of a response may also be null or absent, as the peer may not know it', () => {
    check('{"jsonrpc":"2.0","id":null,"error":{}}', { response: 'error', id: undefined });
    check('{"jsonrpc":"2.0","error":{}}', { response: 'error', id: undefined });
    for (const id of ['1.5', 'true', '{}'])
      check(`{"jsonrpc":"2.0","id":${id},"error":{}}`, invalid('"id" must be a string or an integer'));
  });
});

describe("any peer's bytes", () => {
  it('are classified without an exception, and a message never extends beyond them', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          harmedObject,
          fc.uint8Array().map((bytes) => Buffer.from(bytes)),
        ),
        (bytes) => {
          for (const reader of [readClientMessage, readServerMessage]) {
            const message = reader(bytes);
            if (message.kind !== 'none') expect(message.root.end).toBeLessThanOrEqual(bytes.length);
          }
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('are a request, with its id and method, whatever else they contain', () => {
    const extra = objectText.map((text) => text.replace(/"(?:id|i\\u0064)"/g, '"x"'));
    fc.assert(
      fc.property(
        extra,
        jsonText,
        fc.oneof(
          fc.integer().map(String),
          fc.string().map((s) => JSON.stringify(s)),
        ),
        (other, value, id) => {
          const text = `{"other":${other},"id":${id},"method":"m","params":{"arguments":${value}},"jsonrpc":"2.0"}`;
          check(text, { request: 'm', id, hasParams: true });
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('JSON in a long string that was only searched for its end', () => {
  const fault = (inside: string): string | undefined => {
    const message = readServerMessage(
      Buffer.from(`{"jsonrpc":"2.0","method":"a","x":"${'x'.repeat(40)}${inside}"}`),
    );
    if (message.kind === 'none') throw new Error(message.reason);
    return findJsonFault(message);
  };

  it('is validated on request', () => {
    expect(fault('')).toBeUndefined();
    expect(fault('\\n')).toBeUndefined();
    expect(fault('\n')).toBe('a control character inside a string, at byte 75');
    expect(fault('\\x')).toBe('a bad escape in a string, at byte 75');
  });

  it('counts as validated if no string is long', () => {
    const message = readServerMessage(Buffer.from('{"jsonrpc":"2.0","method":"a"}'));
    expect(message.kind === 'none' ? 'none' : [message.isProven, findJsonFault(message)]).toEqual([
      true,
      undefined,
    ]);
  });
});

describe("a client's message", () => {
  it('must be UTF-8', () => {
    const bytes = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":"\xe9"}}', 'latin1');
    expect(readClientMessage(bytes)).toEqual({
      kind: 'none',
      idText: undefined,
      fault: 'not_json',
      reason: 'not UTF-8',
      isRequest: false,
    });
    expect(readServerMessage(bytes).kind).toBe('request');
    expect(readClientMessage(Buffer.from('{"jsonrpc":"2.0","method":"é"}')).kind).toBe('notification');
  });
});

describe('a request of Assay', () => {
  const written = (message: { readonly bytes: Buffer }): Json => parseJson(message.bytes.toString());

  it('has the given params, or none', () => {
    expect(written(buildOwnRequest('a'))).toEqual({ jsonrpc: '2.0', id: 0, method: 'a', params: {} });
    expect(written(buildOwnRequest('a', { b: [1] }))).toEqual({
      jsonrpc: '2.0',
      id: 0,
      method: 'a',
      params: { b: [1] },
    });
    expect(isObject(written(buildOwnRequest('a"\n')))).toBe(true);
  });
});
