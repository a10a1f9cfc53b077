// How a model sees the responses of an OpenAPI tool.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { Cancellation, Cancelled } from '@assay-mcp/kit/cancellation';
import type { BuiltInResult, BuiltInTool } from '../../../../src/adapters/sources/built-in-tool.ts';
import type { OutputValidation } from '../../../../src/core/sources/output-validation.ts';
import { echoWeb } from '../../../../../../test/support/echo-web.ts';
import type { Json, JsonObject } from '../../../../../../test/support/json.ts';
import { operationOf } from '../../../../../../test/support/openapi-document.ts';
import { callTool, textIn, toolsIn } from '../../../../../../test/support/openapi-source.ts';
import { serveWeb } from '../../../../../../test/support/web-server.ts';

interface Answering {
  readonly answer: Json;
  readonly schema?: JsonObject;
  readonly status?: number;
  readonly method?: string;
  readonly outputValidation?: OutputValidation;
  readonly openapi?: string;
}

async function toolAnswering({ answer, schema, status, method, ...more }: Answering): Promise<BuiltInTool> {
  const { outputValidation = 'strict', openapi = '3.1.0' } = more;
  const web = await echoWeb(answer, status ?? 200);
  const responses =
    schema === undefined ? {} : { '200': { description: '', content: { 'application/json': { schema } } } };
  const operation = { responses, ...(method !== undefined && { method }) };
  const document = operationOf(operation, { openapi, servers: [{ url: web.url }] });
  const { tools } = await toolsIn(document, { outputValidation });
  return tools[0]!;
}

async function answered(answering: Answering): Promise<BuiltInResult> {
  return callTool(await toolAnswering(answering), {});
}

const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } };

