// The input and output schemas of an operation, as models see them.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { at, type Json, type JsonObject } from '../../../../../../test/support/json.ts';
import { bodyOperation, operationOf } from '../../../../../../test/support/openapi-document.ts';
import { toolsIn } from '../../../../../../test/support/openapi-source.ts';

async function inputOf(document: JsonObject): Promise<Json> {
  const { tools, skipped } = await toolsIn(document);
  expect(skipped).toEqual([]);
  return JSON.parse(JSON.stringify(tools[0]?.definition.inputSchema)) as Json;
}

async function skippedIn(document: JsonObject): Promise<readonly string[]> {
  const { tools, skipped } = await toolsIn(document);
  return [
    ...tools.map(({ definition }) => definition.name),
    ...skipped.map(({ what, why }) => `${what}: ${why}`),
  ];
}

const closed = { type: 'object', additionalProperties: false };
const text = { type: 'string' };
const schemas = (some: JsonObject): JsonObject => ({ components: { schemas: some } });
const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
const old = { openapi: '3.0.3' };

describe('arguments', () => {
  it("are the parameters and the body's members, side by side", async () => {
    const operation = {
      path: '/p/{id}',
      method: 'put',
      parameters: [
        { name: 'id', in: 'path', schema: { type: 'integer' }, description: 'Which one.' },
        { name: 'dry', in: 'query', schema: { type: 'boolean' }, deprecated: true, example: true },
        { name: 'X-Trace', in: 'header', required: true },
        { name: 'mood', in: 'cookie', schema: { ...text, description: 'Kept.' } },
      ],
      requestBody: {
        required: true,
        content: {
          'text/plain': {},
          'application/json': {
            schema: {
              type: 'object',
              required: ['name'],
              properties: { name: text, tags: { type: 'array', items: text } },
            },
          },
        },
      },
    };
    expect(await inputOf(operationOf(operation))).toEqual({
      ...closed,
      properties: {
        id: { type: 'integer', description: 'Which one.' },
        dry: { type: 'boolean', deprecated: true, examples: [true] },
        'X-Trace': {},
        mood: { type: 'string', description: 'Kept.' },
        name: text,
        tags: { type: 'array', items: text },
      },
      required: ['id', 'X-Trace', 'name'],
    });
  });

  it('are not required if the body is optional', async () => {
    const schema = { type: 'object', required: ['a'], properties: { a: text } };
    const operation = { method: 'post', requestBody: { content: { 'application/json': { schema } } } };
    expect(await inputOf(operationOf(operation))).toEqual({ ...closed, properties: { a: text } });
  });

  it('get their location as a suffix if they share a name', async () => {
    const parameters = ['path', 'query', 'header'].map((place) => ({ name: 'id', in: place }));
    expect(
      await inputOf(
        operationOf({ path: '/{id}', parameters: [...parameters, { name: 'id_query', in: 'query' }] }),
      ),
    ).toEqual({
      ...closed,
      properties: { id_path: {}, id_query_2: {}, id_header: {}, id_query: {} },
      required: ['id_path'],
    });
  });

  it.each<[what: string, body: JsonObject | boolean]>([
    ['shares a name with a parameter', { type: 'object', properties: { q: text } }],
    ['is a list', { type: 'array', items: text }],
    ['is a string', text],
    ['may be anything', true],
    ['is a map', { type: 'object', additionalProperties: text }],
    ['is one of several types', { oneOf: [{ type: 'object', properties: { a: text } }, text] }],
    ['may be null', { type: ['object', 'null'], properties: { a: text } }],
    ['has rules across members', { type: 'object', properties: { a: text }, minProperties: 1 }],
  ])('include the body as one argument if it %s', async (_, schema) => {
    const document = bodyOperation(schema);
    const operation = at(document, 'paths', '/x', 'post') as JsonObject;
    const body = schema === true ? {} : schema;
    expect(
      await inputOf(operationOf({ ...operation, method: 'post', parameters: [{ name: 'q', in: 'query' }] })),
    ).toEqual({
      ...closed,
      properties: { q: {}, body },
      required: ['body'],
    });
  });

  it('keep a parameter named body apart from the body', async () => {
    const operation = at(bodyOperation(text), 'paths', '/x', 'post') as JsonObject;
    const input = await inputOf(
      operationOf({ ...operation, method: 'post', parameters: [{ name: 'body', in: 'query' }] }),
    );
    expect(Object.keys(at(input, 'properties') as JsonObject)).toEqual(['body_query', 'body']);
  });

  it('include all parts of a composed body', async () => {
    const parts = schemas({
      Base: {
        type: 'object',
        required: ['id'],
        properties: { id: { type: 'integer' }, made: { ...text, readOnly: true } },
      },
    });
    const schema = {
      allOf: [ref('Base'), { type: 'object', required: ['a', 'made'], properties: { a: text } }],
    };
    expect(await inputOf(bodyOperation(schema, parts))).toEqual({
      ...closed,
      properties: { id: { type: 'integer' }, a: text },
      required: ['id', 'a'],
    });
  });

  it('may include undeclared ones if the body allows them', async () => {
    const schema = { type: 'object', properties: { a: text }, additionalProperties: { type: 'integer' } };
    expect(await inputOf(bodyOperation(schema))).toEqual({
      type: 'object',
      properties: { a: text },
      additionalProperties: { type: 'integer' },
    });
  });

  it('have names that every model accepts', async () => {
    const names = ['filter[name]', '$top', 'Ünit', 'a b', '→', 'x'.repeat(80)];
    const input = await inputOf(operationOf({ parameters: names.map((name) => ({ name, in: 'query' })) }));
    expect(Object.keys(at(input, 'properties') as JsonObject)).toEqual([
      'filter_name',
      'top',
      'Unit',
      'a_b',
      'value',
      'x'.repeat(64),
    ]);
  });

  it('exclude headers that other parts of the request determine, and invalid header names', async () => {
    const names = [
      'Accept',
      'content-type',
      'AUTHORIZATION',
      'Host',
      'Cookie',
      'Content-Length',
      'bad name',
      'X-Ok',
    ];
    const input = await inputOf(operationOf({ parameters: names.map((name) => ({ name, in: 'header' })) }));
    expect(input).toEqual({ ...closed, properties: { 'X-Ok': {} } });
  });

  it('declared by an operation override those of its path, and may come from components', async () => {
    const components = { components: { parameters: { Q: { name: 'q', in: 'query', schema: text } } } };
    const get = { operationId: 'op', parameters: [{ name: 'r', in: 'query', schema: text }] };
    const parameters = [{ $ref: '#/components/parameters/Q' }, { name: 'r', in: 'query', required: true }];
    const document = { ...operationOf({}, components), paths: { '/x': { parameters, get } } };
    expect(await inputOf(document)).toEqual({ ...closed, properties: { q: text, r: text } });
  });

  it('are Base64 if they are files', async () => {
    const schema = {
      type: 'object',
      properties: {
        a: { ...text, format: 'binary', description: 'A ' },
        b: { type: 'array', items: { ...text, format: 'binary' } },
      },
    };
    const base64 = { ...text, contentEncoding: 'base64', description: 'The content in Base64.' };
    expect(await inputOf(bodyOperation(schema, old, 'multipart/form-data'))).toEqual({
      ...closed,
      properties: {
        a: { ...base64, description: 'A. The content in Base64.' },
        b: { type: 'array', items: base64 },
      },
    });
  });
});

