// How an OpenAPI document and its references are read.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { formatCause } from '../../../../src/core/cause.ts';
import type { BuiltInSource } from '../../../../src/adapters/sources/built-in-tool.ts';
import type { OpenapiOptions } from '../../../../src/adapters/sources/openapi/open-openapi.ts';
import type { Documents } from '../../../../src/adapters/sources/openapi/documents.ts';
import { readOperations } from '../../../../src/adapters/sources/openapi/operations.ts';
import { err, ok } from '@assay-mcp/kit/result';
import { Turns } from '@assay-mcp/kit/turns';
import { until } from '../../../../../../test/support/endings.ts';
import type { Json, JsonObject } from '../../../../../../test/support/json.ts';
import { documentOf, operationOf } from '../../../../../../test/support/openapi-document.ts';
import { openSource, readBounded, toolsIn, toolsOf } from '../../../../../../test/support/openapi-source.ts';
import { tempDir, writeText } from '../../../../../../test/support/paths.ts';
import { serveWeb } from '../../../../../../test/support/web-server.ts';

/** The failure without the name of the document. */
async function failureOf(source: BuiltInSource): Promise<string> {
  const read = await source.read(AbortSignal.timeout(20_000));
  if (read.ok) return `${read.value.tools.length} tools`;
  return formatCause('document' in read.error ? { ...read.error, document: undefined } : read.error);
}

const failureIn = (text: string): Promise<string> => failureOf(openSource(writeText(text, 'api.yaml')));

interface Asked {
  readonly url: string;
  readonly key: string | undefined;
}

/** A web server for documents by path; anything but text is served as JSON. */
async function documentsAt(
  documents: Readonly<Record<string, Json>>,
): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const port = await serveWeb((request, response) => {
    const { url = '' } = request;
    asked.push({ url, key: request.headers['x-key'] as string | undefined });
    const document = Object.hasOwn(documents, url) ? documents[url] : undefined;
    response.writeHead(document === undefined ? 404 : 200);
    response.end(typeof document === 'string' ? document : JSON.stringify(document));
  });
  return { url: `http://127.0.0.1:${port}`, asked };
}

const referring = (reference: string, more: JsonObject = {}): JsonObject => {
  const parameters = [{ name: 'a', in: 'query', schema: { $ref: reference } }];
  return documentOf(
    { '/bad': { get: { operationId: 'bad', parameters } }, '/good': { get: { operationId: 'good' } } },
    more,
  );
};