describe('a response', () => {
  it('is structured if the document describes its structure', async () => {
    const result = await answered({ answer: { a: 1, b: [2] }, schema });
    expect([result.structuredContent, textIn(result)]).toEqual([{ a: 1, b: [2] }, '{"a":1,"b":[2]}']);
  });

  it('is text otherwise', async () => {
    const result = await answered({ answer: [1] });
    expect([result.structuredContent, textIn(result)]).toEqual([undefined, '[1]']);
  });

  it.each<[answer: Json, status: number, says: RegExp]>([
    [
      { a: 'x' },
      200,
      /^ERROR The GET request was carried out, but .* schema: at "a" it must be integer\.\n\{"a":"x"\}$/,
    ],
    [[1], 200, /^ERROR The GET request was carried out, .* it is not a JSON object\.\n\[1\]$/],
    [null, 204, /^ERROR The GET request was carried out, .* it is not a JSON object\.\nDone: .*204/],
    [
      { code: 7 },
      422,
      /^ERROR GET http:\/\/127\.0\.0\.1:\d+\/x: the server answered 422\.[\s\S]*\{"code":7\}$/,
    ],
  ])(
    'is, with strict, an error with its content if the document does not declare it: %j with status %i',
    async (answer, status, says) => {
      const result = await answered({ answer, schema, status });
      expect(textIn(result)).toMatch(says);
      expect(result.structuredContent).toBeUndefined();
    },
  );

  it('is, with strict, an error that warns of a second request if the method may have an effect', async () => {
    expect(textIn(await answered({ answer: {}, schema, method: 'post' }))).toBe(
      'ERROR The POST request was carried out, but its answer does not match the output schema: at "a" it is missing. Do not send it again before you know what it did.\n{}',
    );
  });

  it.each<[answer: Json, status: number, text: string | RegExp, structure: Json]>([
    [{ a: 1 }, 200, '{"a":1}', { a: 1 }],
    [{ a: 'x' }, 200, '{"a":"x"}', { a: 'x' }],
    [[1], 200, '[1]', { result: [1] }],
    [null, 200, 'null', { result: null }],
    [
      null,
      204,
      /^Done: the server answered 204 and no content/,
      { result: expect.stringContaining('204') as unknown as string },
    ],
  ])('is delivered by default, whether declared or not: %j with status %i', async (...given) => {
    const [answer, status, text, structure] = given;
    const tool = await toolAnswering({ answer, status, schema, outputValidation: 'warn' });
    const result = await callTool(tool, {});
    expect(textIn(result)).toMatch(text);
    expect(result.structuredContent).toEqual(structure);
    // As the official client of TypeScript does.
    const accepts = new Ajv2020({ strict: false }).compile(tool.definition.outputSchema!);
    expect(accepts(result.structuredContent)).toBe(true);
  });

  it('is neither described nor checked with off', async () => {
    const tool = await toolAnswering({ answer: { a: 'x' }, schema, outputValidation: 'off' });
    expect(tool.definition).not.toHaveProperty('outputSchema');
    expect(await callTool(tool, {})).toEqual({ content: [{ type: 'text', text: '{"a":"x"}' }] });
    expect(tool.difference?.()).toBeUndefined();
  });

  it('that differs is remembered by its place in the schema, without data of callers', async () => {
    const counts = {
      type: 'object',
      additionalProperties: { type: 'object', properties: { n: { type: 'integer' } } },
    };
    const tool = await toolAnswering({
      answer: { 'ada@example.com': { n: 'secret' } },
      schema: {
        type: 'object',
        properties: { users: counts },
        additionalProperties: counts.additionalProperties,
      },
      outputValidation: 'warn',
    });
    expect(tool.difference?.()).toBeUndefined();
    await callTool(tool, {});
    expect(tool.difference?.()).toBe('at "*.n"');
  });

  it('may have null where 3.0 says nullable, and a time without zone', async () => {
    const text = { type: 'string', nullable: true };
    const properties = {
      name: text,
      size: { type: 'string', enum: ['s', 'm'], nullable: true },
      owner: { allOf: [{ type: 'object' }], nullable: true },
      made: { type: 'string', format: 'date-time' },
      format: text,
    };
    const answer = { name: null, size: null, owner: null, made: '2026-01-02T03:04:05', format: 'x' };
    const tool = await toolAnswering({ answer, schema: { type: 'object', properties }, openapi: '3.0.3' });
    expect((await callTool(tool, {})).structuredContent).toEqual(answer);
    // Official clients check formats.
    const listed = tool.definition.outputSchema?.['properties'];
    expect(listed).toMatchObject({ made: { type: 'string' }, format: { type: ['string', 'null'] } });
    expect(listed).not.toHaveProperty('made.format');
  });

  it('becomes an error if it nests too deeply', async () => {
    const nested = `${'{"a":'.repeat(60_000)}1${'}'.repeat(60_000)}`;
    const port = await serveWeb((_, response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(nested),
    );
    const responses = {
      '200': { description: '', content: { 'application/json': { schema: { type: 'object' } } } },
    };
    const { tools } = await toolsIn(
      operationOf({ responses }, { servers: [{ url: `http://127.0.0.1:${port}` }] }),
      { outputValidation: 'strict' },
    );
    expect(textIn(await callTool(tools[0]!, {}))).toBe(
      `ERROR The request GET http://127.0.0.1:${port}/x was carried out, but its answer nests deeper than 1000 levels, which is not read.`,
    );
  });

  it('becomes an error without secrets if it never arrives', async () => {
    const components = { securitySchemes: { k: { type: 'apiKey', in: 'query', name: 'key' } } };
    const { tools } = await toolsIn(operationOf({ security: [{ k: [] }] }, { components }), {
      credentials: { k: 'secret' },
    });
    const text = textIn(await callTool(tools[0]!, {}));
    expect(text).toMatch(/^ERROR "http:\/\/127\.0\.0\.1:1\/x" /);
    expect(text).not.toContain('secret');
  });

  it('is not requested for a cancelled call', async () => {
    const web = await echoWeb({});
    const { tools } = await toolsIn(operationOf({}, { servers: [{ url: web.url }] }));
    const cancellation = new Cancellation();
    cancellation.cancel();
    const call = {
      cancellation,
      progress: () => {},
      log: () => {},
      ask: () => Promise.reject(new Error()),
    };
    await expect(tools[0]!.run({ values: {}, text: '{}' }, call)).rejects.toThrow(Cancelled);
    expect(web.taken()).toEqual([]);
  });
});