describe('a schema of OpenAPI 3.0', () => {
  it.each<[what: JsonObject, becomes: JsonObject]>([
    [{ ...text, nullable: true }, { type: ['string', 'null'] }],
    [
      { ...text, nullable: true, enum: ['a'] },
      { type: ['string', 'null'], enum: ['a', null] },
    ],
    [{ nullable: true }, {}],
    [{ nullable: true, allOf: [text] }, { anyOf: [{ allOf: [text] }, { type: 'null' }] }],
    [{ nullable: false, ...text }, text],
    [
      { type: 'number', minimum: 1, exclusiveMinimum: true },
      { type: 'number', exclusiveMinimum: 1 },
    ],
    [
      { type: 'number', maximum: 1, exclusiveMaximum: true },
      { type: 'number', exclusiveMaximum: 1 },
    ],
    [
      { type: 'number', minimum: 1, exclusiveMinimum: false },
      { type: 'number', minimum: 1 },
    ],
    [
      { type: 'number', exclusiveMinimum: 2 },
      { type: 'number', exclusiveMinimum: 2 },
    ],
    [
      { ...text, example: 'a' },
      { ...text, examples: ['a'] },
    ],
    [
      { ...text, format: 'date-time' },
      { ...text, format: 'date-time' },
    ],
    [{ type: 'file' }, text],
    [{ type: 'any' }, {}],
    [
      { ...text, xml: {}, externalDocs: {}, 'x-a': 1, discriminator: {}, id: 'x', $id: 'x', $schema: 'x' },
      text,
    ],
    [{ ...text, pattern: '^\\_+$' }, text],
    [
      { ...text, pattern: '^a+$' },
      { ...text, pattern: '^a+$' },
    ],
    [{ ...text, minLength: -1, maxLength: '5', enum: [], title: 1, required: true }, text],
    [
      { type: 'object', required: ['a', 'a', 1] },
      { type: 'object', required: ['a'] },
    ],
    [
      { type: 'object', properties: { a: null, b: [] } },
      { type: 'object', properties: { a: {}, b: {} } },
    ],
    [{ type: 'array', items: [text] }, { type: 'array' }],
    [
      { oneOf: [text, { type: 'integer' }], discriminator: { propertyName: 'a' } },
      { anyOf: [text, { type: 'integer' }] },
    ],
    [{ oneOf: [text, { type: 'integer' }] }, { oneOf: [text, { type: 'integer' }] }],
    [
      { type: 'object', properties: { required: text, properties: text, nullable: text } },
      { type: 'object', properties: { required: text, properties: text, nullable: text } },
    ],
  ])('%j becomes %j', async (what, becomes) => {
    const document = operationOf({ parameters: [{ name: 'a', in: 'query', schema: what }] }, old);
    expect(at(await inputOf(document), 'properties', 'a')).toEqual(becomes);
  });

  it('ignores siblings of a reference, except descriptions', async () => {
    const beside = { ...ref('A'), description: 'Mine.', minLength: 5 };
    const at30 = operationOf(
      { parameters: [{ name: 'a', in: 'query', schema: beside }] },
      { ...old, ...schemas({ A: text }) },
    );
    expect(at(await inputOf(at30), 'properties', 'a')).toEqual({ ...text, description: 'Mine.' });
    const at31 = operationOf(
      { parameters: [{ name: 'a', in: 'query', schema: beside }] },
      schemas({ A: text }),
    );
    expect(at(await inputOf(at31), 'properties', 'a')).toEqual({
      description: 'Mine.',
      minLength: 5,
      allOf: [text],
    });
  });

  it('keeps a nullable reference nullable', async () => {
    const body = { type: 'object', properties: { a: { ...ref('A'), nullable: true } } };
    expect(
      at(await inputOf(bodyOperation(body, { ...old, ...schemas({ A: text }) })), 'properties', 'a'),
    ).toEqual({
      anyOf: [text, { type: 'null' }],
    });
  });
});

