import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, it } from 'vitest';
import { startAssay, type Assay } from '../support/assay.ts';
import { textIn } from '../support/clients.ts';
import { endLater, kill, until } from '../support/endings.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { newDatabase } from '../support/postgres.ts';
import { bearer, keepToken } from '../support/tokens.ts';
import { formOf } from '../support/questions.ts';

const SERVERS = {
  plain: fixture('plain'),
  m: fixture('notifier', ['--era=legacy']),
  own: fixture('asking', ['--era=legacy'], { isolation: 'session' }),
};

/** The client that most programs have, behind a balancer that the test directs. */
async function connect(
  token: string,
  target: () => Assay,
): Promise<{ readonly client: Client; readonly heard: { updates: string[]; lists: number }; asked: number }> {
  const client = new Client({ name: 'official', version: '1' }, { capabilities: { elicitation: {} } });
  endLater(() => client.close());
  const state = { client, heard: { updates: [] as string[], lists: 0 }, asked: 0 };
  client.setRequestHandler(ElicitRequestSchema, () => {
    state.asked += 1;
    return { action: 'accept' as const, content: { name: 'Ada' } };
  });
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    state.heard.updates.push(params.uri);
  });
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    state.heard.lists += 1;
  });
  client.setNotificationHandler(LoggingMessageNotificationSchema, () => undefined);
  const transport = new StreamableHTTPClientTransport(new URL('http://127.0.0.1:1/mcp/all'), {
    requestInit: { headers: bearer(token) },
    reconnectionOptions: {
      initialReconnectionDelay: 50,
      maxReconnectionDelay: 200,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 100,
    },
    fetch: (url, init) => fetch(String(url).replace(':1/', `:${target().port}/`), init),
  });
  await client.connect(transport);
  return state;
}

describe('an official client 1.x', () => {
  it('goes on at another replica after kill -9 of its own, as if nothing had happened', async () => {
    const databaseUrl = await newDatabase();
    const env = { ASSAY_DATABASE_URL: databaseUrl, ASSAY_MCP_ACCESS: 'token' };
    const token = await keepToken(tempDir(), 'ada', { scopes: ['mcp'], databaseUrl });
    const start = (): Promise<Assay> => startAssay({ servers: SERVERS, env });
    const replicas = await Promise.all([start(), start()]);
    const [one, two] = replicas;
    let target = one;
    const state = await connect(token, () => target);
    const { client, heard } = state;
    const call = async (name: string, args = {}): Promise<string> =>
      textIn(await client.callTool({ name, arguments: args }));
    await client.setLoggingLevel('error');
    await client.subscribeResource({ uri: 'note://one' });
    const pid = await call('own_pid');
    target = two;
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain('plain_echo');
    expect(await call('plain_echo', { text: 'at two' })).toContain('at two');
    target = one;
    expect(await call('own_pid')).toBe(pid);

    kill(one.pid, 'SIGKILL');
    target = two;
    expect(await call('plain_echo', { text: 'after' })).toContain('after');
    await until('its stream is back', () => (heard.updates.length > 0 && heard.lists > 0 ? true : undefined));
    const lost = await client.callTool({ name: 'own_pid', arguments: {} });
    expect([lost.isError, textIn(lost)]).toEqual([
      true,
      expect.stringContaining('Server "own" ran in a process'),
    ]);
    expect(await call('own_pid')).not.toBe(pid);
    expect(await call('own_ask', { rounds: [[formOf('Who?')]] })).toContain('Ada');
    expect(state.asked).toBe(1);
  });

  it('goes on with SQLite after kill -9 and a restart', async () => {
    const home = tempDir();
    const token = await keepToken(home, 'ada', { scopes: ['mcp'] });
    const start = (): Promise<Assay> =>
      startAssay({ servers: SERVERS, home, env: { ASSAY_MCP_ACCESS: 'token' } });
    let target = await start();
    const { client, heard } = await connect(token, () => target);
    await client.subscribeResource({ uri: 'note://one' });
    kill(target.pid, 'SIGKILL');
    target = await start();
    expect(textIn(await client.callTool({ name: 'plain_echo', arguments: { text: 'x' } }))).toContain('x');
    await until('its stream is back', () => (heard.updates.length > 0 && heard.lists > 0 ? true : undefined));
  });
});
