import { beforeAll, describe, expect, it } from 'vitest';
import { refuse as refuseMethod, startMade } from '../fixtures/http-made.ts';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { endLater } from '../support/endings.ts';
import { openStream, send } from '../support/http.ts';
import { at } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { envelope, modernBody, modernHeaders, modernSend } from '../support/modern.ts';
import { toolOf } from '../fixtures/peer.ts';
import { fixture } from '../support/paths.ts';

/** A server whose tool fails with the given code. */
async function startRefusing(era: 'legacy' | 'modern'): Promise<string> {
  const made = await startMade({
    era,
    tools: [toolOf('refuse')],
    own: ({ incoming, response, write }) => {
      if (incoming.method !== 'tools/call') return false;
      const code = Number(at(incoming.params, 'arguments', 'code'));
      if (code === -32601) refuseMethod(response, incoming, era === 'modern' ? 404 : 200);
      else write(JSON.stringify({ jsonrpc: '2.0', id: incoming.id, error: { code, message: 'm' } }));
      return true;
    },
  });
  endLater(() => made.close());
  return made.url;
}

describe('the HTTP status of a response to a modern client', () => {
  let assay: Gateway;
  beforeAll(async () => {
    const [legacy, modern] = await Promise.all([startRefusing('legacy'), startRefusing('modern')]);
    assay = await startGateway({
      servers: {
        l: { type: 'http', url: legacy },
        m: { type: 'http', url: modern },
        plain: fixture('plain'),
      },
    });
    await assay.settled();
  });

  const check = async (name: string, code: number, status: number): Promise<void> => {
    const params = { name, arguments: { code } };
    const answer = await modernSend(assay.url, 'tools/call', { params });
    expect([name, code, answer.status, at(answer.json(), 'error', 'code')]).toEqual([
      name,
      code,
      status,
      code,
    ]);
    const session = await openSession(assay.url);
    expect(at(await session.ask('tools/call', params), 'error', 'code')).toBe(code);
  };

  it('follows from the error code of a server whose era has the code', async () => {
    for (const name of ['l_refuse', 'm_refuse']) await check(name, -32601, 404);
    for (const code of [-32020, -32021, -32022]) {
      await check('m_refuse', code, 400);
      await check('l_refuse', code, 200);
    }
    for (const code of [-32602, -32603, -32000, 7]) {
      await check('m_refuse', code, 200);
      await check('l_refuse', code, 200);
    }
  });

  it('is also sent to a client that accepts streams only', async () => {
    const headers = { ...modernHeaders('no/such'), accept: 'text/event-stream' };
    const answer = await send(assay.url, { headers, body: modernBody('no/such') });
    expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([404, -32601]);
    const params = { name: 'plain_label', arguments: {} };
    const stream = await openStream(assay.url, {
      headers: { ...modernHeaders('tools/call', params), accept: 'text/event-stream' },
      body: modernBody('tools/call', { params }),
    });
    await stream.ended;
    expect([stream.status, stream.headers['content-type']]).toEqual([200, 'text/event-stream']);
    expect(stream.messages().map((one) => at(one, 'result', 'content', 0, 'text'))).toEqual(['plain']);
  });

  it('is 404 for lists that no server has, while a legacy client gets an empty one', async () => {
    const url = `http://127.0.0.1:${assay.port}/mcp/servers/m`;
    for (const method of ['prompts/list', 'resources/list', 'resources/templates/list']) {
      const answer = await modernSend(url, method);
      expect([answer.status, at(answer.json(), 'error', 'code')]).toEqual([404, -32601]);
    }
    expect(at(await (await openSession(url)).ask('prompts/list'), 'result', 'prompts')).toEqual([]);
  });

  it.each(['GET', 'DELETE', 'PUT'])('is 405 for %s, which its revision lacks', async (method) => {
    const answer = await send(assay.url, {
      method,
      headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-session-id': 'x', accept: 'text/event-stream' },
    });
    expect([answer.status, answer.headers.allow]).toEqual([405, 'POST']);
    expect(answer.json()).not.toHaveProperty('id');
  });

  it('is 202 without a body for a notification, whatever its headers', async () => {
    const notification = (params: object): string =>
      JSON.stringify({ jsonrpc: '2.0', method: 'notifications/x', params });
    const bare = { 'content-type': 'application/json' };
    for (const [headers, body] of [
      [{ ...bare, 'mcp-protocol-version': '2026-07-28' }, notification({})],
      [{ ...bare, 'mcp-protocol-version': '2026-07-28' }, notification({ _meta: envelope() })],
      [bare, notification({ _meta: envelope() })],
    ] as const) {
      const answer = await send(assay.url, { headers, body });
      expect([answer.status, answer.text]).toEqual([202, '']);
    }
  });

  it('is 400 for a duplicate header, also if both values together are the name', async () => {
    const params = { name: 'a, b', arguments: {} };
    const post = (name: string | readonly string[]): ReturnType<typeof send> =>
      send(assay.url, {
        headers: { ...modernHeaders('tools/call', params), 'mcp-name': name },
        body: modernBody('tools/call', { params }),
      });
    const twice = await post(['a', 'b']);
    expect([twice.status, at(twice.json(), 'error', 'code')]).toEqual([400, -32020]);
    const once = await post('a, b');
    expect([once.status, at(once.json(), 'error', 'data', 'code')]).toEqual([200, 'TOOL_UNKNOWN']);
  });

  it('reports a contradiction about the revision before the revision, and the revision before other headers', async () => {
    const meta = { 'io.modelcontextprotocol/protocolVersion': '2099-01-01' };
    const other = await modernSend(assay.url, 'tools/list', { meta });
    expect([other.status, at(other.json(), 'error', 'code')]).toEqual([400, -32020]);
    const headers = { 'mcp-protocol-version': '2099-01-01', 'mcp-method': 'else' };
    const unknown = await modernSend(assay.url, 'tools/list', { meta, headers });
    expect([unknown.status, at(unknown.json(), 'error', 'code')]).toEqual([400, -32022]);
    expect(at(unknown.json(), 'error', 'data', 'supported')).toEqual(['2026-07-28']);
  });
});
