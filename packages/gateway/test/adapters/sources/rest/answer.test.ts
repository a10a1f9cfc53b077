// How a model sees the response to an HTTP request.
import { describe, expect, it } from 'vitest';
import { Cancellation } from '@assay-mcp/kit/cancellation';
import { call, serveTool, shown, type Echo } from './serve-tool.ts';

type Headers = Readonly<Record<string, string>>;

function answering(status: number, headers: Headers, body: string | Buffer = ''): Promise<Echo> {
  const length = body.length === 0 ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return serveTool((_, response) => response.writeHead(status, { ...length, ...headers }).end(body));
}

const JSON_TYPE = { 'content-type': 'application/json' };

describe('a response', () => {
  it('is passed on unchanged if it is JSON', async () => {
    const body = '{"big": 12345678901234567890, "f": 2.50}\n';
    const echo = await answering(200, JSON_TYPE, body);
    expect(await call(echo.tool({}), '{}')).toEqual({
      content: [{ type: 'text', text: body }],
    });
  });

  it.each(['{}', '7', '12345678901234567890', '[]'])(
    'is structured as it is only if it is an object: %s',
    async (body) => {
      const echo = await answering(200, JSON_TYPE, body);
      const result = await call(echo.tool({ outputSchema: { type: 'object' } }), '{}');
      expect(JSON.stringify(result.structuredContent)).toBe(body === '{}' ? '{}' : `{"result":${body}}`);
    },
  );

  it.each([
    [204, {}, 'Done: the server answered 204 and no content.'],
    [
      201,
      { location: '/pets/1', etag: '"a"' },
      'Done: the server answered 201 and no content.\nlocation: /pets/1\netag: "a"',
    ],
  ])('with status %i and no content is shown as its headers', async (status, headers, text) => {
    const echo = await answering(status, headers);
    expect(await call(echo.tool({}), '{}')).toEqual({
      content: [{ type: 'text', text }],
    });
  });

  it.each<readonly [string, Headers, Buffer, string]>([
    ['no type', {}, Buffer.from('grüezi'), 'grüezi'],
    ['type text/plain', { 'content-type': 'text/plain' }, Buffer.from('\ufeffgrüezi'), 'grüezi'],
    [
      'a charset',
      { 'content-type': 'text/plain; charset="ISO-8859-1"' },
      Buffer.from('grüezi', 'latin1'),
      'grüezi',
    ],
    ['an unknown charset', { 'content-type': 'text/plain;charset=x' }, Buffer.from('grüezi'), 'grüezi'],
    ['a vendor type', { 'content-type': 'application/vnd.a+json' }, Buffer.from('[1.0]'), '[1.0]'],
    [
      'a binary type but text bytes',
      { 'content-type': 'application/octet-stream' },
      Buffer.from('a,b\n'),
      'a,b\n',
    ],
    ['type image/svg+xml', { 'content-type': 'image/svg+xml' }, Buffer.from('<svg/>'), '<svg/>'],
  ])('with %s is passed on as text', async (_what, headers, body, text) => {
    const echo = await answering(200, headers, body);
    expect(shown(await call(echo.tool({}), '{}'))).toBe(text);
  });

  it.each(['image', 'audio'])('with %s data is passed on as such', async (type) => {
    const mimeType = `${type}/x-test`;
    const echo = await answering(200, { 'content-type': mimeType }, Buffer.from([0, 1, 2]));
    expect((await call(echo.tool({}), '{}')).content).toEqual([{ type, data: 'AAEC', mimeType }]);
  });

  it('with any other bytes becomes a resource', async () => {
    const echo = await answering(200, { 'content-type': 'application/pdf' }, Buffer.from([0x25, 0, 0xff]));
    const resource = { uri: `${echo.origin}/a`, mimeType: 'application/pdf', blob: 'JQD/' };
    expect((await call(echo.tool({ url: '/a?key=1' }), '{}')).content).toEqual([
      { type: 'text', text: 'The answer is 3 bytes of application/pdf.' },
      { type: 'resource', resource },
    ]);
  });

  it('says where it was cut if it is truncated', async () => {
    const echo = await answering(200, { ...JSON_TYPE, 'content-length': '8' }, '"äöü"');
    expect(shown(await call(echo.tool({ maxBytes: 4 }), '{}'))).toBe(
      '"ä\n\n[cut after 4 bytes of 8; raise "maxBytes", and set a "filter" where less of it is wanted.]',
    );
    const image = await answering(200, { 'content-type': 'image/png' }, Buffer.alloc(10));
    expect(shown(await call(image.tool({ maxBytes: 4 }), '{}'))).toBe(
      `error: The answer to POST ${image.origin}/ is image/png, of which a part is of no use: it was cut after 4 bytes of 10; raise "maxBytes".`,
    );
  });

  it("with a failure status is an error with the server's message", async () => {
    const echo = await answering(404, JSON_TYPE, '{"message":"no such pet"}');
    expect(await call(echo.tool({ url: '/pets?key=1', filter: 'a' }), '{}')).toEqual({
      content: [
        {
          type: 'text',
          text: `POST ${echo.origin}/pets: the server answered 404. It said:\n\n{"message":"no such pet"}`,
        },
      ],
      isError: true,
    });
    const empty = await answering(503, { 'retry-after': '120' });
    expect(shown(await call(empty.tool({}), '{}'))).toBe(
      `error: POST ${empty.origin}/: the server answered 503. It can be asked again after: 120.`,
    );
    const long = await answering(500, {}, 'x'.repeat(20_000));
    expect(shown(await call(long.tool({}), '{}'))).toBe(
      `error: POST ${long.origin}/: the server answered 500. It said:\n\n${'x'.repeat(10_000)}\n\n[cut after 10000 of 20000 characters]`,
    );
  });

  it('with a redirect is an error if repeating the request could be harmful', async () => {
    const echo = await answering(307, { location: 'https://other.example/a?token=1' });
    expect(shown(await call(echo.tool({}), '{}'))).toBe(
      `error: POST ${echo.origin}/: the server answered 307 and points to https://other.example/a. A request that may have an effect is not sent twice, so nothing was sent there.`,
    );
    const nowhere = await answering(304, {});
    expect(shown(await call(nowhere.tool({ method: 'GET' }), '{}'))).toBe(
      `error: GET ${nowhere.origin}/: the server answered 304.`,
    );
  });
});