describe('a schema of OpenAPI 3.1', () => {
  it('stays unchanged', async () => {
    const schema = {
      type: ['object', 'null'],
      properties: { a: { const: 1 }, b: true, c: false, list: { prefixItems: [text], items: false } },
      patternProperties: { '^x-': text },
      dependentRequired: { a: ['b'] },
      if: { required: ['a'] },
      then: { properties: { b: { minimum: 1 } } },
      unevaluatedProperties: false,
      examples: [{ a: 1 }],
    };
    expect(at(await inputOf(bodyOperation(schema)), 'properties', 'body')).toEqual(schema);
  });
});

describe('references', () => {
  it('from a schema to itself become definitions, and unused definitions are dropped', async () => {
    const node = {
      type: 'object',
      properties: { name: text, next: ref('Node'), kids: { type: 'array', items: ref('Kid') } },
    };
    const kid = { type: 'object', properties: { parent: ref('Node') } };
    const document = bodyOperation(ref('Node'), schemas({ Node: node, Kid: kid, Unused: node }));
    const defs = (name: string): JsonObject => ({ $ref: `#/$defs/${name}` });
    const properties = { name: text, next: defs('Node'), kids: { type: 'array', items: defs('Kid') } };
    expect(await inputOf(document)).toEqual({
      ...closed,
      properties,
      $defs: {
        Kid: { type: 'object', properties: { parent: defs('Node') } },
        Node: { type: 'object', properties },
      },
    });
  });

  it('to places with the same last segment get separate definitions', async () => {
    const tree = (place: string, extra: JsonObject): JsonObject => ({
      type: 'object',
      properties: { again: { $ref: `#/components/${place}/Tree` }, ...extra },
    });
    const components = {
      schemas: { Tree: tree('schemas', { a: text }) },
      'x-more': { Tree: tree('x-more', { b: text }) },
    };
    const body = {
      type: 'object',
      properties: { one: ref('Tree'), other: { $ref: '#/components/x-more/Tree' } },
    };
    const input = await inputOf(bodyOperation(body, { components }));
    const names = Object.keys(at(input, '$defs') as JsonObject);
    expect(names).toEqual(['Tree', expect.stringMatching(/^Tree_[0-9a-f]{8}$/)]);
    const other = names[1]!;
    expect(at(input, 'properties')).toEqual({
      one: { $ref: '#/$defs/Tree' },
      other: { $ref: `#/$defs/${other}` },
    });
    expect(at(input, '$defs', other, 'properties')).toEqual({ again: { $ref: `#/$defs/${other}` }, b: text });
  });

  it('between a base schema and its subtypes are resolved without loss or recursion', async () => {
    const pet = {
      type: 'object',
      required: ['kind'],
      properties: { kind: text },
      discriminator: { propertyName: 'kind' },
      oneOf: [ref('Cat'), ref('Dog')],
    };
    const kind = (name: string): JsonObject => ({
      allOf: [ref('Pet'), { type: 'object', properties: { [name]: text } }],
    });
    const document = bodyOperation(
      { type: 'object', properties: { pet: ref('Pet'), cat: ref('Cat') } },
      schemas({ Pet: pet, Cat: kind('claws'), Dog: kind('bark') }),
    );
    const input = await inputOf(document);
    const validate = new Ajv2020({ strict: false }).compile(input as JsonObject);
    expect(validate({ pet: { kind: 'cat', claws: 'a' }, cat: { kind: 'cat', claws: 'b' } })).toBe(true);
    expect(validate({ pet: { claws: 'a' } })).toBe(false);
    expect(validate({ cat: { claws: 'a' } })).toBe(false);
    expect(validate({ cat: { kind: 'cat', claws: 1 } })).toBe(false);
  });

  it.each<[what: string, schema: JsonObject, why: string]>([
    ['nothing', ref('None'), '$ref "#/components/schemas/None" leads nowhere'],
    ['themselves', ref('Loop'), 'back to itself'],
    ['members of Object.prototype', { $ref: '#/constructor' }, '$ref "#/constructor" leads nowhere'],
    ['an invalid URL', { $ref: 'http://[' }, 'not a URL'],
    ['nothing, from deep inside', { type: 'object', properties: { a: ref('Deep') } }, 'leads nowhere'],
  ])('to %s cause only their own operation to be skipped', async (_, schema, why) => {
    const broken = at(bodyOperation(schema), 'paths', '/x', 'post') as JsonObject;
    const document = operationOf({}, schemas({ Loop: ref('Loop'), Deep: { items: ref('None') } }));
    const paths = { ...(document['paths'] as JsonObject), '/y': { post: broken } };
    expect(await skippedIn({ ...document, paths })).toEqual(['op', expect.stringContaining(why)]);
  });
});

