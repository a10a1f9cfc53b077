// REST tools created by an operator through the REST API, and what MCP clients see.
import { beforeAll, describe, expect, it } from 'vitest';
import { verdictOf } from '../support/admin.ts';
import type { Answer } from '../support/http.ts';
import { at, listAt, textAt, type Json, type JsonObject } from '../support/json.ts';
import {
  callText,
  listedTool,
  openRestWorld,
  serveApi,
  type RestWorld,
  type WebApi,
} from '../support/rest-tools.ts';
import { fixture } from '../support/paths.ts';

let world: RestWorld;
let api: WebApi;
beforeAll(async () => {
  api = await serveApi();
  world = await openRestWorld({
    servers: { plain: fixture('plain') },
    settings: { tools: { fixed: { url: `${api.url}/fixed`, method: 'GET' } } },
  });
});

let count = 0;

/** Creates a tool with a unique name. */
async function make(
  entry: JsonObject,
): Promise<{ readonly name: string; readonly id: string; readonly tool: Json }> {
  count += 1;
  const name = `made-${count}`;
  const made = await world.admin.post('/tools', { name, url: `${api.url}/${name}`, ...entry });
  if (made.status !== 201) throw new Error(made.text);
  return { name, id: textAt(made.json(), 'id'), tool: made.json() };
}

const problemsOf = (answer: Answer): readonly string[] =>
  listAt(answer.json(), 'errors').map((one) => `${String(at(one, 'pointer'))} ${textAt(one, 'code')}`);

