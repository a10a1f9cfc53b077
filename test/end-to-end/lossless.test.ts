import { beforeAll, describe, expect, it } from 'vitest';
import { ODD_TOOLS } from '../fixtures/odd-tools.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { at, parseJson, textAt } from '../support/json.ts';
import { openSession, textOf, type LegacySession } from '../support/legacy.ts';
import { META, MODERN, modernHeaders, modernSend } from '../support/modern.ts';
import { send } from '../support/http.ts';
import { fixture } from '../support/paths.ts';
import type { LinePeer } from '../support/stdio.ts';
import { openStdio } from '../support/stdio-gateway.ts';
import { NEW_TRACE, withoutTrace } from '../support/trace.ts';

const RESULTS: readonly string[] = [
  '{"content":[{"type":"hologram","x":{"deep":[{"unknown":null}]},"text":7}]}',
  '{"content":[],"structuredContent":[1,"two",null]}',
  '{"content":[],"structuredContent":null}',
  '{"content":[],"structuredContent":12345678901234567890}',
  '{"content":[],"structuredContent":{"n":[1.0,-0,1e400,1E-7,0.10,123456789012345678901234567890]}}',
  '{ "content" : [ ] , "a\\u0062c" : "\\u00e9\\/\\ud83d\\ude00é" , "isError" : true }',
  '{"_meta":{"com.example/x":{"a":[]},"progressToken":"not ours"},"content":[],"id":5,"jsonrpc":"1.0","result":{},"error":null}',
  '{}',
  '{"content":[{"type":"text","text":"a","annotations":{"audience":["user"],"custom":1}}],"futureField":{"z":[[[[]]]]}}',
  '{"content":[{"type":"text","text":"same","text":"twice"}]}',
  '{"content":[],"\\"tricky\\\\":"}]{[","nul":"\\u0000"}',
  '{"content":[],"ttlMs":7,"resultType":"mystery","nextCursor":"mine"}',
];

const ERRORS: readonly string[] = [
  '{"code":-32042,"message":"custom failure","data":{"detail":1.0}}',
  '{"code":-32000,"message":"m","data":null,"extra":{"kept":[1]}}',
  '{"code":12345,"message":"","data":[12345678901234567890]}',
  '{"message":"no order","code":1,"x-vendor":true}',
];

const ARGUMENTS: readonly string[] = [
  '{}',
  '{"n":[1.0,-0,1e400,12345678901234567890],"s":"\\u00e9\\/é","o":{"":{"":null}}}',
  '{ "spaced" : true , "tabbed":\t1 }',
  '{"same":1,"same":2}',
  '{"_meta":{"progressToken":"inner"},"name":"odd_say","id":9,"method":"x"}',
  '[1,2,3]',
  '"text"',
  'null',
];

