import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { modernSend } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';
import type { LinePeer } from '../support/stdio.ts';
import { openStdio } from '../support/stdio-gateway.ts';
import { withoutTrace } from '../support/trace.ts';

/** JSON text in spellings that parsing and printing would not preserve. */
const space = fc.constantFrom('', '', '', ' ', '\t', '  ');
const number = fc.oneof(
  fc.constantFrom('0', '-0', '1.0', '1e400', '-1E-400', '0.10', '12345678901234567890', '1E+2'),
  fc.integer().map(String),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => JSON.stringify(value)),
);
const letter = fc.oneof(
  fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }).map((one) => JSON.stringify(one).slice(1, -1)),
  fc.constantFrom(
    '\\u0041',
    '\\/',
    '\\"',
    '\\\\',
    '\\ud83d\\ude00',
    '\\ud800',
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '\u2028',
  ),
);
const text = fc.array(letter, { maxLength: 8 }).map((letters) => `"${letters.join('')}"`);
const key = fc.oneof(
  text,
  fc.constantFrom(
    '"id"',
    '"name"',
    '"_meta"',
    '"result"',
    '"error"',
    '"method"',
    '"params"',
    '"progressToken"',
  ),
);
const { value } = fc.letrec<{ value: string; list: string; object: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false'),
    number,
    text,
    tie('list'),
    tie('object'),
  ),
  list: fc
    .tuple(fc.array(tie('value'), { maxLength: 4 }), space)
    .map(([values, gap]) => `[${gap}${values.join(`,${gap}`)}${gap}]`),
  object: fc
    .tuple(fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }), space)
    .map(
      ([members, gap]) => `{${gap}${members.map(([name, one]) => `${name}${gap}:${gap}${one}`).join(',')}}`,
    ),
}));

const RUNS = { numRuns: 150 };

describe('random JSON is relayed byte for byte', () => {
  let assay: Gateway;
  let session: LegacySession;
  let pipe: LinePeer;
  beforeAll(async () => {
    const servers = { odd: fixture('odd') };
    assay = await startGateway({ servers });
    session = await openSession(assay.url);
    pipe = openStdio({ servers });
    await pipe.initialize();
    await Promise.all([session.ask('tools/list'), pipe.ask('tools/list')]);
  });

  it('as arguments, on the way to the server', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (raw) => {
        const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"odd_hear","arguments":${raw}}}`;
        const heard = textOf((await session.post(body)).json());
        expect(withoutTrace(heard)).toContain(`"params":{"name":"hear","arguments":${raw}}}`);
      }),
      RUNS,
    );
  });

  it('as a result, on the way to the client', async () => {
    await fc.assert(
      fc.asyncProperty(value, key, async (raw, name) => {
        const result = `{"content":[],"structuredContent":${raw},"x":{${name}:${raw}}}`;
        const said = JSON.stringify({ raw: result });
        const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"odd_say","arguments":${said}}}`;
        expect((await session.post(body)).text).toBe(`{"jsonrpc":"2.0","id":1,"result":${result}}`);
      }),
      RUNS,
    );
  });

  it('as an error’s data, on the way to the client', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (raw) => {
        const error = `{"code":-1,"message":"m","data":${raw},"x":${raw}}`;
        const said = JSON.stringify({ raw: error });
        const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"odd_refuse","arguments":${said}}}`;
        expect((await session.post(body)).text).toBe(`{"jsonrpc":"2.0","id":1,"error":${error}}`);
      }),
      RUNS,
    );
  });

  it('on stdio, both ways', async () => {
    let id = 0;
    await fc.assert(
      fc.asyncProperty(value, async (raw) => {
        const mine = ++id;
        const body = `{"jsonrpc":"2.0","id":${mine},"method":"tools/call","params":{"name":"odd_hear","arguments":${raw}}}`;
        pipe.write(`${body}\n`);
        const answer = await pipe.next('the echo', (one) => at(one, 'id') === mine);
        expect(withoutTrace(textOf(answer))).toContain(`"params":{"name":"hear","arguments":${raw}}}`);
      }),
      { numRuns: 40 },
    );
  });

  it('for modern clients, in the members of a result', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (raw) => {
        const members = `"content":[],"structuredContent":${raw}`;
        const answer = await modernSend(assay.url, 'tools/call', {
          params: { name: 'odd_say', arguments: { raw: `{${members}}` } },
        });
        expect(answer.text).toContain(members);
        expect(at(answer.json(), 'result', 'resultType')).toBe('complete');
      }),
      RUNS,
    );
  });
});