describe('a REST tool', () => {
  it("cannot take the public name of another source's tool", async () => {
    const answer = await world.admin.post('/tools', { name: 'plain_echo', url: `${api.url}/echo` });
    expect(verdictOf(answer)).toBe('409 TOOL_EXISTS');
    expect(await listedTool(world.assay.url, 'plain_echo')).toMatchObject({ name: 'plain_echo' });
  });

  it('accepts null for omitted fields', async () => {
    const { tool } = await make({ method: null, headers: null, auth: null });
    expect([at(tool, 'method'), at(tool, 'methodOrigin')]).toEqual(['POST', 'default']);
  });

  it('is created with 201 and an ETag, and is available to clients at once', async () => {
    const answer = await world.admin.post('/tools', {
      name: 'file-reader',
      url: `${api.url}/api/read-file`,
      description: 'Safely reads file contents',
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    });
    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({
      name: 'file-reader',
      namespacedName: 'local.file-reader',
      originalName: 'file-reader',
      serverName: 'local',
      source: 'rest',
      title: 'File reader',
      url: `${api.url}/api/read-file`,
      method: 'POST',
      methodOrigin: 'default',
      enabled: true,
      annotations: {
        title: 'File reader',
        readOnlyHint: true,
        destructiveHint: false,
        idempotentHint: true,
        openWorldHint: false,
      },
      hints: { readOnlyHint: { decidedBy: 'declared' }, openWorldHint: { decidedBy: 'declared' } },
    });
    expect(await listedTool(world.assay.url, 'file-reader')).toMatchObject({
      title: 'File reader',
      description: 'Safely reads file contents',
      inputSchema: { type: 'object' },
      annotations: { title: 'File reader', readOnlyHint: true, openWorldHint: false },
    });
    expect(await callText(world.assay, 'file-reader', { path: 'a' })).toBe('{"ok":true}');
    expect(api.seen.at(-1)).toMatchObject({ method: 'POST', target: '/api/read-file', body: '{"path":"a"}' });
    const { headers } = answer;
    expect(headers.etag).toBeDefined();
    expect((await world.admin.get(`/tools/${textAt(answer.json(), 'id')}`)).headers.etag).toBe(headers.etag);
  });

  it.each<[form: string, wrap: (name: string, url: string) => JsonObject]>([
    ['bare', (name, url) => ({ name, url, method: 'GET', timeoutMs: 5_000, queryMapping: { a: 'b' } })],
    [
      'in snake_case',
      (name, url) => ({ name, url, request_type: 'get', timeout_ms: 5_000, query_mapping: { a: 'b' } }),
    ],
    [
      'wrapped',
      (name, url) => ({
        tool: { name, url, requestType: 'GET', timeoutMs: 5_000, queryMapping: { a: 'b' } },
      }),
    ],
    [
      'wrapped in snake_case',
      (name, url) => ({
        tool: {
          name,
          url,
          integration_type: 'REST',
          method: 'GET',
          timeout_ms: 5_000,
          query_mapping: { a: 'b' },
        },
      }),
    ],
  ])('may be defined %s', async (form, wrap) => {
    const name = `form-${form.replaceAll(' ', '-')}`;
    const made = await world.admin.post('/tools', wrap(name, `${api.url}/form`));
    expect([made.status, made.json()]).toEqual([
      201,
      expect.objectContaining({
        name,
        method: 'GET',
        methodOrigin: 'given',
        timeoutMs: 5_000,
        queryMapping: { a: 'b' },
      }),
    ]);
  });

  it('keeps member names in schemas, headers and mappings unchanged', async () => {
    const inputSchema = {
      type: 'object',
      properties: { some_name: { type: 'string' }, otherName: { type: 'integer' } },
      additionalProperties: false,
    };
    const { name } = await make({
      method: 'POST',
      input_schema: inputSchema,
      header_mapping: { some_name: 'X-Some_Name' },
      headers: { X_Fixed_Header: 'v' },
    });
    expect(at(await listedTool(world.assay.url, name), 'inputSchema')).toEqual(inputSchema);
    await callText(world.assay, name, { some_name: 'n', otherName: 1 });
    expect(api.seen.at(-1)?.headers).toMatchObject({ 'x-some_name': 'n', x_fixed_header: 'v' });
    expect(api.seen.at(-1)?.body).toBe('{"otherName":1}');
  });

  it('may have its title at the top level or in its annotations', async () => {
    for (const entry of [{ title: 'Said' }, { annotations: { title: 'Said' } }]) {
      const { name, tool } = await make({ method: 'GET', ...entry });
      expect(at(tool, 'title')).toBe('Said');
      const listed = await listedTool(world.assay.url, name);
      expect([at(listed, 'title'), at(listed, 'annotations', 'title')]).toEqual(['Said', 'Said']);
    }
  });

  it('cannot take a name in use by another tool, in the config file, or concurrently', async () => {
    const { name } = await make({ method: 'GET' });
    for (const taken of [name, 'fixed'])
      expect(verdictOf(await world.admin.post('/tools', { name: taken, url: `${api.url}/x` }))).toBe(
        '409 TOOL_EXISTS',
      );
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        world.admin.post('/tools', { name: 'raced', url: `${api.url}/raced/${index}`, method: 'GET' }),
      ),
    );
    expect(answers.map(verdictOf).toSorted()).toEqual(['201', ...Array<string>(7).fill('409 TOOL_EXISTS')]);
    const kept = answers.find(({ status }) => status === 201)!.json();
    expect(at((await world.admin.get(`/tools/${textAt(kept, 'id')}`)).json(), 'url')).toBe(at(kept, 'url'));
  });

  it("may have the name of a server's tool, and both keep their public names", async () => {
    await world.admin.post('/tools', { name: 'echo', url: `${api.url}/echo`, method: 'GET' });
    expect(at(await listedTool(world.assay.url, 'echo'), 'name')).toBe('echo');
    expect(at(await listedTool(world.assay.url, 'plain_echo'), 'name')).toBe('plain_echo');
  });

  it('may be named like a member of Object.prototype', async () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      const made = await world.admin.post('/tools', { name, url: `${api.url}/${name}`, method: 'GET' });
      expect([name, verdictOf(made)]).toEqual([name, '201']);
      expect(await callText(world.assay, name)).toBe('{"ok":true}');
    }
  });
});

