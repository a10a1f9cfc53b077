// How the arguments of a call become a request, and its response becomes what a model reads.
import { beforeAll, describe, expect, it } from 'vitest';
import { connectClient, connectFirst } from '../support/clients.ts';
import { endAfterEach } from '../support/end-after-each.ts';
import { sleep, until } from '../support/endings.ts';
import { send } from '../support/http.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import { modernAsk, modernBody, modernHeaders } from '../support/modern.ts';
import {
  callText,
  openRestWorld,
  sayJson,
  serveApi,
  type RestWorld,
  type Seen,
  type WebApi,
} from '../support/rest-tools.ts';

endAfterEach();

const USER = { name: 'Ada', contact: { mail: 'ada@example.com' }, roles: ['a', 'b'] };

let world: RestWorld;
let api: WebApi;
beforeAll(async () => {
  api = await serveApi(({ target }, response) => {
    const [path = '', query = ''] = target.split('?');
    if (path.startsWith('/hang')) return;
    if (path.startsWith('/user')) return sayJson(response, USER);
    if (path.startsWith('/large')) return void response.end('x'.repeat(100_000));
    if (path.startsWith('/nothing')) return void response.writeHead(204).end();
    if (path.startsWith('/broken')) return sayJson(response, { message: 'no such user' }, 404);
    if (path.startsWith('/text')) return void response.end('plain');
    if (path.startsWith('/to'))
      return void response.writeHead(302, { location: decodeURIComponent(query) }).end();
    sayJson(response, { ok: true });
  });
  world = await openRestWorld();
});

let count = 0;

async function make(entry: JsonObject): Promise<string> {
  count += 1;
  const name = `made-${count}`;
  const made = await world.admin.post('/tools', { name, ...entry });
  if (made.status !== 201) throw new Error(made.text);
  return name;
}

/** The request that the API received, or the text for the model if nothing was sent. */
async function asked(entry: JsonObject, args: JsonObject): Promise<Seen | string> {
  const before = api.seen.length;
  const text = await callText(world.assay, await make(entry), args);
  return api.seen[before] ?? text;
}

const ANY: JsonObject = { type: 'object' };
const anyOf = (...names: readonly string[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});

