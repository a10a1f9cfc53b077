// The HTTP request that a call of an OpenAPI tool sends.
import { beforeAll, describe, expect, it } from 'vitest';
import { echoWeb, type EchoWeb, type Seen } from '../../../../../../test/support/echo-web.ts';
import type { Json, JsonObject } from '../../../../../../test/support/json.ts';
import { operationOf } from '../../../../../../test/support/openapi-document.ts';
import { callTool, textIn, toolsIn } from '../../../../../../test/support/openapi-source.ts';

let web: EchoWeb;
beforeAll(async () => {
  web = await echoWeb();
});

interface Tried {
  readonly seen: readonly Seen[];
  readonly text: string;
}

async function tried(operation: JsonObject, args: unknown, server = web.url): Promise<Tried> {
  const { tools, skipped } = await toolsIn(operationOf(operation, { servers: [{ url: server }] }));
  expect(skipped).toEqual([]);
  const text = textIn(await callTool(tools[0]!, args));
  return { seen: web.taken(), text };
}

const LIST = ['blue', 'black', 'brown'];
const COLOURS = { R: 100, G: 200 };
const any = (name: string, place: string, more: JsonObject = {}): JsonObject => ({
  name,
  in: place,
  schema: {},
  ...more,
});

describe('a path', () => {
  // OpenAPI 3.1.1, section 4.8.12.4, following RFC 6570 where they differ.
  it.each<[style: JsonObject, value: Json, path: string]>([
    [{}, 'blue', 'blue'],
    [{}, LIST, 'blue,black,brown'],
    [{}, COLOURS, 'R,100,G,200'],
    [{ explode: true }, LIST, 'blue,black,brown'],
    [{ explode: true }, COLOURS, 'R=100,G=200'],
    [{ style: 'label' }, 'blue', '.blue'],
    [{ style: 'label' }, LIST, '.blue,black,brown'],
    [{ style: 'label', explode: true }, LIST, '.blue.black.brown'],
    [{ style: 'label' }, COLOURS, '.R,100,G,200'],
    [{ style: 'label', explode: true }, COLOURS, '.R=100.G=200'],
    [{ style: 'matrix' }, 'blue', ';color=blue'],
    [{ style: 'matrix' }, '', ';color'],
    [{ style: 'matrix' }, LIST, ';color=blue,black,brown'],
    [{ style: 'matrix', explode: true }, LIST, ';color=blue;color=black;color=brown'],
    [{ style: 'matrix' }, COLOURS, ';color=R,100,G,200'],
    [{ style: 'matrix', explode: true }, COLOURS, ';R=100;G=200'],
    [
      { schema: undefined as never, content: { 'application/json': {} } },
      { a: [1] },
      '%7B%22a%22%3A%5B1%5D%7D',
    ],
    [{}, 'a/b?c#d%2Fe&f=g h;i\\j', 'a%2Fb%3Fc%23d%252Fe%26f%3Dg%20h%3Bi%5Cj'],
    [{}, "ü'()*!@:", '%C3%BC%27%28%29%2A%21%40%3A'],
    [{}, '...', '...'],
    [{}, 'a..b', 'a..b'],
    [{}, ['a,b', 'c'], 'a%2Cb,c'],
    [{}, true, 'true'],
    [{}, 'http://evil.example/', 'http%3A%2F%2Fevil.example%2F'],
  ])('with a parameter of %j serializes %j as %s', async (style, value, path) => {
    const { seen } = await tried(
      { path: '/c/{color}/d', parameters: [any('color', 'path', style)] },
      { color: value },
    );
    expect(seen.map(({ url }) => url)).toEqual([`/c/${path}/d`]);
  });

  it.each<[template: string, value: Json]>([
    ['/c/{color}', '..'],
    ['/c/{color}', '.'],
    ['/c/{color}', ''],
    ['/c/{color}', null],
    ['/c/{color}', []],
    ['/c/{color}', '../admin'],
    ['/c/{color}', 'a/../../admin'],
    ['/c/{color}', '..\\admin'],
    ['/c/{color}', '%2e%2e'],
    ['/c/{color}', '%252e.'],
    ['/c/{color}', ['..']],
    ['/c/.{color}', '.'],
    ['/c/{color}.', '.'],
    ['/c/{color}', '\ud800'],
  ])(
    '%s cannot be altered by %j: nothing is sent, and the error names the argument',
    async (template, value) => {
      const { seen, text } = await tried(
        { path: template, parameters: [any('color', 'path')] },
        { color: value },
      );
      expect(seen).toEqual([]);
      expect(text).toMatch(/^ERROR The argument "color" .*Nothing was sent\.$/);
    },
  );

  it('keeps what the server URL and the document contain, including a query', async () => {
    const operation = { path: '/a b/{id}/ü|%2F?fixed=1', parameters: [any('q', 'query')] };
    const { seen } = await tried(operation, { id: 7, q: 'x' }, `${web.url}/base/v1/?key=k`);
    expect(seen.map(({ url }) => url)).toEqual(['/base/v1/a%20b/7/%C3%BC%7C%2F?key=k&fixed=1&q=x']);
  });

  it('may be followed by query parameters named like members of Object.prototype', async () => {
    const parameters = ['__proto__', 'constructor', 'toString'].map((name) => any(name, 'query'));
    const { seen } = await tried({ parameters }, { proto: 1, constructor: 2 });
    expect(seen.map(({ url }) => url)).toEqual(['/x?__proto__=1&constructor=2']);
  });

  it('accepts a parameter that the document does not declare', async () => {
    const { seen } = await tried({ path: '/x/{id}' }, { id: 'a' });
    expect(seen.map(({ url }) => url)).toEqual(['/x/a']);
  });
});

