import { beforeAll, describe, expect, it } from 'vitest';
import type { Gateway } from '../support/assay.ts';
import { startGateway } from '../support/gateway.ts';
import { send } from '../support/http.ts';
import { at, listAt, namesAt } from '../support/json.ts';
import { openSession } from '../support/legacy.ts';
import { modernAsk, modernCall } from '../support/modern.ts';
import { fixture } from '../support/paths.ts';

describe('the endpoints', () => {
  let assay: Gateway;
  let base: string;
  beforeAll(async () => {
    assay = await startGateway({
      servers: {
        one: fixture('named', ['same', 'first', '--label=one']),
        two: fixture('named', ['same', 'second', '--label=two']),
        dead: { command: 'no-such-command-anywhere' },
      },
    });
    base = `http://127.0.0.1:${assay.port}`;
    await assay.settled();
  });

  it.each(['/mcp/all'])('%s shows the tools of all servers with their prefixes', async (path) => {
    const session = await openSession(base + path);
    expect([...namesAt(await session.ask('tools/list'), 'result', 'tools')].sort()).toEqual([
      'one_first',
      'one_same',
      'two_same',
      'two_second',
    ]);
    expect(namesAt(await modernAsk(base + path, 'tools/list'), 'result', 'tools')).toEqual(
      namesAt(await session.ask('tools/list'), 'result', 'tools'),
    );
  });

  it('/mcp/servers/<name> shows one server with its original names, in both eras', async () => {
    const session = await openSession(`${base}/mcp/servers/two`);
    expect(namesAt(await session.ask('tools/list'), 'result', 'tools')).toEqual(['same', 'second']);
    expect(await session.call('same')).toBe('two:same');
    expect(namesAt(await modernAsk(`${base}/mcp/servers/one`, 'tools/list'), 'result', 'tools')).toEqual([
      'same',
      'first',
    ]);
    expect(await modernCall(`${base}/mcp/servers/one`, 'same')).toBe('one:same');
    expect(namesAt(await session.ask('prompts/list'), 'result', 'prompts')).toEqual(['same', 'second']);
  });

  it('/mcp/servers/<name> cannot reach another server, by whatever name', async () => {
    const session = await openSession(`${base}/mcp/servers/two`);
    for (const name of ['first', 'one_first', 'one_same']) {
      const answer = await session.ask('tools/call', { name, arguments: {} });
      expect(at(answer, 'error', 'data', 'code')).toBe('TOOL_UNKNOWN');
    }
  });

  it('/mcp/all does not accept names without prefix', async () => {
    const session = await openSession(assay.url);
    const answer = await session.ask('tools/call', { name: 'first', arguments: {} });
    expect(at(answer, 'error', 'data', 'code')).toBe('TOOL_UNKNOWN');
  });

  it('a session belongs to its endpoint', async () => {
    const session = await openSession(`${base}/mcp/servers/two`);
    const answer = await send(`${base}/mcp/servers/one`, {
      headers: session.headers,
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
    expect(answer.status).toBe(404);
  });

  it.each(['/mcp/servers/none', '/mcp/none', '/mcp/servers/', '/mcpx', '/x', '/mcp/servers/one/two'])(
    '%s does not exist: 404',
    async (path) => {
      const answer = await send(base + path, {
        headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
        body: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      });
      expect(answer.status).toBe(404);
    },
  );

  it.each(['PUT', 'PATCH', 'HEAD', 'OPTIONS'])(
    '%s is not allowed: 405, with the allowed methods',
    async (method) => {
      const answer = await send(assay.url, { method });
      expect(answer.status).toBe(405);
      expect(answer.headers.allow).toContain('POST');
    },
  );

  it('/health reports the state of each server and why one failed', async () => {
    const health = await assay.health();
    expect(at(health, 'version')).toEqual(expect.any(String));
    expect(listAt(health, 'servers').map((one) => [at(one, 'name'), at(one, 'state')])).toEqual([
      ['one', 'up'],
      ['two', 'up'],
      ['dead', 'refused'],
    ]);
    expect(at(health, 'servers', 2, 'cause')).toContain('no-such-command-anywhere');
    expect(at(health, 'servers', 0, 'era')).toBe('legacy');
  });

  it('the query of a URL is not part of its path', async () => {
    expect((await send(`${base}/health?x=1`, { method: 'GET' })).status).toBe(200);
  });
});