describe('a document', () => {
  it.each<[what: string, text: string, error: string]>([
    ['is empty', '', 'is neither JSON nor YAML: expected a document, but the input is empty'],
    ['is a string', 'hello', 'is not an OpenAPI document: it is not an object'],
    ['is a list', '[]', 'is not an OpenAPI document: it is not an object'],
    ['has no member "openapi"', '{"a":1}', 'is not an OpenAPI document: it has no member "openapi"'],
    [
      'is Swagger 2.0',
      'swagger: "2.0"',
      'is of Swagger 2.0, which is not read: convert it to OpenAPI 3 first',
    ],
    ['has an unsupported version', 'openapi: 4.0.0', 'is of OpenAPI 4.0.0; 3.0, 3.1 and 3.2 are read'],
    [
      'has paths that are not an object',
      '{"openapi":"3.1.0","paths":[]}',
      'has a value at "/paths" that is not an object',
    ],
    ['has no paths', '{"openapi":"3.1.0"}', '0 tools'],
    [
      'is nested too deeply',
      `{"openapi":"3.1.0","x":${'['.repeat(10_000)}${']'.repeat(10_000)}}`,
      'is nested over 200 levels',
    ],
  ])('that %s is read, or refused with the reason', async (_, text, error) => {
    expect(await failureIn(text)).toBe(error);
  });

  it('is refused with the position of the error if it is malformed', async () => {
    expect(await failureIn('openapi: "3.1')).toMatch(/^is neither JSON nor YAML: .*\(1:\d+\)/);
    expect(await failureIn('{"openapi": }{')).toMatch(/^is neither JSON nor YAML: /);
  });

  it('is refused with the reason if it is missing, too large, or not at a path or URL', async () => {
    expect(await failureOf(openSource(join(tempDir(), 'none.json')))).toBe('there is no such file');
    expect(await failureOf(openSource('relative.json'))).toBe(
      'is neither an absolute path nor a URL of http or https',
    );
    expect(await failureOf(openSource('ftp://a.example/b'))).toBe(
      'is neither an absolute path nor a URL of http or https',
    );
    const small: OpenapiOptions['readFile'] = (path, maxBytes) =>
      readBounded(path, maxBytes / 1024 / 1024 / 4);
    const path = writeText(JSON.stringify(operationOf({})), 'api.json');
    expect(await failureOf(openSource(path, { readFile: small }))).toBe('is too large');
  });

  it('may be YAML with numbers, merges, aliases and a byte order mark', async () => {
    const text = `\uFEFFopenapi: 3.0
servers: [{ url: 'http://127.0.0.1:1' }]
x-common: &common { responses: { 200: { description: Fine } }, summary: Common }
x-more: &more { <<: *common, tags: [a] }
paths:
  /a: { get: { <<: *more, operationId: a } }
  /b: { get: { <<: [*common, { summary: Other, deprecated: true }], operationId: b, summary: Own } }
`;
    const { tools } = await toolsOf(openSource(writeText(text, 'api.yaml')));
    expect(tools.map(({ definition: { name, title, description } }) => [name, title, description])).toEqual([
      ['a', 'Common', 'Common'],
      ['b', 'Own', 'Deprecated. Own'],
    ]);
  });

  it('is refused if its aliases are exponential or circular', async () => {
    const levels = Array.from(
      { length: 12 },
      (_, level) => `x${level}: &x${level} [${`*x${level - 1}, `.repeat(9)}]`,
    );
    const laughs = ['openapi: 3.1.0', 'x0: &x0 [lol]', ...levels.slice(1)].join('\n');
    expect(await failureIn(laughs)).toBe('contains too many values, perhaps through its aliases');
    expect(await failureIn('openapi: 3.1.0\nx: &x\n  y: *x\n')).toBe('is nested over 200 levels');
  });

  it('keeps its valid operations if others are invalid', async () => {
    const paths = {
      '/a': { get: 5 },
      '/b': 5,
      '/c': { $ref: '#/none' },
      'x-d': {},
      '/e': { get: { operationId: 'e' } },
    };
    const { tools, skipped } = await toolsIn(documentOf(paths));
    expect([tools.map(({ definition }) => definition.name), skipped]).toEqual([
      ['e'],
      [
        { what: 'GET /a', why: 'it is not an object' },
        { what: '/b', why: 'its path is not an object' },
        { what: '/c', why: 'its $ref "#/none" leads nowhere' },
      ],
    ]);
  });
});