describe('a filter', () => {
  it('transforms the response', async () => {
    const echo = await answering(
      200,
      JSON_TYPE,
      '{"pets": [{"id": 12345678901234567890, "age": 2}, {"id": 1, "age": 9}]}',
    );
    expect(shown(await call(echo.tool({ filter: 'pets[?age < `5`].id' }), '{}'))).toBe(
      '[12345678901234567890]',
    );
    expect(shown(await call(echo.tool({ filter: 'nothing' }), '{}'))).toBe('null');
    expect(shown(await call(echo.tool({ filter: 'constructor' }), '{}'))).toBe('null');
  });

  it('reports why it failed', async () => {
    const echo = await answering(200, JSON_TYPE, '{"a":"b"}');
    expect(shown(await call(echo.tool({ filter: 'sum(a)' }), '{}'))).toMatch(
      /^error: The filter does not fit the answer to POST .*\/: .*sum\(\).*\. It said:\n\n\{"a":"b"\}$/,
    );
  });

  it('is stopped if it takes too long, while concurrent calls continue', async () => {
    const echo = await answering(200, JSON_TYPE, '{"a":1}');
    const endless = Array.from({ length: 30 }, () => '[@,@][]').join(' | ');
    const never = new Cancellation();
    const order: string[] = [];
    const stopped = call(echo.tool({ filter: endless }), '{}', never).then((result) => {
      order.push('endless');
      return shown(result);
    });
    const beside = [echo.tool({}), echo.tool({ filter: 'a' })];
    const texts = await Promise.all(beside.map(async (tool) => shown(await call(tool, '{}', never))));
    expect([texts, order]).toEqual([['{"a":1}', '1'], []]);
    expect(await stopped).toMatch(
      /^error: The request POST .* was carried out, but its filter "\[@,@\].* (?:did not finish within 5 s|needed more than 512 MiB of memory) and was stopped\. Simplify the filter, or request less\.$/,
    );
  });

  it('works only on complete JSON', async () => {
    const page = await answering(200, { 'content-type': 'text/html' }, '<html>');
    expect(shown(await call(page.tool({ filter: 'a' }), '{}'))).toBe(
      `error: The filter works on JSON, which the answer to POST ${page.origin}/ is not. It said:\n\n<html>`,
    );
    const image = await answering(200, { 'content-type': 'image/png' }, Buffer.from([0]));
    expect(shown(await call(image.tool({ filter: 'a' }), '{}'))).toBe(
      `error: The filter works on JSON, and the answer to POST ${image.origin}/ is 1 bytes of image/png.`,
    );
    const long = await answering(200, JSON_TYPE, '[1,2,3]');
    expect(shown(await call(long.tool({ filter: 'a', maxBytes: 3 }), '{}'))).toBe(
      `error: The request POST ${long.origin}/ was carried out, but the filter needs its whole answer, which was cut after 3 bytes of 7; raise "maxBytes".`,
    );
  });
});

