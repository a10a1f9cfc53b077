import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { at, listAt, type Json } from '../support/json.ts';
import { META, modernAsk, modernBody, modernHeaders, modernSend } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';

describe('a modern client over HTTP', () => {
  let assay: Gateway;
  beforeAll(async () => {
    assay = await startGateway({ servers: { plain: fixture('plain'), modern: fixture('modern') } });
    await assay.settled();
  });

  it('discovers the capabilities without a session', async () => {
    const answer = await modernSend(assay.url, 'server/discover');
    expect([answer.status, answer.type]).toEqual([200, 'application/json']);
    expect(answer.headers).not.toHaveProperty('mcp-session-id');
    const result = at(answer.json(), 'result');
    expect(listAt(result, 'supportedVersions')).toContain('2026-07-28');
    expect(at(result, 'resultType')).toBe('complete');
    expect(at(result, 'capabilities', 'tools')).toEqual({ listChanged: true });
    expect(at(result, '_meta', `${META}serverInfo`, 'name')).toEqual(expect.any(String));
    expect(at(result, 'cacheScope')).toBe('private');
    expect(at(result, 'ttlMs')).toEqual(expect.any(Number));
  });

  it.each(['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list'])(
    'gets resultType, ttlMs 0 and cacheScope private with %s',
    async (method) => {
      const result = at(await modernAsk(assay.url, method), 'result');
      expect(result).toMatchObject({ resultType: 'complete', ttlMs: 0, cacheScope: 'private' });
    },
  );

  it('gets resultType with the result of a call, whatever the era of the server', async () => {
    for (const name of ['plain_echo', 'modern_echo']) {
      const result = at(
        await modernAsk(assay.url, 'tools/call', { params: { name, arguments: { a: 1 } } }),
        'result',
      );
      expect(result).toMatchObject({ resultType: 'complete', content: [{ type: 'text', text: '{"a":1}' }] });
    }
  });

  it('gets what a modern server says about itself and caching unchanged', async () => {
    const read = await modernAsk(assay.url, 'resources/read', { params: { uri: 'modern://a' } });
    expect(at(read, 'result')).toEqual({
      resultType: 'complete',
      contents: [{ uri: 'modern://a', text: 'modern' }],
      ttlMs: 5,
      cacheScope: 'public',
      _meta: { [`${META}serverInfo`]: { name: 'modern', version: '1.0.0' } },
    });
  });

  describe('whose headers contradict its body gets HTTP 400 and -32020', () => {
    const params = { name: 'plain_echo', arguments: {} };
    const wrong: readonly (readonly [string, Record<string, string>])[] = [
      ['another Mcp-Method', { 'mcp-method': 'tools/list' }],
      ['an Mcp-Method in capitals', { 'mcp-method': 'TOOLS/CALL' }],
      ['another Mcp-Name', { 'mcp-name': 'plain_add' }],
      ['an Mcp-Name that decodes to another', { 'mcp-name': '=?base64?cGxhaW5fYWRk?=' }],
      ['another MCP-Protocol-Version', { 'mcp-protocol-version': '2025-11-25' }],
    ];
    it.each(wrong)('%s', async (_what, headers) => {
      const answer = await modernSend(assay.url, 'tools/call', { params, headers, id: 'x' });
      expect([answer.status, at(answer.json(), 'error', 'code'), at(answer.json(), 'id')]).toEqual([
        400,
        -32020,
        'x',
      ]);
    });

    it.each(['mcp-method', 'mcp-name', 'mcp-protocol-version'])('missing %s', async (absent) => {
      const headers = Object.fromEntries(
        Object.entries(modernHeaders('tools/call', params)).filter(([name]) => name !== absent),
      );
      const answer = await send(assay.url, { headers, body: modernBody('tools/call', { params }) });
      expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32020]);
    });
  });

  it('may encode Mcp-Name in Base64', async () => {
    const answer = await modernSend(assay.url, 'tools/call', {
      params: { name: 'plain_echo', arguments: {} },
      headers: { 'mcp-name': `=?base64?${Buffer.from('plain_echo').toString('base64')}?=` },
    });
    expect(answer.status).toBe(200);
  });

  it.each(['protocolVersion', 'clientCapabilities'])(
    'without %s in its envelope gets 400 and -32602',
    async (key) => {
      const body = JSON.parse(modernBody('tools/list')) as { params: { _meta: Record<string, Json> } };
      body.params._meta = Object.fromEntries(
        Object.entries(body.params._meta).filter(([name]) => name !== `${META}${key}`),
      );
      const answer = await send(assay.url, {
        headers: modernHeaders('tools/list'),
        body: JSON.stringify(body),
      });
      expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32602]);
    },
  );

  it('without clientInfo is served: it is optional', async () => {
    const body = modernBody('tools/list').replace(/"io\.modelcontextprotocol\/clientInfo":\{[^}]*\},/, '');
    expect(body).not.toContain('clientInfo');
    const answer = await send(assay.url, { headers: modernHeaders('tools/list'), body });
    expect(answer.status).toBe(200);
  });

  it.each(['1900-01-01', '2099-01-01', 'x'])(
    'with version %s gets 400, -32022 and the supported ones',
    async (version) => {
      const answer = await modernSend(assay.url, 'tools/list', {
        meta: { [`${META}protocolVersion`]: version },
        headers: { 'mcp-protocol-version': version },
      });
      expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([400, -32022]);
      expect(at(answer.json(), 'error', 'data', 'requested')).toBe(version);
      expect(listAt(answer.json(), 'error', 'data', 'supported')).toContain('2026-07-28');
    },
  );

  it.each(['no/such', 'initialize', 'ping', 'logging/setLevel', 'resources/subscribe'])(
    'gets HTTP 404 and -32601 for %s, which this era lacks',
    async (method) => {
      const answer = await modernSend(assay.url, method, { params: {} });
      expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([404, -32601]);
    },
  );

  it('gets HTTP 200 with the error of the server: an unknown tool is a result of the call', async () => {
    const answer = await modernSend(assay.url, 'tools/call', { params: { name: 'none', arguments: {} } });
    expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([200, -32602]);
    expect(at(answer.json(), 'error', 'data', 'code')).toBe('TOOL_UNKNOWN');
  });

  it('may send a session or event id: both are ignored, and none is returned', async () => {
    const answer = await modernSend(assay.url, 'tools/list', {
      headers: { 'mcp-session-id': 'stale', 'last-event-id': '7' },
    });
    expect(answer.status).toBe(200);
    expect(answer.headers).not.toHaveProperty('mcp-session-id');
  });

  it('needs no earlier request: the first message on a new connection may be a call', async () => {
    const [one, two] = await Promise.all(
      [1, 2].map(() =>
        modernAsk(assay.url, 'tools/call', { params: { name: 'plain_label', arguments: {} } }),
      ),
    );
    expect([at(one, 'result', 'content', 0, 'text'), at(two, 'result', 'content', 0, 'text')]).toEqual([
      'plain',
      'plain',
    ]);
  });
});
