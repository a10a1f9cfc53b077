import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Era } from '../src/eras.ts';
import { readServerMessage, type ResponseMessage } from '../src/message.ts';
import { asksForInput, getModernMembers, translateReply } from '../src/translate.ts';
import { isObject, parseJson, type Json } from '../../../test/support/json.ts';
import { jsonText, objectText } from '../../../test/support/json-texts.ts';

type Route = `${Era} to ${Era}`;
const ROUTES: readonly Route[] = [
  'legacy to legacy',
  'legacy to modern',
  'modern to legacy',
  'modern to modern',
];
const WITHIN: readonly Route[] = ['legacy to legacy', 'modern to modern'];

function responseOf(text: string): ResponseMessage {
  const message = readServerMessage(Buffer.from(text));
  if (message.kind !== 'response') throw new Error(`no response: ${text}`);
  return message;
}

function translated(text: string, route: Route, { method = 'tools/call', id = '"c"' } = {}): string {
  const [from, to] = route.split(' to ') as [Era, Era];
  return Buffer.concat(translateReply(responseOf(text), { idText: id, method, from, to })).toString();
}

describe('a response', () => {
  it("gets the client's id as written", () => {
    for (const id of ['0', '""', '"a\\"b"', '-1', '9'.repeat(30)])
      for (const route of WITHIN)
        expect(translated('{"jsonrpc":"2.0","result":{},"id": 65536 }', route, { id })).toBe(
          `{"jsonrpc":"2.0","result":{},"id": ${id} }`,
        );
  });

  it('gets it even if the server gave none, or null', () => {
    expect(translated('{"jsonrpc":"2.0","error":{"code":1}}', 'legacy to legacy')).toBe(
      '{"id":"c","jsonrpc":"2.0","error":{"code":1}}',
    );
    expect(translated('{"jsonrpc":"2.0","id":null,"error":{}}', 'modern to legacy')).toBe(
      '{"jsonrpc":"2.0","id":"c","error":{}}',
    );
  });

  it('keeps every other byte within its era', () => {
    const rest = `"result":{"resultType":"x","ttlMs":1.0,"content":[{"type":"new","id":1}],"structuredContent":{"n":1e400},"_meta":null},"x":[]`;
    for (const route of WITHIN)
      for (const method of ['tools/call', 'tools/list', 'vendor/method'])
        expect(translated(`{"jsonrpc":"2.0","id":1,${rest}}`, route, { method })).toBe(
          `{"jsonrpc":"2.0","id":"c",${rest}}`,
        );
  });
});

describe('a result between eras', () => {
  const check = (route: Route, method: string, [before, after]: readonly [string, string]): void => {
    expect([method, translated(`{"jsonrpc":"2.0","id":1,"result":${before}}`, route, { method })]).toEqual([
      method,
      `{"jsonrpc":"2.0","id":"c","result":${after}}`,
    ]);
  };
  const CACHEABLE = [
    'server/discover',
    'tools/list',
    'prompts/list',
    'resources/list',
    'resources/templates/list',
    'resources/read',
  ];
  const OTHERS = ['tools/call', 'prompts/get', 'completion/complete', 'vendor/method'];

  it('gets the required members that the server omitted, for a modern client', () => {
    const route = 'legacy to modern';
    for (const method of OTHERS) {
      check(route, method, ['{}', '{"resultType":"complete"}']);
      check(route, method, ['{ "a":1}', '{"resultType":"complete", "a":1}']);
      check(route, method, ['{"a":1,"resultType":"x"}', '{"a":1,"resultType":"x"}']);
    }
    for (const method of CACHEABLE) {
      check(route, method, ['{}', '{"resultType":"complete","ttlMs":0,"cacheScope":"private"}']);
      check(route, method, [
        '{"ttlMs":null,"a":1}',
        '{"resultType":"complete","cacheScope":"private","ttlMs":null,"a":1}',
      ]);
      const whole = '{"resultType":"complete","ttlMs":5,"cacheScope":"public"}';
      check(route, method, [whole, whole]);
    }
  });

  it('loses only the members that the legacy era lacks, for a legacy client', () => {
    const route = 'modern to legacy';
    const members = '"resultType":"complete","ttlMs":5,"cacheScope":"public"';
    for (const method of OTHERS) {
      check(route, method, [`{${members}}`, '{"ttlMs":5,"cacheScope":"public"}']);
      check(route, method, ['{"a":{"resultType":1},"resultType":"x"}', '{"a":{"resultType":1}}']);
    }
    for (const method of CACHEABLE) {
      check(route, method, [`{${members}}`, '{}']);
      check(route, method, [`{"a":1,${members},"b":{"ttlMs":1}}`, '{"a":1,"b":{"ttlMs":1}}']);
      check(route, method, ['{"a":1}', '{"a":1}']);
    }
  });

  it('is unchanged if it is not an object', () => {
    for (const route of ROUTES)
      for (const result of ['null', '[]', '1', '"resultType"']) check(route, 'tools/list', [result, result]);
  });
});