describe('a document in a file', () => {
  const folderWith = (files: Readonly<Record<string, Json>>): string => {
    const folder = tempDir();
    mkdirSync(join(folder, 'api', 'parts'), { recursive: true });
    for (const [name, content] of Object.entries(files))
      writeFileSync(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
    return folder;
  };

  it('may refer to files below its folder, even indirectly', async () => {
    const folder = folderWith({
      'api/api.json': documentOf({ '/a': { $ref: 'parts/path.yaml' } }),
      'api/parts/path.yaml': `get:
  operationId: a
  parameters: [{ name: q, in: query, schema: { $ref: 'schemas.json#/Thing' } }]
  requestBody: { $ref: '../api.json#/none' }
`,
      'api/parts/schemas.json': { Thing: { type: 'object', properties: { more: { $ref: '#/Thing' } } } },
    });
    const { tools } = await toolsOf(openSource(join(folder, 'api', 'api.json')));
    expect(tools.map(({ definition }) => [definition.name, definition.inputSchema['$defs']])).toEqual([
      ['a', { Thing: { type: 'object', properties: { more: { $ref: '#/$defs/Thing' } } } }],
    ]);
  });

  it.each<[reference: string, why: RegExp]>([
    ['../secret.json', /"\.\.\/secret\.json" cannot be read: lies outside/],
    ['parts/link.json', /cannot be read: lies outside/],
    ['parts/../../secret.json#/a', /cannot be read: lies outside/],
    ['file:///etc/passwd', /cannot be read: lies outside/],
    ['file://host/etc/passwd', /cannot be read: is not a path on this machine/],
    ['data:application/json,{}', /cannot be read: is reached by data:, which is not read/],
    ['none.json', /cannot be read: there is no such file/],
    ['parts/bad.json', /cannot be read: is neither JSON nor YAML/],
  ])('cannot refer to %s, and only that operation is skipped', async (reference, why) => {
    const folder = folderWith({
      'secret.json': {},
      'api/api.json': referring(reference),
      'api/parts/bad.json': '{"',
    });
    symlinkSync(join(folder, 'secret.json'), join(folder, 'api', 'parts', 'link.json'));
    const { tools, skipped } = await toolsOf(openSource(join(folder, 'api', 'api.json')));
    expect(tools.map(({ definition }) => definition.name)).toEqual(['good']);
    expect(skipped).toEqual([{ what: 'GET /bad', why: expect.stringMatching(why) }]);
  });

  it('notifies listeners when it or a referenced file changes; the same text yields the same tools', async () => {
    const folder = folderWith({
      'api/api.json': referring('parts/a.json'),
      'api/parts/a.json': { type: 'string' },
    });
    const source = openSource(join(folder, 'api', 'api.json'));
    let changes = 0;
    const end = source.onChange(() => (changes += 1));
    const { tools } = await toolsOf(source);
    expect((await toolsOf(source)).tools).toBe(tools);
    await new Promise((resolve) => setTimeout(resolve, 200));
    writeFileSync(join(folder, 'api', 'parts', 'a.json'), '{"type":"integer"}');
    await until('it is told', () => (changes > 0 ? true : undefined));
    const changed = await toolsOf(source);
    expect(changed.tools[0]?.definition.inputSchema['properties']).toEqual({ a: { type: 'integer' } });
    end();
  });

  it('is watched for each listener until it unsubscribes', async () => {
    const path = writeText(JSON.stringify(operationOf({})), 'api.json');
    const source = openSource(path);
    await toolsOf(source);
    let [changes, written] = [0, 0];
    const listener = (): number => (changes += 1);
    const change = (): void =>
      writeFileSync(path, JSON.stringify(operationOf({ path: `/${(written += 1)}` })));
    const ends = [source.onChange(listener), source.onChange(listener)];
    await until('both are told', () => {
      change();
      return changes >= 2 ? true : undefined;
    });
    for (const end of ends) end();
    const before = changes;
    let isTold = false;
    const end = source.onChange(() => (isTold = true));
    await until('another one is told', () => {
      change();
      return isTold ? true : undefined;
    });
    end();
    expect([before % 2, changes - before]).toEqual([0, 0]);
  });
});

describe('a document at a URL', () => {
  it('resolves its servers and references against that URL, and is fetched each time', async () => {
    const documents: Record<string, Json> = {
      '/v1/api.json': referring('parts/a.json', { servers: [{ url: '../v2' }] }),
      '/v1/parts/a.json': { type: 'string' },
    };
    const { url, asked } = await documentsAt(documents);
    const source = openSource(`${url}/v1/api.json#part`);
    const { tools } = await toolsOf(source);
    expect(tools.map(({ definition }) => definition.name)).toEqual(['bad', 'good']);
    expect((await toolsOf(source)).tools).toBe(tools);
    documents['/v1/parts/a.json'] = { type: 'integer' };
    expect((await toolsOf(source)).tools[0]?.definition.inputSchema['properties']).toEqual({
      a: { type: 'integer' },
    });
    expect(new Set(asked.map((one) => one.url))).toEqual(new Set(['/v1/api.json', '/v1/parts/a.json']));
  });

  it('cannot refer to local files', async () => {
    const secret = writeText('{"type":"string"}', 'secret.json');
    const { url } = await documentsAt({ '/api.json': referring(`file://${secret}`) });
    const { skipped } = await toolsOf(openSource(`${url}/api.json`));
    expect(skipped[0]?.why).toMatch(/is a file, which only a document that is a file may name$/);
  });

  it("is requested with the API's headers only if it has the API's origin", async () => {
    const [one, other] = [
      await documentsAt({ '/api.json': operationOf({}) }),
      await documentsAt({ '/part.json': { type: 'string' } }),
    ];
    const here = await documentsAt({ '/api.json': referring(`${other.url}/part.json`) });
    const headers = { 'X-Key': 'k' };
    await toolsOf(openSource(`${one.url}/api.json`, { headers }));
    await toolsOf(openSource(`${one.url}/api.json`, { headers, baseUrl: other.url }));
    await toolsOf(openSource(`${here.url}/api.json`, { headers, baseUrl: here.url }));
    const keys = [one, here, other].map(({ asked }) => asked.map(({ key }) => key));
    expect(keys).toEqual([[undefined, undefined], ['k'], [undefined]]);
  });

  it('may refer to at most a hundred other documents', async () => {
    const names = Array.from({ length: 150 }, (_, index) => `/p${index}.json`);
    const parameters = names.map((name) => ({
      name: name.slice(1, -5),
      in: 'query',
      schema: { $ref: name },
    }));
    const paths = {
      '/many': { get: { operationId: 'many', parameters } },
      '/few': { get: { operationId: 'few' } },
    };
    const { url, asked } = await documentsAt({
      '/api.json': documentOf(paths),
      ...Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
    });
    const { tools, skipped } = await toolsOf(openSource(`${url}/api.json`));
    expect(tools.map(({ definition }) => definition.name)).toEqual(['few']);
    expect(skipped[0]?.why).toMatch(/cannot be read: it is one of more than 100 others$/);
    expect(asked.length).toBeLessThanOrEqual(101);
  });

  it('is named by its path or URL if it is refused, without keys in the URL', async () => {
    const failure = async (document: string, text?: string): Promise<string> => {
      const read = await openSource(document, { text }).read(AbortSignal.timeout(20_000));
      return read.ok ? 'read' : formatCause(read.error);
    };
    const path = writeText('{"a":1}', 'api.json');
    const reason = 'is not an OpenAPI document: it has no member "openapi"';
    expect(await failure(path)).toBe(`its document ${JSON.stringify(path)}: ${reason}`);
    expect(await failure('upload:pets', '{"a":1}')).toBe(reason);
    const { url } = await documentsAt({});
    expect(await failure(`${url}/api.json?key=secret#x`)).toBe(
      `its document "${url}/api.json": cannot be fetched: its server answers with status 404`,
    );
  });

  it('with many paths is read in turns, in which other work is done', async () => {
    const paths = Object.fromEntries(Array.from({ length: 200_000 }, (_, at) => [`/${at}`, 'x']));
    const value = { ...documentOf({}), paths };
    const documents: Documents = {
      root: { value, at: 'file:///api.json' },
      find: () => err('unused'),
      follow: (located) => ok(located),
    };
    let turns = 0;
    const count = (): void => {
      turns += 1;
      next = setImmediate(count);
    };
    let next = setImmediate(count);
    const found = await readOperations(documents, new Turns());
    clearImmediate(next);
    expect(found).toMatchObject({ ok: true, value: { operations: [], skipped: { length: 200_000 } } });
    expect(turns).toBeGreaterThan(1);
  });

  it('is refused with the reason if it cannot be fetched', async () => {
    const { url } = await documentsAt({});
    expect(await failureOf(openSource(`${url}/api.json`))).toBe(
      'cannot be fetched: its server answers with status 404',
    );
    expect(await failureOf(openSource('http://10.0.0.1/api.json'))).toMatch(
      /^cannot be fetched: .*leads to a private address.*http\.allowPrivate/,
    );
    const port = await serveWeb(() => {});
    expect(await failureOf(openSource(`http://127.0.0.1:${port}/`, { timeoutMs: 200 }))).toBe(
      'was not read within 200 ms',
    );
  });
});
