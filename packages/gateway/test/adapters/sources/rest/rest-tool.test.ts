// How the arguments of a REST tool are used.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Cancellation, Cancelled } from '@assay-mcp/kit/cancellation';
import { createRestTool } from '../../../../src/adapters/sources/rest/rest-tool.ts';
import { readRestTool } from '../../../../src/core/sources/read-rest-tool.ts';
import { call, filters, loopbackHttp, made, serveTool, shown } from './serve-tool.ts';

const http = loopbackHttp();

describe('the definition of a REST tool', () => {
  it('follows its entry, and its method is reported only if given', () => {
    const entry = {
      url: 'http://127.0.0.1/{id}',
      method: 'get',
      description: 'Reads.',
      annotations: { readOnlyHint: true },
    };
    const spec = readRestTool('get-userById', entry);
    const tool = spec.ok && createRestTool(spec.value, { http, filters: filters() });
    expect(tool && tool.ok && tool.value.definition).toEqual({
      name: 'get-userById',
      description: 'Reads.',
      inputSchema: { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] },
      annotations: { readOnlyHint: true },
    });
    expect(tool && tool.ok && tool.value.facts).toEqual({
      kind: 'rest',
      method: 'GET',
      target: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
    });
    expect(made({ url: 'http://127.0.0.1/' }, http).facts).not.toHaveProperty('method');
  });

  it.each([
    [{ filter: 'a[' }, /^The filter is not a JMESPath expression: .+\.$/],
    [
      { filter: `${'!'.repeat(4_000)}a` },
      'The filter is not a JMESPath expression: the expression is nested too deeply.',
    ],
    [{ filter: 'nothing(@)' }, 'The filter is not a JMESPath expression: unknown function "nothing".'],
    [
      { inputSchema: { type: 'object', properties: { a: { type: 'objekt' } } } },
      /^The inputSchema cannot be used: /,
    ],
    [
      { outputSchema: { type: 'object', $ref: 'https://elsewhere.example/' } },
      /^The outputSchema cannot be used: /,
    ],
  ])('is invalid with %j', (member, expected) => {
    const spec = readRestTool('tool', { url: 'http://127.0.0.1/', ...member });
    const tool = spec.ok && createRestTool(spec.value, { http, filters: filters() });
    expect(tool && !tool.ok && tool.error).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
  });

  it('may have draft 7 schemas, and the same $id as another tool', () => {
    const outputSchema = { $schema: 'http://json-schema.org/draft-07/schema#', $id: 'same', type: 'object' };
    for (let times = 0; times < 2; times += 1)
      expect(
        made({ url: 'http://127.0.0.1/', outputSchema, outputValidation: 'strict' }, http).definition
          .outputSchema,
      ).toEqual(outputSchema);
  });

  it.each<[what: string, promised: object, listed: object]>([
    [
      'beside an empty one',
      { type: 'object', title: 'Pet', format: 'x' },
      { type: 'object', anyOf: [{ type: 'object', title: 'Pet', format: 'x' }, {}] },
    ],
    [
      'with its definitions where their references lead',
      { type: 'object', properties: { a: { $ref: '#/$defs/A' } }, $defs: { A: {} } },
      {
        type: 'object',
        anyOf: [{ type: 'object', properties: { a: { $ref: '#/$defs/A' } } }, {}],
        $defs: { A: {} },
      },
    ],
    [
      'not at all if it refers to itself',
      { type: 'object', properties: { a: { $ref: '#' } } },
      { type: 'object' },
    ],
    ['not at all if it has an address', { type: 'object', $id: 'x' }, { type: 'object' }],
  ])('lists an output schema by default %s', (_, outputSchema, listed) => {
    expect(made({ url: 'http://127.0.0.1/', outputSchema }, http).definition.outputSchema).toEqual(listed);
  });
});