describe('a schema that is too large', () => {
  const large = (size: number, words: number): JsonObject =>
    bodyOperation({
      type: 'object',
      properties: Object.fromEntries(
        Array.from({ length: size }, (_, index) => [
          `m${index}`,
          { ...text, description: 'w'.repeat(words) },
        ]),
      ),
    });

  it('loses its descriptions but no properties', async () => {
    const properties = at(await inputOf(large(300, 1_000)), 'properties') as JsonObject;
    expect(Object.keys(properties)).toHaveLength(300);
    expect(properties['m299']).toEqual(text);
  });

  it('causes its operation to be skipped if that is not enough', async () => {
    expect(await skippedIn(large(20_000, 0))).toEqual([
      'POST /x: the schema of its arguments is longer than 256 kB',
    ]);
  });
});

describe('an operation', () => {
  it.each<[why: string, operation: JsonObject]>([
    [
      'its body is image/*, which is not supported',
      { method: 'post', requestBody: { content: { 'image/*': {} } } },
    ],
    [
      'its body is a type of nobody or image/*, which is not supported',
      { method: 'post', requestBody: { content: { 'a type of nobody': {}, 'image/*': {} } } },
    ],
    ['its body has no content', { method: 'post', requestBody: {} }],
    ['TRACE echoes the request, including secrets', { method: 'trace' }],
    ['its parameters are not a list', { parameters: {} }],
    ['one of its parameters has no name', { parameters: [{ in: 'query' }] }],
    ['its parameter "q" is in "body", which is not supported', { parameters: [{ name: 'q', in: 'body' }] }],
    [
      'its parameter "q" has the style "matrix", which a query has not',
      { parameters: [{ name: 'q', in: 'query', style: 'matrix' }] },
    ],
    ['its path does not begin with "/"', { path: 'x' }],
    ['its path contains a "." or ".." segment', { path: '/a/../b' }],
    ['its path has a parameter behind "?" or "#"', { path: '/a?b={c}' }],
  ])('is skipped because %s', async (why, operation) => {
    const { path = '/x', method = 'get' } = operation;
    expect(await skippedIn(operationOf(operation))).toEqual([
      `${String(method).toUpperCase()} ${String(path)}: ${why}`,
    ]);
  });

  it('has no body if its method is GET, even if the document declares one', async () => {
    const requestBody = { content: { 'image/png': {} } };
    expect(await skippedIn(operationOf({ requestBody }))).toEqual(['op']);
  });
});