describe('a query', () => {
  it.each<[style: JsonObject, value: Json, query: string]>([
    [{}, 'blue', 'color=blue'],
    [{}, '', 'color='],
    [{}, LIST, 'color=blue&color=black&color=brown'],
    [{}, COLOURS, 'R=100&G=200'],
    [{}, [], ''],
    [{}, null, ''],
    [{}, ['a', null, 'b'], 'color=a&color=b'],
    [{ explode: false }, LIST, 'color=blue,black,brown'],
    [{ explode: false }, COLOURS, 'color=R,100,G,200'],
    [{ style: 'spaceDelimited' }, LIST, 'color=blue%20black%20brown'],
    [{ style: 'spaceDelimited', explode: true }, LIST, 'color=blue&color=black&color=brown'],
    [{ style: 'pipeDelimited' }, LIST, 'color=blue%7Cblack%7Cbrown'],
    [{ style: 'deepObject', explode: true }, COLOURS, 'color%5BR%5D=100&color%5BG%5D=200'],
    [
      { style: 'deepObject' },
      { a: { b: 'c' }, d: [1, 2] },
      'color%5Ba%5D%5Bb%5D=c&color%5Bd%5D=1&color%5Bd%5D=2',
    ],
    [
      { schema: undefined as never, content: { 'application/json': {} } },
      { a: 1 },
      'color=%7B%22a%22%3A1%7D',
    ],
    [{}, 'a&b=c#d+e f', 'color=a%26b%3Dc%23d%2Be%20f'],
    [{ allowReserved: true }, "/a:b?c@d;e,f$g'h", 'color=/a:b?c@d;e,f$g%27h'],
    [{ allowReserved: true }, 'a&b=c#d+e f%20[x]', 'color=a%26b%3Dc%23d%2Be%20f%2520%5Bx%5D'],
    [{ name: 'a&b[]' }, 'x', 'a%26b%5B%5D=x'],
  ])('with a parameter of %j serializes %j as %s', async (style, value, query) => {
    const name = style['name'] === undefined ? 'color' : 'a_b';
    const { seen } = await tried({ parameters: [any('color', 'query', style)] }, { [name]: value });
    expect(seen.map(({ url }) => url)).toEqual([query === '' ? '/x' : `/x?${query}`]);
  });

  it('keeps numbers as the client wrote them, as do paths, headers and cookies', async () => {
    const numbers = ['12345678901234567890123', '2.5E+3', '1.500', '-0.0', '1e-7', '0.1234567890123456789'];
    const operation = {
      path: '/n/{id}',
      parameters: [any('q', 'query'), any('h', 'header'), any('c', 'cookie')],
    };
    for (const number of numbers) {
      const { seen } = await tried(operation, `{"id":${number},"q":[${number}],"h":${number},"c":${number}}`);
      const encoded = number.replace('+', '%2B');
      expect([seen[0]?.url, seen[0]?.headers['h'], seen[0]?.headers.cookie]).toEqual([
        `/n/${encoded}?q=${encoded}`,
        number,
        `c=${encoded}`,
      ]);
    }
  });
});