describe('an argument', () => {
  it.each<[what: string, entry: JsonObject, args: JsonObject, request: Partial<Seen>]>([
    [
      'in the path stays a single segment',
      { url: '/a/{id}/c', method: 'GET' },
      { id: 'x/y?z#ä %2e' },
      { target: '/a/x%2Fy%3Fz%23%C3%A4%20%252e/c' },
    ],
    [
      'in both the path and the query of the URL is not sent in the body too',
      { url: '/a/{id}?of={id}', method: 'POST' },
      { id: 'b' },
      { target: '/a/b?of=b', body: '{}' },
    ],
    [
      'of a GET is sent in the query',
      { url: '/q', method: 'GET', inputSchema: ANY },
      { a: '1&b=2', n: 3 },
      { target: '/q?a=1%26b%3D2&n=3', body: '' },
    ],
    [
      'of a DELETE is sent in the query',
      { url: '/q', method: 'DELETE', inputSchema: ANY },
      { a: 'x' },
      { target: '/q?a=x', body: '' },
    ],
    [
      'that is a list is repeated in the query',
      { url: '/q', method: 'GET', inputSchema: ANY },
      { a: ['x', 'y'] },
      { target: '/q?a=x&a=y' },
    ],
    [
      'of a POST is sent in a JSON body',
      { url: '/b', method: 'POST', inputSchema: ANY },
      { a: { b: [1, null] } },
      { target: '/b', body: '{"a":{"b":[1,null]}}' },
    ],
    [
      'of a form is sent form-encoded',
      { url: '/b', method: 'POST', bodyType: 'form', inputSchema: ANY },
      { a: 'x y', b: '&' },
      { target: '/b', body: 'a=x%20y&b=%26' },
    ],
    [
      'mapped to the query is not sent in the body',
      { url: '/b', method: 'PUT', inputSchema: anyOf('a', 'b'), queryMapping: { a: 'alpha' } },
      { a: 1, b: 2 },
      { target: '/b?alpha=1', body: '{"b":2}' },
    ],
    [
      'that is not given is left out of the query',
      { url: '/q?a={a}&fix=1', method: 'GET', inputSchema: anyOf('a') },
      {},
      { target: '/q?fix=1' },
    ],
  ])('%s', async (_, { url, ...entry }, args, request) => {
    expect(await asked({ url: api.url + String(url), ...entry }, args)).toMatchObject(request);
  });

  it('mapped to a header is sent there, and nowhere else', async () => {
    const entry = {
      url: `${api.url}/h`,
      method: 'POST',
      headerMapping: { tenant: 'X-Tenant' },
      inputSchema: anyOf('tenant', 'a'),
    };
    const seen = await asked(entry, { tenant: 'one', a: 1 });
    expect(seen).toMatchObject({
      target: '/h',
      body: '{"a":1}',
      headers: { 'x-tenant': 'one', 'content-type': 'application/json' },
    });
  });

  it('keeps the digits of a number as the client wrote them', async () => {
    const number = '12345678901234567890.10';
    for (const [method, kept] of [
      ['POST', { body: `{"id":${number}}` }],
      ['GET', { target: `/n?id=${number}` }],
    ] as const) {
      const name = await make({ url: `${api.url}/n`, method, inputSchema: ANY });
      const params = { name, arguments: { id: 'HERE' } };
      const body = modernBody('tools/call', { params }).replace('"HERE"', number);
      await send(world.assay.url, { headers: modernHeaders('tools/call', params), body });
      expect(api.seen.at(-1)).toMatchObject(kept);
    }
  });

  it.each<[what: string, entry: JsonObject, args: JsonObject, sentence: string | RegExp]>([
    ['leads to another path', { url: '/a/{id}', method: 'GET' }, { id: '../b' }, /"id" .*change the path/],
    [
      'leads to another path through encoded dots',
      { url: '/a/{id}', method: 'GET' },
      { id: '%2e%2e' },
      /"id" .*change the path/,
    ],
    ['is empty in a path', { url: '/a/{id}', method: 'GET' }, { id: '' }, /"id" is empty/],
    ['is missing in a path', { url: '/a/{id}', method: 'GET' }, {}, /"id" .*missing/],
    [
      'has the wrong type',
      { url: '/a', method: 'GET', inputSchema: { type: 'object', properties: { n: { type: 'integer' } } } },
      { n: 'one' },
      /"n" .*integer/,
    ],
    [
      'is nested and has the wrong value',
      {
        url: '/a',
        method: 'POST',
        inputSchema: {
          type: 'object',
          properties: { a: { type: 'object', properties: { b: { enum: ['x'] } } } },
        },
      },
      { a: { b: 'y' } },
      /"a\.b"/,
    ],
    [
      'is unknown',
      {
        url: '/a',
        method: 'POST',
        inputSchema: { type: 'object', properties: { a: {} }, additionalProperties: false },
      },
      { b: 1 },
      /"b".* a\.$/,
    ],
    [
      'is an object in a query',
      { url: '/a', method: 'GET', inputSchema: ANY },
      { a: { b: 1 } },
      /"a" is an object/,
    ],
    [
      'contains a line break for a header',
      { url: '/a', method: 'GET', headerMapping: { h: 'X-H' } },
      { h: 'a\r\nX-B: c' },
      /"h" contains a line break/,
    ],
    [
      'would override a query parameter of the URL',
      { url: '/a?k=1', method: 'GET', inputSchema: ANY },
      { k: '2' },
      /"k" would set a query parameter/,
    ],
    [
      'would override the credential',
      {
        url: '/a',
        method: 'GET',
        inputSchema: ANY,
        auth: { type: 'query', name: 'key', value: 's3cr3t-s3cr3t' },
      },
      { key: 'mine' },
      /"key" would set a query parameter/,
    ],
  ])('that %s is refused by name, and nothing is sent', async (_, { url, ...entry }, args, sentence) => {
    const text = await asked({ url: api.url + String(url), ...entry }, args);
    expect(text).toMatch(/^error: /);
    expect(text).toMatch(sentence);
  });
});

describe('the credential', () => {
  it.each<
    [type: string, auth: JsonObject, seen: { readonly headers?: JsonObject; readonly target?: string }]
  >([
    [
      'bearer',
      { type: 'bearer', token: 't0ken-t0ken' },
      { headers: { authorization: 'Bearer t0ken-t0ken' } },
    ],
    [
      'basic',
      { type: 'basic', username: 'ada', password: 'p:ä' },
      { headers: { authorization: `Basic ${Buffer.from('ada:p:ä').toString('base64')}` } },
    ],
    [
      'header',
      { type: 'header', name: 'X-API-Key', value: 'k3y-k3y-k3y' },
      { headers: { 'x-api-key': 'k3y-k3y-k3y' } },
    ],
    ['query', { type: 'query', name: 'api_key', value: 'k3y&k3y' }, { target: '/auth?api_key=k3y%26k3y' }],
  ])('is sent with the type %s', async (_, auth, seen) => {
    expect(await asked({ url: `${api.url}/auth`, method: 'GET', auth }, {})).toMatchObject(seen);
  });

  it('is never sent to another origin after a redirect', async () => {
    const other = await serveApi();
    const url = `${api.url}/to?${encodeURIComponent(`${other.url}/there`)}`;
    const auth = { type: 'header', name: 'X-Key', value: 'k3y-k3y-k3y' };
    expect(
      await callText(
        world.assay,
        await make({ url, method: 'GET', auth, headers: { Cookie: 'c=k3y-k3y-k3y' } }),
      ),
    ).toBe('{"ok":true}');
    expect(other.seen).toHaveLength(1);
    expect(JSON.stringify(other.seen)).not.toContain('k3y');
  });
});