describe('a request body for a tool', () => {
  const URL_OF = 'http://nowhere.invalid/x';
  it.each<[what: string, body: JsonObject, problems: readonly string[]]>([
    ['no name', { url: URL_OF }, ['/name missing']],
    ['no URL', { name: 'bad' }, ['/url invalid']],
    ['no name, wrapped', { tool: { url: URL_OF } }, ['/tool/name missing']],
    ['an invalid name', { name: 'a b', url: URL_OF }, ['/name invalid']],
    ['an empty name', { name: '', url: URL_OF }, ['/name invalid']],
    ['a relative URL', { name: 'bad', url: '/x' }, ['/url invalid']],
    ['an unsupported protocol', { name: 'bad', url: 'file:///etc/passwd' }, ['/url invalid']],
    ['credentials in its URL', { name: 'bad', url: 'http://a:b@nowhere.invalid/' }, ['/url invalid']],
    ['an argument as its host', { name: 'bad', url: 'http://{host}/' }, ['/url invalid']],
    ['an unclosed brace', { name: 'bad', url: `${URL_OF}/{id` }, ['/url invalid']],
    ['an unknown method', { name: 'bad', url: URL_OF, method: 'SSE' }, ['/method invalid']],
    ['an unknown requestType', { name: 'bad', url: URL_OF, requestType: 'SSE' }, ['/requestType invalid']],
    [
      'an unknown request_type',
      { tool: { name: 'bad', url: URL_OF, request_type: 'SSE' } },
      ['/tool/request_type invalid'],
    ],
    [
      'two methods',
      { name: 'twice', url: URL_OF, method: 'GET', requestType: 'POST' },
      ['/requestType invalid'],
    ],
    [
      'an unsupported kind of tool',
      { name: 'bad', url: URL_OF, integrationType: 'A2A' },
      ['/integrationType invalid'],
    ],
    ['an unknown member', { name: 'bad', url: URL_OF, colour: 'red' }, ['/colour unknown']],
    [
      'a header with a line break',
      { name: 'bad', url: URL_OF, headers: { 'X-A': 'a\r\nX-B: b' } },
      ['/headers/X-A invalid'],
    ],
    ['a connection header', { name: 'bad', url: URL_OF, headers: { Host: 'x' } }, ['/headers/Host invalid']],
    [
      'a mapping to the Authorization header',
      { name: 'bad', url: URL_OF, headerMapping: { a: 'Authorization' } },
      ['/headerMapping/a invalid'],
    ],
    ['an unknown auth type', { name: 'bad', url: URL_OF, auth: { type: 'magic' } }, ['/auth/type invalid']],
    [
      'an auth without its secret',
      { name: 'bad', url: URL_OF, auth: { type: 'bearer' } },
      ['/auth/token invalid'],
    ],
    [
      'an auth with an extra member',
      { name: 'bad', url: URL_OF, auth: { type: 'bearer', token: 't', value: 'v' } },
      ['/auth/value invalid'],
    ],
    [
      'a schema that is not of an object',
      { name: 'bad', url: URL_OF, inputSchema: { type: 'string' } },
      ['/inputSchema invalid'],
    ],
    [
      'an invalid schema',
      { name: 'bad', url: URL_OF, inputSchema: { type: 'object', properties: { a: { type: 'strin' } } } },
      ['/inputSchema invalid'],
    ],
    [
      'an invalid outputSchema',
      { name: 'bad', url: URL_OF, output_schema: { type: 'object', properties: { a: { $ref: '#/x' } } } },
      ['/output_schema invalid'],
    ],
    [
      'a schema without an argument of its URL',
      { name: 'bad', url: `${URL_OF}/{id}`, inputSchema: { type: 'object' } },
      ['/inputSchema invalid'],
    ],
    ['an invalid filter', { name: 'bad', url: URL_OF, filter: 'a[' }, ['/filter invalid']],
    [
      'a filter with an unknown function',
      { name: 'bad', url: URL_OF, filter: 'nope(a)' },
      ['/filter invalid'],
    ],
    ['a time limit of zero', { name: 'bad', url: URL_OF, timeoutMs: 0 }, ['/timeoutMs invalid']],
    ['a size limit that is too large', { name: 'bad', url: URL_OF, maxBytes: 1e12 }, ['/maxBytes invalid']],
    ['a fractional size limit', { name: 'bad', url: URL_OF, maxBytes: 1.5 }, ['/maxBytes invalid']],
    [
      'a hint that is not a boolean',
      { name: 'bad', url: URL_OF, annotations: { readOnlyHint: 'yes' } },
      ['/annotations/readOnlyHint invalid'],
    ],
    [
      'an unknown annotation',
      { name: 'bad', url: URL_OF, annotations: { mood: true } },
      ['/annotations/mood unknown'],
    ],
    [
      'several errors',
      { name: 'bad', url: '/x', method: 'X', timeoutMs: -1 },
      ['/url invalid', '/method invalid', '/timeoutMs invalid'],
    ],
  ])('with %s is refused with the position, and nothing is created', async (_, body, problems) => {
    const answer = await world.admin.post('/tools', body);
    expect([verdictOf(answer), problemsOf(answer)]).toEqual(['422 BODY_INVALID', problems]);
    const left = (await world.admin.get('/tools?server=local&limit=1000')).json();
    expect(listAt(left, 'tools').filter((tool) => at(tool, 'name') === 'bad')).toEqual([]);
  });
});
