import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAccept, decodeHeader, encodeHeader } from '../src/headers.ts';

describe('a name in a header', () => {
  const check = (value: string, header: string): void => {
    expect([value, encodeHeader(value), decodeHeader(header)]).toEqual([value, header, value]);
  };

  it('is encoded as in the examples of 2026-07-28 (basic/transports/streamable-http#value-encoding)', () => {
    check('us-west1', 'us-west1');
    check('Hello, 世界', '=?base64?SGVsbG8sIOS4lueVjA==?=');
    check(' padded ', '=?base64?IHBhZGRlZCA=?=');
    check('line1\nline2', '=?base64?bGluZTEKbGluZTI=?=');
    check('=?base64?literal?=', '=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=');
  });

  it('is plain if it is visible ASCII with spaces or tabs inside only', () => {
    for (const plain of [
      'a',
      '~',
      '!',
      'a b',
      'a\tb',
      'a?=',
      '=?base64?a',
      '=?BASE64?YQ==?=',
      'file:///a%20b?c=d#e',
    ])
      check(plain, plain);
    check('', '=?base64??=');
    check('\ta', '=?base64?CWE=?=');
    check('a\x7f', '=?base64?YX8=?=');
    check('\0', '=?base64?AA==?=');
    check('é', '=?base64?w6k=?=');
  });

  it('survives any HTTP peer untrimmed, whatever its characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (value) => {
        const header = encodeHeader(value);
        expect(header).toMatch(/^[!-~]([\t -~]*[!-~])?$/);
        expect(decodeHeader(header)).toBe(value);
      }),
      { numRuns: 1000 },
    );
  });

  it('is refused if it is encoded wrongly or is not a field value', () => {
    for (const header of [
      '=?base64?a?=',
      '=?base64?YQ?=',
      '=?base64?Y Q==?=',
      '=?base64?YQ==\n?=',
      '=?base64?_-8=?=',
    ])
      expect([header, decodeHeader(header)]).toEqual([header, undefined]);
    for (const header of [' a', 'a ', 'a\nb', 'é', 'a\0'])
      expect([header, decodeHeader(header)]).toEqual([header, undefined]);
  });

  it('may be empty as received, although Assay encodes an empty one', () => {
    expect(decodeHeader('')).toBe('');
  });

  it('is refused if the encoded bytes are not UTF-8', () => {
    expect(decodeHeader('=?base64?/w==?=')).toBeUndefined();
  });

  it('is encoded if it starts and ends like an encoded one, even if both overlap', () => {
    expect(encodeHeader('=?base64?=')).toBe('=?base64?PT9iYXNlNjQ/PQ==?=');
  });
});

describe('an Accept header', () => {
  const check = (accept: string | undefined, json: boolean, sse: boolean): void => {
    expect([accept, parseAccept(accept)]).toEqual([accept, { json, sse }]);
  };

  it('allows what it names, alone or as a range, and everything if it is absent', () => {
    check('application/json, text/event-stream', true, true);
    check('application/json', true, false);
    check('text/event-stream;q=0.9', false, true);
    check('*/*', true, true);
    check('text/html, application/*;q=0.5', true, false);
    check('text/*', false, true);
    check(undefined, true, true);
    check('text/html', false, false);
    check('', false, false);
  });

  it('may write a media type in any case (RFC 9110, section 8.3.1)', () => {
    check('Application/JSON, Text/Event-Stream', true, true);
  });
});
