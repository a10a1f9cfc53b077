import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTraceStarter } from '../../gateway/src/adapters/telemetry/new-trace.ts';
import type { Era } from '../src/eras.ts';
import { readClientMessage, type RequestMessage } from '../src/message.ts';
import { hasTrace, type TraceContext } from '../src/trace-context.ts';
import { translateRequest } from '../src/translate.ts';
import { NEW_TRACE } from '../../../test/support/trace.ts';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
/** A client's trace parent, and that of Assay's child span. */
const CLIENT = `00-${TRACE}-00f067aa0ba902b7-01`;
const OURS = `00-${TRACE}-b7ad6b7169203331-01`;
const OTHER = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
const ENVELOPE =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}';
const INFO = '"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}';
const ADDED = ENVELOPE.replace(',', `,${INFO},`);

function requestOf(params: string): RequestMessage {
  const message = readClientMessage(
    Buffer.from(
      `{"jsonrpc":"2.0","id":1,"method":"tools/call"${params === '' ? '' : `,"params":${params}`}}`,
    ),
  );
  if (message.kind !== 'request') throw new Error(`no request: ${params}`);
  return message;
}

/** The params that a server gets. */
function sent(params: string, route: `${Era} to ${Era}`, trace: TraceContext | undefined): string {
  const [from, to] = route.split(' to ') as [Era, Era];
  const change = { era: from, name: undefined, clientInfo: '{"name":"c","version":"1"}', trace };
  const text = Buffer.concat(
    translateRequest(requestOf(params), change, { id: 2, to, ownInfo: '{}' }),
  ).toString();
  return text
    .replace('"jsonrpc":"2.0","id":2,"method":"tools/call"', '')
    .slice(1, -1)
    .replace(/^,|,$/, '')
    .slice(9);
}

const BOTH = ['legacy to legacy', 'modern to modern'] as const;
const TP = (value: string): string => `"traceparent":"${value}"`;

describe('the trace context of a request without one', () => {
  it('is added to the existing _meta, or to a new one', () => {
    const trace = { traceparent: OTHER };
    for (const route of BOTH) {
      expect(sent('', route, trace)).toBe(`{"_meta":{${TP(OTHER)}}}`);
      expect(sent('{}', route, trace)).toBe(`{"_meta":{${TP(OTHER)}}}`);
      expect(sent('{"name":"a"}', route, trace)).toBe(`{"_meta":{${TP(OTHER)}},"name":"a"}`);
      expect(sent('{"_meta":{ } ,"name":"a"}', route, trace)).toBe(`{"_meta":{${TP(OTHER)} } ,"name":"a"}`);
      expect(sent('{"_meta":{"x":1.0,"progressToken":"t"}}', route, trace)).toBe(
        `{"_meta":{${TP(OTHER)},"x":1.0,"progressToken":2}}`,
      );
    }
  });

  it('is next to the envelope for a modern server, and alone if the envelope was removed for a legacy one', () => {
    const trace = { traceparent: OTHER };
    expect(sent('{"name":"a"}', 'legacy to modern', trace)).toBe(
      `{"_meta":{${ADDED},${TP(OTHER)}},"name":"a"}`,
    );
    expect(sent('{"_meta":{"x":1}}', 'legacy to modern', trace)).toBe(
      `{"_meta":{${ADDED},${TP(OTHER)},"x":1}}`,
    );
    expect(sent('{"_meta":7}', 'legacy to modern', trace)).toBe(`{"_meta":{${ADDED},${TP(OTHER)}}}`);
    expect(sent(`{"name":"a","_meta":{${ENVELOPE}}}`, 'modern to legacy', trace)).toBe(
      `{"name":"a","_meta":{${TP(OTHER)}}}`,
    );
    expect(sent(`{"_meta":{${ENVELOPE},"x":1}}`, 'modern to legacy', trace)).toBe(
      `{"_meta":{${TP(OTHER)},"x":1}}`,
    );
    expect(sent(`{"_meta":{"x":1,${ENVELOPE}}}`, 'modern to legacy', trace)).toBe(
      `{"_meta":{${TP(OTHER)},"x":1}}`,
    );
  });

  it('includes the trace state', () => {
    const trace = { traceparent: OTHER, tracestate: 'a="b"' };
    expect(sent('{}', 'legacy to legacy', trace)).toBe(`{"_meta":{${TP(OTHER)},"tracestate":"a=\\"b\\""}}`);
  });

  it('is omitted if the client sent any trace member, valid or not, or _meta is not an object', () => {
    for (const meta of [
      `{${TP(CLIENT)}}`,
      '{"traceparent":""}',
      '{"traceparent":null}',
      '{"traceparent":{"a":1}}',
      '{"tracestate":"a=b"}',
      '7',
      '[]',
    ])
      for (const route of BOTH)
        expect(sent(`{"_meta":${meta}}`, route, { traceparent: OTHER })).toBe(`{"_meta":${meta}}`);
  });

  it('is omitted if tracing is off', () => {
    for (const route of BOTH) expect(sent('{"name":"a"}', route, undefined)).toBe('{"name":"a"}');
  });
});