describe('an error between eras', () => {
  const check = (route: Route, before: string, after: string): void => {
    expect([route, translated(`{"jsonrpc":"2.0","id":1,"error":${before}}`, route)]).toEqual([
      route,
      `{"jsonrpc":"2.0","id":"c","error":${after}}`,
    ]);
  };

  it('"resource not found" has another code in the modern era', () => {
    const before = '{"data":{"code":-32002},"code":-32002,"message":"m"}';
    check('legacy to modern', before, '{"data":{"code":-32002},"code":-32602,"message":"m"}');
    for (const route of [...WITHIN, 'modern to legacy'] as const) check(route, before, before);
  });

  it('of any other code, or of an unusual form, is unchanged', () => {
    const others = ['-32602', '-32000', '0', '-32002.0', '"-32002"', 'null'].map(
      (code) => `{"code":${code}}`,
    );
    for (const error of [...others, '{}', 'null', '-32002', '[-32002]'])
      for (const route of ROUTES) check(route, error, error);
  });
});

describe('whatever a server answers', () => {
  const OURS = ['resultType', 'ttlMs', 'cacheScope'];
  /** The parsed response without the members that may change in transit. */
  const rest = (text: string): Json => {
    const message = parseJson(text);
    if (!isObject(message)) return message;
    const { id: _, ...others } = message;
    const { result } = others;
    if (!isObject(result)) return others;
    const kept = Object.entries(result).filter(([key]) => !OURS.includes(key));
    return { ...others, result: Object.fromEntries(kept) };
  };
  const method = fc.constantFrom('tools/list', 'tools/call', 'resources/read', 'vendor/method');

  it('nothing changes except the members that only one era has, on any route', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...ROUTES),
        method,
        objectText,
        jsonText,
        (route, method, result, other) => {
          const text = `{"x":${other},"jsonrpc":"2.0","result":${result},"id":3}`;
          const after = translated(text, route, { method });
          expect(rest(after)).toEqual(rest(text));
          expect(parseJson(after)).toHaveProperty('id', 'c');
          expect(after.startsWith(`{"x":${other},"jsonrpc":"2.0","result":{`)).toBe(true);
        },
      ),
      { numRuns: 1000 },
    );
  });

  it('the result is the same JSON after conversion to the other era and back', () => {
    fc.assert(
      fc.property(method, objectText, (method, result) => {
        const text = `{"jsonrpc":"2.0","result":${result},"id":"c"}`;
        const there = translated(text, 'legacy to modern', { method });
        expect(parseJson(translated(there, 'modern to legacy', { method }))).toEqual(parseJson(text));
      }),
      { numRuns: 500 },
    );
  });
});

describe('a modern result', () => {
  it('is complete, and for lists and resources says how long it may be cached', () => {
    expect(getModernMembers('tools/call')).toEqual([['resultType', '"complete"']]);
    expect(getModernMembers('resources/read')).toEqual([
      ['resultType', '"complete"'],
      ['ttlMs', '0'],
      ['cacheScope', '"private"'],
    ]);
  });

  it('asks for input if its type says so, and only then', () => {
    const asks = (message: string): boolean =>
      asksForInput(responseOf(`{"jsonrpc":"2.0","id":1,${message}}`));
    expect(asks('"result":{"resultType":"input_required"}')).toBe(true);
    expect(asks('"result":{"resultType":"input\\u005frequired"}')).toBe(true);
    for (const one of ['{"resultType":"complete"}', '{"a":{"resultType":"input_required"}}', '{}', 'null'])
      expect([one, asks(`"result":${one}`)]).toEqual([one, false]);
    expect(asks('"error":{"resultType":"input_required"}')).toBe(false);
  });
});
