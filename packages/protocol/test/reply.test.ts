import { describe, expect, it } from 'vitest';
import { readServerMessage } from '../src/message.ts';
import {
  buildErrorMessage,
  buildNotification,
  buildResultMessage,
  buildResultPieces,
  serializeResult,
} from '../src/reply.ts';

describe('a response of Assay', () => {
  const RESULT = Buffer.from('{"a":1.0}');

  it('contains the client’s id as written, and the result’s bytes', () => {
    for (const id of ['0', '""', '"a\\"b"', '9'.repeat(30)])
      expect(buildResultMessage(id, RESULT).toString()).toBe(
        `{"jsonrpc":"2.0","id":${id},"result":{"a":1.0}}`,
      );
  });

  it('is the same in pieces, and does not copy the result', () => {
    const pieces = buildResultPieces('1', RESULT);
    expect(Buffer.concat(pieces)).toEqual(buildResultMessage('1', RESULT));
    expect(pieces).toContain(RESULT);
  });
});

describe('the text of a result', () => {
  it('is the bare result in the legacy era', () => {
    expect(serializeResult('tools/list', 'legacy', { a: [] }).toString()).toBe('{"a":[]}');
    expect(serializeResult('ping', 'legacy', {}).toString()).toBe('{}');
    expect(serializeResult('ping', 'legacy', { a: undefined }).toString()).toBe('{}');
  });

  it('says in the modern era that it is complete, and how long it may be cached', () => {
    const cached = '"resultType":"complete","ttlMs":0,"cacheScope":"private"';
    expect(serializeResult('server/discover', 'modern', { a: 1 }).toString()).toBe(`{"a":1,${cached}}`);
    expect(serializeResult('tools/list', 'modern', {}).toString()).toBe(`{${cached}}`);
    expect(serializeResult('tools/call', 'modern', {}).toString()).toBe('{"resultType":"complete"}');
    expect(serializeResult('tools/call', 'modern', { a: '}' }).toString()).toBe(
      '{"a":"}","resultType":"complete"}',
    );
  });
});

describe('an error response', () => {
  const ERROR = { code: -32603, message: 'm"\n', data: { code: 'X' } };
  const TEXT = '"error":{"code":-32603,"message":"m\\"\\n","data":{"code":"X"}}}';

  it('has the id, in both eras', () => {
    for (const era of ['legacy', 'modern'] as const)
      expect(buildErrorMessage('0', ERROR, era).toString()).toBe(`{"jsonrpc":"2.0","id":0,${TEXT}`);
  });

  it('has null if no id could be read, and none in the modern era', () => {
    expect(buildErrorMessage(undefined, ERROR, 'legacy').toString()).toBe(
      `{"jsonrpc":"2.0","id":null,${TEXT}`,
    );
    expect(buildErrorMessage(undefined, ERROR, 'modern').toString()).toBe(`{"jsonrpc":"2.0",${TEXT}`);
  });

  it('is a response that Assay itself can read', () => {
    for (const id of [undefined, '0', '"a"'])
      for (const era of ['legacy', 'modern'] as const)
        expect(readServerMessage(buildErrorMessage(id, ERROR, era))).toMatchObject({
          kind: 'response',
          idText: id,
        });
  });
});

describe('a notification of Assay', () => {
  it('has params only if some were given', () => {
    expect(buildNotification('a').toString()).toBe('{"jsonrpc":"2.0","method":"a"}');
    expect(buildNotification('a', {}).toString()).toBe('{"jsonrpc":"2.0","method":"a","params":{}}');
    expect(buildNotification('a', { requestId: 0, reason: undefined }).toString()).toBe(
      '{"jsonrpc":"2.0","method":"a","params":{"requestId":0}}',
    );
  });
});