describe('a path argument', () => {
  it.each([
    ['"a/b?x=1#y"', '/v1/a%2Fb%3Fx%3D1%23y/end'],
    ['"100%\\\\x;é"', '/v1/100%25%5Cx%3B%C3%A9/end'],
    ['"%2F"', '/v1/%252F/end'],
    ['12345678901234567890', '/v1/12345678901234567890/end'],
    ['2.50', '/v1/2.50/end'],
    ['1e3', '/v1/1e3/end'],
    ['true', '/v1/true/end'],
    ['"..."', '/v1/.../end'],
    ['"@evil.example"', '/v1/%40evil.example/end'],
  ])('%s stays in its segment', async (value, path) => {
    const echo = await serveTool();
    const inputSchema = { type: 'object', properties: { id: {} } };
    await call(echo.tool({ url: '/v1/{id}/end', method: 'GET', inputSchema }), `{"id": ${value}}`);
    expect(echo.seen.map(({ line }) => line)).toEqual([`GET ${path}`]);
  });

  it.each([
    ['".."', 'contains "." or "..", which would change the path'],
    ['"."', 'contains "." or "..", which would change the path'],
    ['"%2e%2E"', 'contains "." or "..", which would change the path'],
    ['"%252e."', 'contains "." or "..", which would change the path'],
    ['"../admin"', 'contains "." or "..", which would change the path'],
    ['"a\\\\..\\\\b"', 'contains "." or "..", which would change the path'],
    ['""', 'is empty, and a path segment cannot be empty'],
    ['null', 'is missing, and a path segment cannot be empty'],
    ['{"a":1}', 'is an object or a list, which is not possible there'],
    ['["a"]', 'is an object or a list, which is not possible there'],
    ['"\\ud800"', 'contains an incomplete character (a lone surrogate)'],
  ])('%s is refused, and nothing is sent', async (value, phrase) => {
    const echo = await serveTool();
    const inputSchema = { type: 'object', properties: { id: {} } };
    const result = await call(echo.tool({ url: '/v1/{id}/end', inputSchema }), `{"id": ${value}}`);
    expect([shown(result), echo.seen]).toEqual([`error: The argument "id" ${phrase}. Nothing was sent.`, []]);
  });

  it('cannot form a dot segment together with the text around it', async () => {
    const echo = await serveTool();
    const result = await call(echo.tool({ url: '/v1/.{id}' }), '{"id": "%2e"}');
    expect(shown(result)).toBe(
      'error: The argument "id" contains "." or "..", which would change the path. Nothing was sent.',
    );
    const both = await call(echo.tool({ url: '/v1/.{a}{b}' }), '{"a": "x", "b": "y"}');
    expect([shown(both), echo.seen[0]?.line]).toEqual(['{}', 'POST /v1/.xy']);
  });

  it('changes neither the host nor the number of segments, whatever its value', async () => {
    const sent: URL[] = [];
    const tool = made(
      { url: 'https://api.example/v1/{a}/x-{b}.json?q={c}', method: 'GET', queryMapping: { d: 'd' } },
      {
        send: async ({ url }) => {
          sent.push(url);
          return { ok: false, error: 'sent' };
        },
        close: async () => {},
      },
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[./\\%2eE?#@:&=; \r\n\t]{0,8}$/),
      fc.double().map(String),
    );
    await fc.assert(
      fc.asyncProperty(fc.record({ a: text, b: text, c: text, d: text, e: text }), async (values) => {
        sent.length = 0;
        const output = shown(await call(tool, JSON.stringify(values)));
        const [url] = sent;
        if (url === undefined) {
          expect(output).toMatch(/^error: The argument "[a-e]" /);
          return;
        }
        const again = new URL(url.href);
        expect([again.origin, again.hash, again.username]).toEqual(['https://api.example', '', '']);
        const [, v1, a, b, ...more] = again.pathname.split('/');
        expect([v1, decodeURIComponent(a!), decodeURIComponent(b!), more]).toEqual([
          'v1',
          values.a,
          `x-${values.b}.json`,
          [],
        ]);
        expect([...again.searchParams]).toEqual([
          ['q', values.c],
          ['d', values.d],
          ['e', values.e],
        ]);
      }),
      { numRuns: 500 },
    );
  });
});

describe('a query argument', () => {
  it('is added for methods without a body, and a list once per element', async () => {
    const echo = await serveTool();
    const text = '{"a b": "c&d=é", "n": [1.0, 12345678901234567890, "x"], "t": true, "z": null}';
    for (const method of ['GET', 'HEAD', 'DELETE', 'OPTIONS'])
      await call(echo.tool({ url: '/?fixed=1', method, queryMapping: { t: 'flag' } }), text);
    const query = '/?fixed=1&flag=true&a%20b=c%26d%3D%C3%A9&n=1.0&n=12345678901234567890&n=x';
    expect(echo.seen.map(({ line, body }) => [line, body])).toEqual(
      ['GET', 'HEAD', 'DELETE', 'OPTIONS'].map((method) => [`${method} ${query}`, '']),
    );
  });

  it.each([
    ['fixed', 'would set a query parameter that this tool sets itself', '"2"'],
    ['key', 'would set a query parameter that this tool sets itself', '"2"'],
    ['flag', 'would set a query parameter that this tool sets itself', '"2"'],
    ['deep', 'is an object or a list, which is not possible there', '{"a": 1}'],
    ['deep', 'contains an object, a list, or something that is not text', '[[1]]'],
  ])('called %s is refused if it %s', async (name, phrase, value) => {
    const echo = await serveTool();
    const auth = { type: 'query', name: 'key', value: 'secret' };
    const tool = echo.tool({ url: '/?fixed=1', method: 'GET', auth, queryMapping: { t: 'flag' } });
    const result = await call(tool, `{"${name}": ${value}}`);
    expect([shown(result), echo.seen]).toEqual([
      `error: The argument "${name}" ${phrase}. Nothing was sent.`,
      [],
    ]);
  });

  it('is omitted if it is missing', async () => {
    const echo = await serveTool();
    const inputSchema = { type: 'object', properties: { a: {}, b: {}, c: {} } };
    const tool = echo.tool({ url: '/?x={a}&y={b}-{c}&z=1', method: 'GET', inputSchema });
    await call(tool, '{}');
    await call(tool, '{"a": ["1", 2.0], "b": "&", "c": 3}');
    expect(echo.seen.map(({ line }) => line)).toEqual(['GET /?z=1', 'GET /?x=1&x=2.0&y=%26-3&z=1']);
  });
});

describe('a header argument', () => {
  const entry = { method: 'GET', headerMapping: { trace: 'X-Trace' } };

  it('is sent in its header only', async () => {
    const echo = await serveTool();
    await call(echo.tool(entry), '{"trace": 12345678901234567890}');
    await call(echo.tool(entry), '{"trace": "\u00fcber"}');
    expect(echo.seen.map(({ line, headers }) => [line, headers['x-trace']])).toEqual([
      ['GET /', '12345678901234567890'],
      ['GET /', '\u00fcber'],
    ]);
  });

  it.each(['"a\\r\\nX-Evil: 1"', '"a\\nb"', '"\\u0000"', '"\\u20ac"'])('%s is refused', async (value) => {
    const echo = await serveTool();
    const result = await call(echo.tool(entry), `{"trace": ${value}}`);
    const phrase = 'contains a line break or a character that is not allowed in a header';
    expect([shown(result), echo.seen]).toEqual([
      `error: The argument "trace" ${phrase}. Nothing was sent.`,
      [],
    ]);
  });
});

describe('a body', () => {
  it('is a JSON object of all other arguments, with numbers as written', async () => {
    const echo = await serveTool();
    const entry = { url: '/{id}', queryMapping: { q: 'q' }, headerMapping: { h: 'x-h' } };
    const text =
      '{"id": "1", "big": 12345678901234567890, "q": "2", "deep": {"f": 2.50, "l": [1e2]}, "h": "3", "é\\n": null}';
    for (const method of ['POST', 'PUT', 'PATCH']) await call(echo.tool({ ...entry, method }), text);
    const body = '{"big":12345678901234567890,"deep":{"f":2.50,"l":[1e2]},"é\\n":null}';
    expect(echo.seen.map(({ line, body, headers }) => [line, body, headers['content-type']])).toEqual(
      ['POST', 'PUT', 'PATCH'].map((method) => [`${method} /1?q=2`, body, 'application/json']),
    );
  });

  it('holds each argument once, as validated', async () => {
    const echo = await serveTool();
    await call(echo.tool({}), '{"a": 1, "a": 2}');
    await call(echo.tool({}), '{}');
    expect(echo.seen.map(({ body }) => body)).toEqual(['{"a":2}', '{}']);
  });

  it('is sent unchanged, however deeply it nests', async () => {
    const echo = await serveTool();
    const deep = `{"a":${'['.repeat(1_000)}1.0${']'.repeat(1_000)}}`;
    await call(echo.tool({}), deep);
    expect(echo.seen[0]?.body).toBe(deep);
  });

  it('can be a form', async () => {
    const echo = await serveTool();
    const tool = echo.tool({ bodyType: 'form' });
    await call(tool, '{"a b": "c&d é", "n": [1.0, 2], "z": null}');
    const refused = await call(tool, '{"deep": {}}');
    expect(echo.seen.map(({ body, headers }) => [body, headers['content-type']])).toEqual([
      ['a%20b=c%26d%20%C3%A9&n=1.0&n=2', 'application/x-www-form-urlencoded'],
    ]);
    expect(shown(refused)).toBe(
      'error: The argument "deep" is an object or a list, which is not possible there. Nothing was sent.',
    );
  });
});

describe('the credential', () => {
  it.each([
    [{ type: 'bearer', token: 'abc' }, { authorization: 'Bearer abc' }, '/'],
    [
      { type: 'basic', username: 'Aladdin', password: 'open sesame' },
      { authorization: 'Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==' },
      '/',
    ],
    [{ type: 'header', name: 'X-Api-Key', value: 'abc' }, { 'x-api-key': 'abc' }, '/'],
    [{ type: 'query', name: 'api key', value: 'a&b' }, {}, '/?api%20key=a%26b'],
  ])('is sent as %j', async (auth, headers, path) => {
    const echo = await serveTool();
    await call(echo.tool({ method: 'GET', auth }), '{}');
    expect(echo.seen).toMatchObject([{ line: `GET ${path}`, headers }]);
  });

  it('is not sent to another origin, nor are other custom headers', async () => {
    const other = await serveTool((_, response) => response.end('there'));
    const echo = await serveTool((_, response) => response.writeHead(302, { location: other.origin }).end());
    const auth = { type: 'header', name: 'X-One', value: 'secret' };
    const entry = {
      method: 'GET',
      auth,
      headers: { 'X-Two': 'secret', Accept: 'text/plain' },
      headerMapping: { a: 'X-Three' },
    };
    const result = await call(echo.tool(entry), '{"a": "secret"}');
    const headers = other.seen[0]?.headers ?? {};
    expect([shown(result), JSON.stringify(headers).includes('secret'), headers.accept]).toEqual([
      'there',
      false,
      'text/plain',
    ]);
    expect(JSON.stringify(echo.seen[0]?.headers).match(/secret/g)).toHaveLength(3);
  });

  it('does not appear in an error message', async () => {
    const auth = { type: 'query', name: 'key', value: 'secret' };
    const tool = made({ url: 'http://nobody.invalid/a', auth, headers: { 'X-Key': 'secret' } }, http);
    expect(shown(await call(tool, '{}'))).toBe(
      'error: "http://nobody.invalid/a" has a host name that is not known (ENOTFOUND).',
    );
  });
});

it("the operator's headers replace the default ones", async () => {
  const echo = await serveTool();
  await call(
    echo.tool({ headers: { 'Content-Type': 'application/vnd.api+json', accept: 'text/csv' } }),
    '{}',
  );
  expect(echo.seen[0]?.headers).toMatchObject({
    'content-type': 'application/vnd.api+json',
    accept: 'text/csv',
    'user-agent': 'assay/0.1.0',
  });
});

it('a cancelled call rejects', async () => {
  const echo = await serveTool(() => {});
  const cancellation = new Cancellation();
  setTimeout(() => cancellation.cancel(), 50);
  await expect(call(echo.tool({}), '{}', cancellation)).rejects.toThrow(Cancelled);
});