describe('headers and cookies', () => {
  it.each<[style: JsonObject, value: Json, header: string | undefined]>([
    [{}, 'blue', 'blue'],
    [{}, LIST, 'blue,black,brown'],
    [{}, COLOURS, 'R,100,G,200'],
    [{ explode: true }, COLOURS, 'R=100,G=200'],
    [{ schema: undefined as never, content: { 'application/json': {} } }, { a: 1 }, '{"a":1}'],
    [{}, null, undefined],
  ])('with a parameter of %j serialize %j as %s', async (style, value, header) => {
    const { seen } = await tried({ parameters: [any('X-Color', 'header', style)] }, { 'X-Color': value });
    expect(seen.map(({ headers }) => headers['x-color'])).toEqual([header]);
  });

  it.each(['a\r\nX-Evil: 1', 'a\nb', 'a\u0000b', '→', '\ud800'])(
    'cannot contain %j: nothing is sent',
    async (value) => {
      const { seen, text } = await tried({ parameters: [any('X-Color', 'header')] }, { 'X-Color': value });
      expect(seen).toEqual([]);
      expect(text).toMatch(/^ERROR The argument "X-Color" .*Nothing was sent\.$/);
    },
  );

  it.each<[style: JsonObject, value: Json, cookie: string | undefined]>([
    [{}, 'a; admin=1', 'c=a%3B%20admin%3D1'],
    [{}, ['a', 'b'], 'c=a; c=b'],
    [{ explode: false }, ['a', 'b'], 'c=a,b'],
    [{}, null, undefined],
  ])('with a cookie of %j serialize %j as %s', async (style, value, cookie) => {
    const { seen } = await tried({ parameters: [any('c', 'cookie', style)] }, { c: value });
    expect(seen.map(({ headers }) => headers.cookie)).toEqual([cookie]);
  });

  it('accept JSON first, or a type that the document declares', async () => {
    const asked = async (content: JsonObject): Promise<unknown> => {
      const { seen } = await tried({ responses: { '200': { description: '', content } } }, {});
      return seen[0]?.headers.accept;
    };
    expect(await asked({})).toBe('application/json, */*;q=0.8');
    expect(await asked({ 'text/csv': {}, 'application/vnd.x+json': {} })).toBe(
      'application/vnd.x+json, */*;q=0.8',
    );
    expect(await asked({ 'text/csv': {} })).toBe('text/csv, */*;q=0.8');
  });
});