describe('an output schema', () => {
  const STRICT = { outputValidation: 'strict' };
  const outputSchema = { type: 'object', properties: { id: { type: 'integer' } }, required: ['id'] };

  it('makes the response structured, with long integers preserved', async () => {
    const echo = await answering(200, JSON_TYPE, '{"id":12345678901234567890}');
    const result = await call(echo.tool({ outputSchema }), '{}');
    expect(JSON.stringify(result)).toBe(
      '{"content":[{"type":"text","text":"{\\"id\\":12345678901234567890}"}],"structuredContent":{"id":12345678901234567890}}',
    );
  });

  it('applies to the output of a filter', async () => {
    const echo = await answering(200, JSON_TYPE, '{"pet":{"id":1}}');
    expect(await call(echo.tool({ outputSchema, filter: 'pet' }), '{}')).toEqual({
      content: [{ type: 'text', text: '{"id":1}' }],
      structuredContent: { id: 1 },
    });
  });

  it.each([
    ['{"id":"a"}', ' at "id" it must be integer'],
    ['{}', ' at "id" it is missing'],
    ['[1]', ' it is not a JSON object'],
    ['hello', ' it is not a JSON object'],
  ])('turns, if strict, the non-matching response %s into an error', async (body, fault) => {
    const echo = await answering(200, JSON_TYPE, body);
    expect(await call(echo.tool({ outputSchema, ...STRICT }), '{}')).toEqual({
      content: [
        {
          type: 'text',
          text: `The POST request was carried out, but its answer does not match the output schema:${fault}. Do not send it again before you know what it did.`,
        },
        { type: 'text', text: body },
      ],
      isError: true,
    });
  });

  it('does not discard a response that was cut, unless strict', async () => {
    const long = await answering(200, JSON_TYPE, '{"id":1234567}');
    const cut = await call(long.tool({ outputSchema, maxBytes: 6 }), '{}');
    expect(cut.isError).toBeUndefined();
    expect(shown(cut)).toMatch(/^\{"id":\n\n\[cut after 6 bytes of 14/);
    expect(shown(await call(long.tool({ outputSchema, maxBytes: 6, ...STRICT }), '{}'))).toBe(
      `error: The request POST ${long.origin}/ was carried out, but the output schema needs its whole answer, which was cut after 6 bytes of 14; raise "maxBytes".`,
    );
  });

  it('that does not match a response with bytes or text delivers it', async () => {
    const image = await answering(200, { 'content-type': 'image/png' }, 'x');
    expect(await call(image.tool({ outputSchema }), '{}')).toEqual({
      content: [{ type: 'image', data: 'eA==', mimeType: 'image/png' }],
      structuredContent: { result: 'image/png' },
    });
  });

  it('leaves an error unchanged', async () => {
    const echo = await answering(400, JSON_TYPE, '[]');
    expect(shown(await call(echo.tool({ outputSchema }), '{}'))).toBe(
      `error: POST ${echo.origin}/: the server answered 400. It said:\n\n[]`,
    );
  });

  it('rejects a response that nests too deeply, as does a filter', async () => {
    const nested = (levels: number): string => `${'{"id":'.repeat(levels)}1${'}'.repeat(levels)}`;
    const open = { type: 'object' };
    const deep = await answering(200, JSON_TYPE, nested(60_000));
    for (const entry of [{ outputSchema: open, ...STRICT }, { filter: 'id' }])
      expect(shown(await call(deep.tool(entry), '{}'))).toBe(
        `error: The request POST ${deep.origin}/ was carried out, but its answer nests deeper than 1000 levels, which is not read.`,
      );
    expect(shown(await call(deep.tool({}), '{}')), 'as text it is read').toBe(nested(60_000));
    expect(await call(deep.tool({ outputSchema: open }), '{}'), 'if not strict').toEqual({
      content: [{ type: 'text', text: nested(60_000) }],
      structuredContent: { result: nested(60_000) },
    });
    const usual = await answering(200, JSON_TYPE, `{"id":"${'\\"[{'.repeat(2_000)}","a":${nested(999)}}`);
    expect(await call(usual.tool({ outputSchema: open }), '{}')).not.toHaveProperty('isError');
  });
});
