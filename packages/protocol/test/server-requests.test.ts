import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readServerMessage, type RequestMessage, type ResponseMessage } from '../src/message.ts';
import {
  toLegacyRequest,
  readInputRequired,
  serializeInputRequired,
  buildForwardedRequest,
  buildRetry,
  readRetry,
} from '../src/server-requests.ts';

/** Texts that end strings, lines and objects, and names that mean something to JavaScript. */
const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('__proto__', 'constructor', '"', '\\', '\n', '\r\n', '\u2028', '\u0000', '}{', '', 'id'),
);
/** Only one key has escapes: JSON.parse of Node 24 confuses escaped keys of the same length. */
const key = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'é', '🎈', ' ', '{', ':', ',') }),
  fc.constantFrom('__proto__', 'constructor', 'toString', 'id', 'method', '', 'q"\n\\\u2028'),
);
const value = fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null), fc.array(text));
const params = fc.dictionary(key, value, { noNullPrototype: true });
const request = fc.record({ method: text, params });
const requests = fc
  .uniqueArray(fc.tuple(key, request), { selector: ([name]) => name })
  .map(
    (entries) =>
      `{${entries.map(([name, one]) => `${JSON.stringify(name)}:${JSON.stringify(one)}`).join(',')}}`,
  );

function responseOf(result: string): ResponseMessage {
  const message = readServerMessage(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${result}}`));
  if (message.kind !== 'response') throw new Error(`no response: ${result}`);
  return message;
}

function requestOf(body: string): RequestMessage {
  const message = readServerMessage(Buffer.from(body));
  if (message.kind !== 'request') throw new Error(`no request: ${body}`);
  return message;
}

/** The members in their order, including those that JavaScript would treat specially. */
const membersOf = (json: string): readonly (readonly [string, unknown])[] =>
  Object.entries(JSON.parse(json) as Readonly<Record<string, unknown>>);

describe("a modern server's input requests", () => {
  it('are read as written, whatever their keys, methods and params', () => {
    fc.assert(
      fc.property(requests, text, (given, state) => {
        const read = readInputRequired(
          responseOf(
            `{"resultType":"input_required","inputRequests":${given},"requestState":${JSON.stringify(state)}}`,
          ),
        );
        expect(read?.state).toBe(state);
        const shown = read?.requests.map(({ key: name, message }) => {
          const { method, params: asked } = JSON.parse(message.bytes.toString()) as Record<string, unknown>;
          return [name, JSON.stringify({ method, params: asked })];
        });
        expect(shown?.toSorted()).toEqual(
          membersOf(given)
            .map(([name, one]) => [name, JSON.stringify(one)])
            .toSorted(),
        );
      }),
    );
  });

  it('are written for a modern client unchanged', () => {
    fc.assert(
      fc.property(requests, text, (given, state) => {
        const read = readInputRequired(responseOf(`{"inputRequests":${given}}`));
        const written = JSON.parse(serializeInputRequired(read?.requests ?? [], state)) as Record<
          string,
          unknown
        >;
        expect(written['resultType']).toBe('input_required');
        expect(written['requestState']).toBe(state);
        expect(JSON.stringify(written['inputRequests'])).toBe(JSON.stringify(JSON.parse(given)));
      }),
    );
  });

  it.for([
    '{"inputRequests":[]}',
    '{"inputRequests":{"a":1}}',
    '{"inputRequests":{"a":{}}}',
    '{"inputRequests":{"a":{"method":1}}}',
    '{"inputRequests":{"a":{"method":"roots/list","params":[]}}}',
    '{"inputRequests":null}',
    '{"requestState":1}',
    '{"requestState":null}',
  ])('are rejected if malformed: %s', (result) => {
    expect(readInputRequired(responseOf(result))).toBeUndefined();
  });
});

describe('a retried request', () => {
  it('keeps all its members except those of the previous attempt', () => {
    fc.assert(
      fc.property(
        params,
        fc.boolean(),
        text,
        fc.dictionary(key, value),
        (given, isSecond, state, answers) => {
          const inner = JSON.stringify(given).slice(1, -1);
          const earlier = isSecond ? ['"inputResponses":{"old":1},"requestState":"old"'] : [];
          const bodyOf = (...parts: readonly string[]): string =>
            `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{${parts.filter((part) => part !== '').join(',')}}}`;
          const responses = Object.entries(answers).map(([name, one]) => ({
            key: name,
            text: JSON.stringify(one),
          }));
          const again = buildRetry(requestOf(bodyOf(inner, ...earlier)), { responses, state });
          const joined = responses.map((one) => `${JSON.stringify(one.key)}:${one.text}`).join(',');
          const added = `"inputResponses":{${joined}},"requestState":${JSON.stringify(state)}`;
          expect(again?.bytes.toString()).toBe(bodyOf(added, inner));
          const back = again && readRetry(again);
          expect(back).toEqual({ state, responses: new Map(responses.map((one) => [one.key, one.text])) });
        },
      ),
    );
  });

  it('may have had no params', () => {
    const again = buildRetry(requestOf('{"jsonrpc":"2.0","id":1,"method":"a"}'), {
      responses: [],
      state: undefined,
    });
    expect(JSON.parse(again?.bytes.toString() ?? '')).toEqual({
      jsonrpc: '2.0',
      id: 1,
      method: 'a',
      params: { inputResponses: {} },
    });
  });
});

describe('the request sent to a legacy client', () => {
  it.for([
    ['{"jsonrpc":"2.0","id":"a","method":"m"}', { jsonrpc: '2.0', id: 5, method: 'm' }],
    ['{"id":1,"jsonrpc":"2.0","method":"m"}', { id: 5, jsonrpc: '2.0', method: 'm' }],
    [
      '{"jsonrpc":"2.0","id":1,"method":"m","params":{"id":7,"_meta":{"progressToken":"t","x":1}},"__proto__":2}',
      JSON.parse(
        '{"jsonrpc":"2.0","id":5,"method":"m","params":{"id":7,"_meta":{"progressToken":5,"x":1}},"__proto__":2}',
      ),
    ],
  ] as const)('has an id assigned by Assay, exactly once: %s', ([given, expected]) => {
    const written = buildForwardedRequest(requestOf(given), 5).toString();
    expect(JSON.stringify(Object.entries(JSON.parse(written) as object).toSorted())).toBe(
      JSON.stringify(Object.entries(expected as object).toSorted()),
    );
    expect(written.match(/"id":5/g)).toHaveLength(1);
  });

  it.for([
    ['elicitation/create', '{"mode":"url","url":"x"}', '{"elicitationId":"e","mode":"url","url":"x"}'],
    ['elicitation/create', '{"mode":"url","elicitationId":null}', '{"mode":"url","elicitationId":null}'],
    ['elicitation/create', '{"mode":"form"}', '{"mode":"form"}'],
    ['elicitation/create', '{}', '{}'],
    ['sampling/createMessage', '{"mode":"url"}', '{"mode":"url"}'],
  ] as const)('has the id of a link if a modern server gave none: %s %s', ([method, given, expected]) => {
    const message = requestOf(`{"jsonrpc":"2.0","id":0,"method":"${method}","params":${given}}`);
    const { params: now } = JSON.parse(toLegacyRequest(message, 'e').bytes.toString()) as { params: unknown };
    expect(now).toEqual(JSON.parse(expected));
  });
});