describe('a body', () => {
  const taking = (type: string, media: JsonObject, more: JsonObject = {}): JsonObject => ({
    method: 'post',
    requestBody: { required: true, content: { [type]: media }, ...more },
  });
  const object = (...names: readonly string[]): JsonObject => ({
    schema: { type: 'object', properties: Object.fromEntries(names.map((name) => [name, {}])) },
  });

  it.each<[type: string, media: JsonObject, args: string, contentType: string, body: string]>([
    [
      'application/json',
      object('a', 'b'),
      '{"b":12345678901234567890,"a":{"c":[1.50,null]}}',
      'application/json',
      '{"a":{"c":[1.50,null]},"b":12345678901234567890}',
    ],
    ['application/json', {}, '{"body":[1,"x"]}', 'application/json', '[1,"x"]'],
    ['application/json', {}, '{"body":null}', 'application/json', 'null'],
    ['application/json', object('a'), '{}', 'application/json', '{}'],
    ['application/json', object('a'), '{"a":"\\ud800"}', 'application/json', '{"a":"\\ud800"}'],
    ['application/vnd.api+json; v=1', object('a'), '{"a":1}', 'application/vnd.api+json; v=1', '{"a":1}'],
    ['*/*', object('a'), '{"a":1}', 'application/json', '{"a":1}'],
    ['text/plain', { schema: { type: 'string' } }, '{"body":"hä"}', 'text/plain; charset=utf-8', 'hä'],
    [
      'application/x-www-form-urlencoded',
      object('a', 'b', 'c', 'd'),
      '{"a":"x y&z=1+2","b":[1.0,2],"c":{"d":1},"d":null}',
      'application/x-www-form-urlencoded',
      'a=x%20y%26z%3D1%2B2&b=1.0&b=2&c=%7B%22d%22%3A1%7D',
    ],
    [
      'application/x-www-form-urlencoded',
      { ...object('b', 'c'), encoding: { b: { explode: false }, c: { style: 'deepObject' } } },
      '{"b":[1,2],"c":{"d":1}}',
      'application/x-www-form-urlencoded',
      'b=1,2&c%5Bd%5D=1',
    ],
  ])('of type %s with %j is serialized from %s', async (type, media, args, contentType, body) => {
    const { seen } = await tried(taking(type, media), args);
    expect(seen.map(({ headers, body: sent }) => [headers['content-type'], sent])).toEqual([
      [contentType, body],
    ]);
  });

  it('is omitted if it is optional and has no value', async () => {
    const { seen } = await tried(taking('application/json', object('a'), { required: false }), {});
    expect(seen.map(({ headers, body }) => [headers['content-type'], body])).toEqual([[undefined, '']]);
  });

  it('may have parts of text, JSON and file bytes', async () => {
    const schema = {
      type: 'object',
      properties: {
        note: { type: 'string' },
        more: { type: 'object' },
        file: { type: 'string', format: 'binary' },
        files: { type: 'array', items: { type: 'string', format: 'binary' } },
        picture: { type: 'string', contentMediaType: 'image/png' },
      },
    };
    const encoding = { picture: { contentType: 'image/png, image/jpeg' } };
    const base64 = (text: string): string => Buffer.from(text).toString('base64');
    const args = {
      note: 'a\r\nb',
      more: { n: 1 },
      file: base64('first\u0000'),
      files: [base64('x'), base64('y')],
      picture: base64('png'),
    };
    const { seen } = await tried(taking('multipart/form-data', { schema, encoding }), args);
    const [, boundary = ''] = /boundary=(.*)/.exec(seen[0]?.headers['content-type'] ?? '') ?? [];
    expect(seen[0]?.body.split(`--${boundary}`)).toEqual([
      '',
      '\r\nContent-Disposition: form-data; name="note"\r\n\r\na\r\nb\r\n',
      '\r\nContent-Disposition: form-data; name="more"\r\nContent-Type: application/json\r\n\r\n{"n":1}\r\n',
      '\r\nContent-Disposition: form-data; name="file"; filename="file"\r\nContent-Type: application/octet-stream\r\n\r\nfirst\u0000\r\n',
      '\r\nContent-Disposition: form-data; name="files"; filename="files"\r\nContent-Type: application/octet-stream\r\n\r\nx\r\n',
      '\r\nContent-Disposition: form-data; name="files"; filename="files"\r\nContent-Type: application/octet-stream\r\n\r\ny\r\n',
      '\r\nContent-Disposition: form-data; name="picture"; filename="picture"\r\nContent-Type: image/png\r\n\r\npng\r\n',
      '--\r\n',
    ]);
  });

  it('is not sent if a file is not Base64, and the error names the argument', async () => {
    const schema = { type: 'object', properties: { file: { type: 'string', format: 'binary' } } };
    for (const file of ['not base64!', 'abcde', 'a', 'ab=c']) {
      const { seen, text } = await tried(taking('multipart/form-data', { schema }), { file });
      expect([seen, text]).toEqual([[], 'ERROR The argument "file" must be Base64.']);
    }
  });

  it.each<[type: string, media: JsonObject, sent: string]>([
    ['image/png', { schema: { type: 'string', format: 'binary' } }, '\u0000\u0001'],
    ['application/octet-stream', {}, '\u0000\u0001'],
    ['application/vnd.of-somebody; version=1', { schema: {} }, '\u0000\u0001'],
    ['image/gif', { schema: { type: 'string', contentEncoding: 'base64' } }, 'AAE='],
    ['application/xml', {}, 'AAE='],
  ])('of type %s is one argument, in Base64 unless it is text', async (type, media, sent) => {
    const { seen } = await tried(taking(type, media), { body: 'AAE=' });
    expect(seen.map(({ headers, body }) => [headers['content-type'], body])).toEqual([
      [expect.stringContaining(type), sent],
    ]);
  });

  it('is not sent if its bytes are not Base64, and the error names the argument', async () => {
    const { seen, text } = await tried(taking('image/png', {}), { body: 'no!' });
    expect([seen, text]).toEqual([[], 'ERROR The argument "body" must be Base64.']);
  });

  it('contains only its own arguments, not those of the path, query, headers or cookies', async () => {
    const operation = {
      ...taking('application/json', object('name', 'constructor', '__proto__')),
      path: '/p/{id}',
      parameters: [any('q', 'query'), any('X-H', 'header'), any('c', 'cookie')],
    };
    const args = '{"id":1,"q":2,"X-H":3,"c":4,"name":5,"constructor":6,"proto":7}';
    const { seen } = await tried(operation, args);
    expect(
      seen.map(({ method, url, headers, body }) => [method, url, headers['x-h'], headers.cookie, body]),
    ).toEqual([['POST', '/p/1?q=2', '3', 'c=4', '{"name":5,"constructor":6,"__proto__":7}']]);
  });
});