describe('the trace context of a request that has one', () => {
  it("has Assay's span in place of the client’s, if that is its parent", () => {
    for (const route of BOTH)
      expect(sent(`{"_meta":{"x":1,${TP(CLIENT)},"baggage":"a=b"}}`, route, { traceparent: OURS })).toBe(
        `{"_meta":{"x":1,${TP(OURS)},"baggage":"a=b"}}`,
      );
    expect(sent(`{"_meta":{${ENVELOPE},${TP(CLIENT)}}}`, 'modern to legacy', { traceparent: OURS })).toBe(
      `{"_meta":{${TP(OURS)}}}`,
    );
    expect(sent(`{"_meta":{${TP(CLIENT)}}}`, 'legacy to modern', { traceparent: OURS })).toBe(
      `{"_meta":{${ADDED},${TP(OURS)}}}`,
    );
  });

  it('keeps its state as written, unless the SDK sets another', () => {
    const given = `{"_meta":{${TP(CLIENT)},"tracestate":"a=\\u0062"}}`;
    const with_ = (tracestate: string | undefined): string =>
      sent(given, 'legacy to legacy', { traceparent: OURS, tracestate });
    expect(with_('a=b')).toBe(`{"_meta":{${TP(OURS)},"tracestate":"a=\\u0062"}}`);
    expect(with_(undefined)).toBe(`{"_meta":{${TP(OURS)},"tracestate":"a=\\u0062"}}`);
    expect(with_('x=y,a=b')).toBe(`{"_meta":{${TP(OURS)},"tracestate":"x=y,a=b"}}`);
    const added = { traceparent: OURS, tracestate: 'x=y' };
    expect(sent(`{"_meta":{${ENVELOPE},${TP(CLIENT)}}}`, 'modern to legacy', added)).toBe(
      `{"_meta":{"tracestate":"x=y",${TP(OURS)}}}`,
    );
  });

  it("is unchanged if Assay's span belongs to another trace, because the client’s was invalid", () => {
    for (const value of [`"${OTHER}"`, '""', '"00-0-0-00"', '7', 'null', '"\\u0030"'])
      for (const route of BOTH)
        expect(
          sent(`{"_meta":{"traceparent":${value},"tracestate":"a"}}`, route, { traceparent: OURS }),
        ).toBe(`{"_meta":{"traceparent":${value},"tracestate":"a"}}`);
  });

  it('is refused if duplicated, as readers would disagree', () => {
    const twice = `{"jsonrpc":"2.0","id":1,"method":"m","params":{"_meta":{${TP(CLIENT)},${TP(OURS)}}}}`;
    expect(readClientMessage(Buffer.from(twice))).toMatchObject({ kind: 'none', fault: 'ambiguous' });
  });
});

describe('whatever a client sends', () => {
  const member = fc.tuple(
    fc.constantFrom('x', 'name', 'progressToken', 'baggage', 'arguments'),
    fc.jsonValue({ maxDepth: 1 }),
  );
  const objectOf = (members: readonly (readonly [string, unknown])[]): object => Object.fromEntries(members);

  it('the server receives the same plus one trace context, on routes that add no envelope', () => {
    fc.assert(
      fc.property(
        fc.array(member),
        fc.array(member),
        fc.constantFrom<`${Era} to ${Era}`>('legacy to legacy', 'modern to modern', 'modern to legacy'),
        (params, meta, route) => {
          const given = { ...objectOf(params), _meta: objectOf(meta) };
          const got = JSON.parse(sent(JSON.stringify(given), route, { traceparent: OTHER })) as typeof given;
          const expected: Record<string, unknown> = { ...given._meta, traceparent: OTHER };
          if ('progressToken' in expected) expected['progressToken'] = 2;
          // JSON has no negative zero.
          expect(got).toEqual(JSON.parse(JSON.stringify({ ...given, _meta: expected })));
          expect(hasTrace(requestOf(JSON.stringify(given)))).toBe(false);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('a new trace id is unique, and never sampled', () => {
    const start = createTraceStarter();
    const all = Array.from({ length: 10_000 }, () => start().traceparent);
    for (const one of all) expect(one).toMatch(NEW_TRACE);
    expect(new Set(all.map((one) => one.slice(3, 35))).size).toBe(all.length);
    expect(new Set(all.map((one) => one.slice(36, 52))).size).toBe(all.length);
  });
});
