import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readHeaderParameters, type HeaderParameters } from '../src/header-parameters.ts';
import { readClientMessage, type RequestMessage } from '../src/message.ts';
import { findParameterFault, buildParameterHeaders } from '../src/parameter-values.ts';

const PARAMETERS = parametersOf({
  text: { type: 'string', 'x-mcp-header': 'Text' },
  count: { type: 'integer', 'x-mcp-header': 'Count' },
  flag: { type: 'boolean', 'x-mcp-header': 'Flag' },
  deep: { type: 'object', properties: { er: { type: 'string', 'x-mcp-header': 'Deep' } } },
});

function parametersOf(properties: object): HeaderParameters {
  const found = readHeaderParameters({ type: 'object', properties });
  if (!found.ok || found.value === undefined) throw new Error('no parameters');
  return found.value;
}

function callOf(args: string): RequestMessage {
  const text = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":${args}}}`;
  const message = readClientMessage(Buffer.from(text));
  if (message.kind !== 'request') throw new Error(`no request: ${text}`);
  return message;
}

const asLines = (headers: readonly string[]): Record<string, string[]> =>
  Object.fromEntries(
    headers.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), [headers[at + 1] ?? '']]] : [])),
  );

describe('the headers of a call', () => {
  const check = (args: string, expected: readonly string[]): void => {
    expect([args, buildParameterHeaders(callOf(args), PARAMETERS)]).toEqual([args, expected]);
  };

  it('contain each value as text', () => {
    check('{"text":"a\\u0062","count":-0,"flag":true,"deep":{"er":"x"}}', [
      'Mcp-Param-Text',
      'ab',
      'Mcp-Param-Count',
      '0',
      'Mcp-Param-Flag',
      'true',
      'Mcp-Param-Deep',
      'x',
    ]);
    check('{"count":42.0}', ['Mcp-Param-Count', '42']);
    check('{"count":1e3}', ['Mcp-Param-Count', '1000']);
    check('{"text":7}', ['Mcp-Param-Text', '7']);
  });

  it('omit values that are missing or have no text form, and integers beyond a double', () => {
    for (const args of [
      '{}',
      'null',
      '[]',
      '7',
      '"text"',
      '{"text":null}',
      '{"text":{}}',
      '{"text":[]}',
      '{"deep":{}}',
      '{"deep":"er"}',
      '{"deep":[{"er":"x"}]}',
      '{"count":9007199254740992}',
      '{"count":1e400}',
      '{"constructor":1}',
    ])
      check(args, []);
  });

  it('are empty if readers would disagree about the arguments', () => {
    check('{"text":"a","text":"b"}', []);
    check('{"deep":{"er":"a","er":"b"}}', []);
    check('{"text":"a","TEXT":"b"}', []);
    check('{"other":1,"other":2,"text":"a"}', ['Mcp-Param-Text', 'a']);
  });
});

describe('any arguments', () => {
  const value = fc.oneof(
    fc.string({ unit: 'grapheme' }),
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.jsonValue({ maxDepth: 1 }),
  );
  // Other spellings of `er` are refused, as tested above.
  const deep = fc
    .oneof(value, fc.record({ er: value }))
    .filter((one) => Object.keys(one ?? {}).every((key) => key === 'er' || key.toLowerCase() !== 'er'));
  const given = fc.record(
    { text: value, count: value, flag: value, deep, other: value },
    { requiredKeys: [] },
  );

  it('are accepted with the headers made from them, which any HTTP peer accepts', () => {
    fc.assert(
      fc.property(given, (args) => {
        const call = callOf(JSON.stringify(args));
        const headers = buildParameterHeaders(call, PARAMETERS);
        for (const [at, text] of headers.entries())
          if (at % 2 === 1) expect(text).toMatch(/^[!-~]([\t -~]*[!-~])?$/);
        expect(findParameterFault(call, PARAMETERS, asLines(headers))).toBeUndefined();
      }),
      { numRuns: 2_000 },
    );
  });

  it('are refused with headers made from other arguments', () => {
    fc.assert(
      fc.property(given, given, (one, other) => {
        const call = callOf(JSON.stringify(one));
        const [own, foreign] = [call, callOf(JSON.stringify(other))].map((each) =>
          buildParameterHeaders(each, PARAMETERS),
        );
        const isSame = JSON.stringify(own) === JSON.stringify(foreign);
        const fault = findParameterFault(call, PARAMETERS, asLines(foreign ?? []));
        expect(fault === undefined).toBe(isSame);
      }),
      { numRuns: 2_000 },
    );
  });
});