describe('a response', () => {
  it.each<[what: string, path: string, entry: JsonObject, text: string | RegExp]>([
    ['with text is returned as is', '/text', {}, 'plain'],
    ['without content is reported as such', '/nothing', {}, /204 and no content/],
    [
      'is transformed by the filter',
      '/user',
      { filter: '{who: name, first: roles[0]}' },
      '{"who":"Ada","first":"a"}',
    ],
    ['with no match for the filter is null', '/user', { filter: 'nothing.here' }, 'null'],
    [
      'that does not fit the filter is an error with the cause',
      '/user',
      { filter: 'sum(name)' },
      /^error: The filter does not fit .*Ada/s,
    ],
    [
      'that is not JSON is an error if there is a filter',
      '/text',
      { filter: 'a' },
      /^error: The filter works on JSON.*plain/s,
    ],
    [
      'that is too large is truncated, with a note',
      '/large',
      { maxBytes: 1_000 },
      /^x{1000}\n\n\[cut after 1000 bytes.*"maxBytes"/,
    ],
    [
      "with an error status is an error with the status and the server's message",
      '/broken',
      {},
      /^error: GET .*\/broken: the server answered 404\. .*no such user/s,
    ],
    [
      'with a redirect is not followed if the method may have an effect',
      '/to?%2Fuser',
      { method: 'POST' },
      /^error: POST .*302 and points to .*not sent twice/s,
    ],
  ])('%s', async (_, path, entry, text) => {
    const result = await callText(world.assay, await make({ url: api.url + path, method: 'GET', ...entry }));
    if (typeof text === 'string') expect(result).toBe(text);
    else expect(result).toMatch(text);
  });

  it('that does not match its outputSchema reaches official clients, and operators learn of it', async () => {
    const outputSchema = { type: 'object', properties: { name: { type: 'integer' } }, required: ['name'] };
    const differing = await make({ url: `${api.url}/user`, outputSchema });
    const empty = await make({ url: `${api.url}/nothing`, outputSchema });
    for (const mode of ['legacy', 'modern'] as const) {
      const client = await connectClient(world.assay, mode);
      await client.listTools();
      expect(await client.callTool({ name: differing, arguments: {} })).toMatchObject({
        content: [{ type: 'text', text: JSON.stringify(USER) }],
        structuredContent: USER,
      });
      expect(await client.callTool({ name: empty, arguments: {} })).not.toHaveProperty('isError');
    }
    const reports = listAt((await world.admin.get('/health')).json(), 'reports').filter((report) =>
      String(report).includes(differing),
    );
    expect(reports).toEqual([
      `local: ${differing} returned a result that does not match its output schema: at "name"`,
    ]);
    const shown = (await world.admin.get(`/tools?text=${differing}`)).json();
    expect(at(shown, 'tools', 0)).toMatchObject({ outputSchema, outputValidation: 'warn' });
  });

  it('with a time without zone reaches official clients, even if strict', async () => {
    const plain = await serveApi((_, response) => sayJson(response, { at: '2026-01-02T03:04:05' }));
    const outputSchema = {
      type: 'object',
      properties: { at: { type: 'string', format: 'date-time' } },
      required: ['at'],
    };
    const name = await make({ url: plain.url, outputSchema, outputValidation: 'strict' });
    const client = await connectClient(world.assay, 'legacy');
    await client.listTools();
    expect((await client.callTool({ name, arguments: {} })).structuredContent).toEqual({
      at: '2026-01-02T03:04:05',
    });
  });

  it('is structured by a strict outputSchema, or an error with the position that does not match', async () => {
    const outputSchema = (type: string): JsonObject => ({
      type: 'object',
      properties: { name: { type } },
      required: ['name'],
    });
    const outputValidation = 'strict';
    const fit = await make({
      url: `${api.url}/user`,
      method: 'GET',
      outputValidation,
      outputSchema: outputSchema('string'),
      filter: '{name: name}',
    });
    const client = await connectClient(world.assay, 'modern');
    await client.listTools();
    expect((await client.callTool({ name: fit, arguments: {} })).structuredContent).toEqual({ name: 'Ada' });
    const fieldError = await make({
      url: `${api.url}/user`,
      method: 'GET',
      outputValidation,
      outputSchema: outputSchema('integer'),
    });
    expect(await callText(world.assay, fieldError)).toMatch(
      /^error: The GET request was carried out, but .*at "name"/,
    );
  });
});

describe('a forbidden address', () => {
  it.each([
    ['http://10.0.0.1/x', /private address.*ASSAY_HTTP_ALLOW_PRIVATE=true/],
    ['http://192.168.0.1/x', /private address.*ASSAY_HTTP_ALLOW_PRIVATE=true/],
    ['http://169.254.169.254/latest/meta-data', /metadata address.*no setting/],
    ['http://0xA9FEA9FE/latest/meta-data', /metadata address.*no setting/],
    ['http://[fd00:ec2::254]/latest', /metadata address.*no setting/],
    ['http://169.254.1.1/', /link-local address.*no setting/],
    ['http://0.0.0.0/', /reserved address.*no setting/],
  ])('%s cannot be reached by a redirect', async (url, sentence) => {
    const entry = `${api.url}/to?${encodeURIComponent(url)}`;
    expect(await callText(world.assay, await make({ url: entry, method: 'GET' }))).toMatch(sentence);
  });
});

describe('a call', () => {
  it('ends at its time limit if the API hangs, and its connection is closed', async () => {
    const name = await make({ url: `${api.url}/hang/late`, method: 'GET', timeoutMs: 300 });
    const startMs = performance.now();
    expect(await callText(world.assay, name)).toMatch(/^(?:refused|error): .*300 ms|0\.3 s/);
    expect(performance.now() - startMs).toBeLessThan(10_000);
    await until(
      'the connection is closed',
      () => api.left.some(({ target }) => target === '/hang/late') || undefined,
    );
  });

  it('closes its connection to the API when a client of either era cancels it', async () => {
    for (const mode of ['legacy', 'modern'] as const) {
      const name = await make({ url: `${api.url}/hang/${mode}`, method: 'GET' });
      const client = await connectClient(world.assay, mode);
      const ending = new AbortController();
      const call = client.callTool({ name, arguments: {} }, { signal: ending.signal }).catch(() => 'ended');
      await until(
        'the API is asked',
        () => api.seen.some(({ target }) => target === `/hang/${mode}`) || undefined,
      );
      ending.abort();
      expect(await call).toBe('ended');
      await until(
        'the connection is closed',
        () => api.left.some(({ target }) => target === `/hang/${mode}`) || undefined,
      );
    }
  });

  it('never gets the response to a call of another client', async () => {
    const echo = await serveApi(({ target }, response) => {
      void sleep(Math.random() * 20).then(() => response.end(target));
    });
    const name = await make({ url: `${echo.url}/{who}`, method: 'GET' });
    const clients = [await connectFirst(world.assay), await connectFirst(world.assay)];
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const result = await clients[index % 2]!.callTool({ name, arguments: { who: `w${index}` } });
        return textAt(result as unknown as Json, 'content', 0, 'text');
      }),
    );
    expect(answers).toEqual(Array.from({ length: 60 }, (_, index) => `/w${index}`));
  });

  it('is refused if its tool is disabled', async () => {
    const name = await make({ url: `${api.url}/x`, method: 'GET' });
    const id = textAt((await world.admin.get(`/tools?text=${name}`)).json(), 'tools', 0, 'id');
    await world.admin.put(`/tools/${id}`, { enabled: false });
    const answer = await modernAsk(world.assay.url, 'tools/call', { params: { name, arguments: {} } });
    expect(at(answer, 'error', 'data', 'code')).toBe('TOOL_DISABLED');
  });

  it('returns no _meta of Assay and no credential', async () => {
    const name = await make({
      url: `${api.url}/user`,
      method: 'GET',
      auth: { type: 'bearer', token: 't0ken-t0ken' },
    });
    const answer = await modernAsk(world.assay.url, 'tools/call', { params: { name, arguments: {} } });
    expect(JSON.stringify(answer)).not.toContain('assay/');
    expect(JSON.stringify(answer)).not.toContain('t0ken');
  });
});