describe('Assay relays byte for byte', () => {
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

  const bodyOf = (name: string, args: string, meta = ''): string =>
    `{"jsonrpc":"2.0","id":"i","method":"tools/call","params":{"name":"${name}","arguments":${args}${meta}}}`;
  const saying = (tool: string, raw: string): string => bodyOf(tool, JSON.stringify({ raw }));

  it.each(RESULTS)('the result %s over HTTP', async (raw) => {
    expect((await session.post(saying('odd_say', raw))).text).toBe(
      `{"jsonrpc":"2.0","id":"i","result":${raw}}`,
    );
  });

  it.each(ERRORS)('the error %s over HTTP', async (raw) => {
    const answer = await session.post(saying('odd_refuse', raw));
    expect([answer.status, answer.text]).toEqual([200, `{"jsonrpc":"2.0","id":"i","error":${raw}}`]);
  });

  it('results and errors over stdio', async () => {
    const expected: string[] = [];
    const before = pipe.lines().length;
    for (const [index, raw] of [...RESULTS, ...ERRORS].entries()) {
      const isResult = index < RESULTS.length;
      pipe.write(`${saying(isResult ? 'odd_say' : 'odd_refuse', raw).replace('"i"', String(index))}\n`);
      expected.push(`{"jsonrpc":"2.0","id":${index},"${isResult ? 'result' : 'error'}":${raw}}`);
    }
    await pipe.next('the last one', (one) => at(one, 'id') === expected.length - 1);
    expect([...pipe.lines().slice(before)].filter((line) => line.includes('"id"')).sort()).toEqual(
      [...expected].sort(),
    );
  });

  it('results for a modern client, except for an added resultType', async () => {
    for (const raw of RESULTS.filter((one) => one !== '{}' && !one.includes('resultType'))) {
      const args = { raw };
      const answer = await modernSend(assay.url, 'tools/call', {
        params: { name: 'odd_say', arguments: args },
      });
      expect(answer.text).toContain(raw.trim().slice(1, -1).trim());
      expect(at(answer.json(), 'result', 'resultType')).toBe('complete');
    }
  });

  it.each(ARGUMENTS)('the arguments %s', async (raw) => {
    const heard = textOf((await session.post(bodyOf('odd_hear', raw))).json());
    expect(withoutTrace(heard)).toContain(`"params":{"name":"hear","arguments":${raw}}}`);
  });

  it('the request’s own unknown members, its _meta and their order', async () => {
    const params =
      '"_meta":{"com.example/a":1.0,"traceparent":"00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"},' +
      '"future":[null],"arguments":{},"name":"odd_hear","more":{"x":1e400}';
    const body = `{"x-extra":true,"method":"tools/call","id":4,"params":{${params}},"jsonrpc":"2.0"}`;
    const heard = textOf((await session.post(body)).json());
    const asked = heard.replace(/"progressToken":\d+,/, '');
    expect(asked).toContain(`"params":{${params.replace('odd_hear', 'hear')}}`);
    expect(heard).toContain('"x-extra":true');
  });

  it('a call without arguments', async () => {
    const heard = textOf(
      (
        await session.post('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"odd_hear"}}')
      ).json(),
    );
    expect(withoutTrace(heard)).toContain('"params":{"name":"hear"}');
  });

  it('a request with line breaks, which becomes one line for a stdio server', async () => {
    const body =
      '{\r\n  "jsonrpc": "2.0",\n  "id": 1,\n  "method": "tools/call",\n  "params": {\n    "name": "odd_hear",\n    "arguments": { "a":\n 1.0 }\n  }\n}\n';
    const heard = textOf((await session.post(body)).json());
    expect(heard).toContain('1.0');
    expect(at(parseJson(withoutTrace(heard)), 'params')).toEqual({ name: 'hear', arguments: { a: 1 } });
  });

  it('other members of _meta to a legacy server, but not a modern envelope', async () => {
    const params = {
      _meta: {
        [`${META}protocolVersion`]: MODERN,
        [`${META}clientCapabilities`]: {},
        'com.example/kept': { a: 1 },
      },
      name: 'odd_hear',
      arguments: {},
    };
    const answer = await send(assay.url, {
      headers: modernHeaders('tools/call', params),
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
    });
    expect(at(parseJson(textOf(answer.json())), 'params')).toEqual({
      _meta: {
        traceparent: expect.stringMatching(NEW_TRACE) as string,
        progressToken: expect.any(Number) as number,
        'com.example/kept': { a: 1 },
      },
      name: 'hear',
      arguments: {},
    });
  });

  it('definitions, except for their names', async () => {
    const text = (await session.post('{"jsonrpc":"2.0","id":1,"method":"tools/list"}')).text;
    const expected = ODD_TOOLS.map((tool) => tool.replace('"name":"', '"name":"odd_')).join(',');
    expect(text).toContain(`"tools":[${expected}]`);
  });

  it('resources and prompts with unknown members', async () => {
    const resources = await session.ask('resources/list');
    expect(at(resources, 'result', 'resources')).toEqual([
      { uri: 'odd://x', name: 'x', future: { deep: [null] }, size: 3 },
    ]);
    expect(at(await session.ask('prompts/list'), 'result', 'prompts')).toEqual([
      { name: 'odd_odd', future: [{}] },
    ]);
    expect(at(await session.ask('resources/read', { uri: 'odd://x' }), 'result')).toEqual({
      contents: [{ uri: 'odd://x', blob: 'AAEC', future: 1 }],
      extra: true,
    });
    expect(at(await session.ask('prompts/get', { name: 'odd_odd' }), 'result')).toEqual({
      messages: [{ role: 'user', content: { type: 'hologram', at: 'odd' } }],
      future: 'yes',
    });
  });

  it('and never the id of a client', async () => {
    const body = bodyOf('odd_hear', '{}').replace('"i"', '"a-secret-id"');
    expect(textAt((await session.post(body)).json(), 'result', 'content', 0, 'text')).not.toContain(
      'a-secret-id',
    );
  });
});
