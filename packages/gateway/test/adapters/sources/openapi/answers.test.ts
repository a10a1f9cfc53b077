// How a model sees the responses of an OpenAPI tool.
import { describe, expect, it } from 'vitest';
import { Cancellation, Cancelled } from '@assay-mcp/kit/cancellation';
import type { BuiltInResult } from '../../../../src/adapters/sources/built-in-tool.ts';
import { echoWeb } from '../../../../../../test/support/echo-web.ts';
import type { Json, JsonObject } from '../../../../../../test/support/json.ts';
import { operationOf } from '../../../../../../test/support/openapi-document.ts';
import { callTool, textIn, toolsIn } from '../../../../../../test/support/openapi-source.ts';
import { serveWeb } from '../../../../../../test/support/web-server.ts';

async function answered(answer: Json, schema?: JsonObject, status = 200): Promise<BuiltInResult> {
  const web = await echoWeb(answer, status);
  const responses =
    schema === undefined ? {} : { '200': { description: '', content: { 'application/json': { schema } } } };
  const { tools } = await toolsIn(operationOf({ responses }, { servers: [{ url: web.url }] }));
  return callTool(tools[0]!, {});
}

const schema = { type: 'object', required: ['a'], properties: { a: { type: 'integer' } } };

describe('a response', () => {
  it('is structured if the document describes its structure', async () => {
    const result = await answered({ a: 1, b: [2] }, schema);
    expect([result.structuredContent, textIn(result)]).toEqual([{ a: 1, b: [2] }, '{"a":1,"b":[2]}']);
  });

  it('is text otherwise', async () => {
    const result = await answered([1]);
    expect([result.structuredContent, textIn(result)]).toEqual([undefined, '[1]']);
  });

  it.each<[answer: Json, status: number, says: RegExp]>([
    [
      { a: 'x' },
      200,
      /^ERROR \{"a":"x"\}\nThe request was carried out, but .* promises: at "a" it must be integer\.$/,
    ],
    [[1], 200, /^ERROR \[1\]\nThe request was carried out, .* it is not a JSON object\.$/],
    [null, 204, /^ERROR Done: .*204[^]*\nThe request was carried out, .* it is not a JSON object\.$/],
    [
      { code: 7 },
      422,
      /^ERROR GET http:\/\/127\.0\.0\.1:\d+\/x: the server answered 422\.[\s\S]*\{"code":7\}$/,
    ],
  ])(
    'is an error with its content if the document does not declare it: %j with status %i',
    async (answer, status, says) => {
      const result = await answered(answer, schema, status);
      expect(textIn(result)).toMatch(says);
      expect(result.structuredContent).toBeUndefined();
    },
  );

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