describe('the methods of OpenAPI 3.2', () => {
  const operation = (operationId: string): JsonObject => ({
    operationId,
    requestBody: { required: true, content: { 'application/json': { schema: { type: 'object' } } } },
  });

  it('are sent as they are, and what cannot become a tool is skipped with the reason', async () => {
    const { tools, skipped } = await toolsIn({
      openapi: '3.2.0',
      info: { title: 'A', version: '1' },
      servers: [{ url: web.url }],
      paths: {
        '/a': {
          query: operation('find'),
          additionalOperations: {
            COPY: operation('copy'),
            CONNECT: operation('connect'),
            POST: operation('post'),
            'a b': operation('spaced'),
            LINK: 5,
          },
        },
        '/b': { additionalOperations: [] },
        '/c': { get: { operationId: 'c', parameters: [{ name: 'q', in: 'querystring', content: {} }] } },
      },
    });
    expect(tools.map(({ definition: { name }, facts }) => [name, facts.method])).toEqual([
      ['find', 'QUERY'],
      ['copy', 'COPY'],
    ]);
    expect(skipped.map(({ what, why }) => `${what}: ${why}`)).toEqual([
      'CONNECT /a: CONNECT opens a tunnel',
      'POST /a: it belongs at "post", not in additionalOperations',
      'a b /a: its method is not made of upper-case letters and hyphens',
      'LINK /a: it is not an object',
      'additionalOperations of /b: it is not an object',
      'GET /c: its parameter "q" is in "querystring", which is not supported',
    ]);
    for (const tool of tools) await callTool(tool, { body: { a: 1 } });
    expect(web.taken().map(({ method, body }) => [method, body])).toEqual([
      ['QUERY', '{"a":1}'],
      ['COPY', '{"a":1}'],
    ]);
  });
});