describe('the output schema', () => {
  const outputOf = async (responses: JsonObject, more: JsonObject = {}): Promise<unknown> => {
    const { tools } = await toolsIn(operationOf({ responses }, more), { outputValidation: 'strict' });
    return tools[0]?.definition.outputSchema;
  };
  const json = (schema: JsonObject): JsonObject => ({
    description: '',
    content: { 'application/json': { schema } },
  });
  const object = { type: 'object', properties: { a: text } };

  it('covers every success response', async () => {
    expect(await outputOf({ '200': json(object), '404': json(text) })).toEqual(object);
    expect(await outputOf({ '200': json(object), '201': json(object) })).toEqual(object);
    expect(await outputOf({ '2XX': json(object) })).toEqual(object);
    const secret = {
      type: 'object',
      required: ['a', 'b'],
      properties: { a: text, b: { ...text, writeOnly: true }, c: { ...text, readOnly: true } },
    };
    expect(await outputOf({ '200': json(secret) })).toEqual({
      type: 'object',
      required: ['a'],
      properties: { a: text, c: text },
    });
    expect(
      await outputOf({ '200': json(ref('A')) }, schemas({ A: { ...object, properties: { a: ref('A') } } })),
    ).toEqual({
      type: 'object',
      properties: { a: { $ref: '#/$defs/A' } },
      $defs: { A: { type: 'object', properties: { a: { $ref: '#/$defs/A' } } } },
    });
  });

  it.each<[what: string, responses: JsonObject]>([
    ['none is declared', {}],
    ['it is a list', { '200': json({ type: 'array' }) }],
    ['success responses differ', { '200': json(object), '201': json({ type: 'object' }) }],
    ['a success response has no content', { '200': json(object), '204': { description: '' } }],
    ['only failures declare one', { '400': json(object), default: json(object) }],
    ['it has a broken reference', { '200': json({ ...object, properties: { a: ref('None') } }) }],
    [
      'it is too long',
      { '200': json({ ...object, properties: { a: { ...text, description: 'w'.repeat(70_000) } } }) },
    ],
  ])('is absent if %s', async (_, responses) => {
    expect(await outputOf(responses)).toBeUndefined();
  });
});
