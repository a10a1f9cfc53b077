import { beforeAll, describe, expect, it } from 'vitest';
import { adminClient, verdictOf, type AdminClient } from '../support/admin.ts';
import type { Gateway } from '../support/assay.ts';
import { connectClient } from '../support/clients.ts';
import { startGateway } from '../support/gateway.ts';
import { at, isObject, listAt, numberAt, parseJson, textAt } from '../support/json.ts';
import { fixture, tempDir } from '../support/paths.ts';
import { keepToken } from '../support/tokens.ts';

const SECRET = 'hunter2-of-the-leaking-server';
const PLAIN = fixture('plain');
/** Writes its process id and a secret to stderr, in color, and then runs a real server. */
const TELLING = [
  '-c',
  'printf "\\033[31mpid %s\\033[0m\\n" $$ >&2; echo "key $KEY" >&2; exec "$0" "$@"',
  textAt(PLAIN, 'command'),
  ...listAt(PLAIN, 'args'),
];

const home = tempDir();
let assay: Gateway;
let admin: AdminClient;
let reader: AdminClient;
beforeAll(async () => {
  const [all, less] = await Promise.all([
    keepToken(home, 'boss', { scopes: ['admin', 'execute'] }),
    keepToken(home, 'reader', { scopes: ['read'] }),
  ]);
  assay = await startGateway({
    servers: {
      telling: { command: 'sh', args: TELLING, env: { KEY: SECRET } },
      other: fixture('plain'),
    },
    home,
  });
  await assay.settled();
  [admin, reader] = [adminClient(assay, all), adminClient(assay, less)];
});

async function linesOf(
  name: string,
  query = '',
): Promise<readonly { id: number; from: string; text: string }[]> {
  const { lines } = (await admin.get(`/gateways/${name}/logs${query}`)).json() as unknown as {
    readonly lines: readonly { id: number; from: string; text: string }[];
  };
  return lines;
}

async function pidOf(name: string): Promise<number> {
  const told = (await linesOf(name)).findLast(({ text }) => text.startsWith('pid '));
  return Number(told?.text.slice(4));
}

it('the last lines of a server are shown to admins only, with secrets masked and without colors', async () => {
  const lines = await linesOf('telling');
  expect(lines.filter(({ from }) => from === 'stderr').map(({ text }) => text)).toEqual([
    expect.stringMatching(/^pid \d+$/),
    expect.stringMatching(/^key (?!hunter2)/),
  ]);
  expect(lines.at(-1)).toMatchObject({
    from: 'assay',
    text: expect.stringMatching(/^server is up/) as string,
  });
  expect(await linesOf('telling', `?after=${lines[0]?.id}`)).toEqual(lines.slice(1));
  expect((await linesOf('other')).filter(({ from }) => from === 'stderr')).toEqual([]);
  expect(verdictOf(await reader.get('/gateways/telling/logs'))).toBe('403 SCOPE_MISSING');
  expect(verdictOf(await admin.get('/gateways/telling/logs?after=-1'))).toBe('400 QUERY_INVALID');
  expect(verdictOf(await admin.get('/gateways/nothing/logs'))).toBe('404 SERVER_UNKNOWN');
});

it("a restart ends the process and starts another; clients' calls continue", async () => {
  const client = await connectClient({ url: assay.url }, 'modern');
  const before = await pidOf('telling');
  const restarted = await admin.post('/gateways/telling/restart');
  expect([verdictOf(restarted), textAt(restarted.json(), 'state')]).toEqual(['200', 'up']);
  const after = await pidOf('telling');
  expect(after).not.toBe(before);
  expect(() => process.kill(before, 0)).toThrow('ESRCH');
  const answer = await client.callTool({ name: 'telling_echo', arguments: { text: 'again' } });
  expect(JSON.stringify(answer)).toContain('again');
  const told = (await linesOf('telling')).map(({ text }) => text);
  expect(told).toContain('an operator restarts the server');
  expect(verdictOf(await reader.post('/gateways/telling/restart'))).toBe('403 SCOPE_MISSING');
});

it('a restart of a server that cannot start says why', async () => {
  const input = { name: 'wrong', command: '/nowhere/to-be-found' };
  expect(verdictOf(await admin.post('/gateways', input))).toBe('201');
  const restarted = (await admin.post('/gateways/wrong/restart')).json();
  expect([textAt(restarted, 'state'), textAt(restarted, 'causeCode')]).toEqual([
    'refused',
    'COMMAND_NOT_FOUND',
  ]);
  expect(verdictOf(await admin.ask('PATCH', '/gateways/wrong', { body: { enabled: false } }))).toBe('200');
  expect(verdictOf(await admin.post('/gateways/wrong/restart'))).toBe('502 SERVER_UNAVAILABLE');
});

describe('help for choosing tools', () => {
  it('the ranked search returns the best match first, and token costs are counted per tool', async () => {
    const found = (await admin.get('/catalog/search?query=echo&limit=2')).json();
    expect(listAt(found, 'tools').every((name) => String(name).endsWith('.echo'))).toBe(true);
    expect(verdictOf(await admin.get('/catalog/search?query=echo&limit=101'))).toBe('400 QUERY_INVALID');
    expect(verdictOf(await admin.get('/catalog/search'))).toBe('400 QUERY_INVALID');
    const costs = at((await admin.get('/catalog/costs')).json(), 'tokens');
    expect(isObject(costs) && Object.keys(costs)).toContain('telling.echo');
    const tokens = numberAt(costs, 'telling.echo');
    expect(tokens).toBeGreaterThan(5);
    await admin.post('/toolsets', { name: 'counted', tools: ['telling.echo'] });
    const counted = at((await admin.get('/catalog/costs')).json(), 'toolsets', 'counted');
    expect(counted).toEqual({ tools: 1, tokens });
    await admin.ask('DELETE', '/toolsets/counted');
  });

  it('snippets contain the endpoint of the toolset, and the command that starts this program', async () => {
    expect(verdictOf(await admin.post('/toolsets', { name: 'one', tools: ['other.echo'] }))).toBe('201');
    const told = (await reader.get('/snippets?toolset=one')).json();
    const clients = listAt(told, 'clients');
    const code = clients.find((client) => textAt(client, 'id') === 'claude-code') ?? null;
    expect(parseJson(textAt(code, 'http'))).toEqual({
      mcpServers: { assay: { type: 'http', url: `http://127.0.0.1:${assay.port}/mcp/toolsets/one` } },
    });
    const vscode = clients.find((client) => textAt(client, 'id') === 'vscode') ?? null;
    expect(parseJson(textAt(vscode, 'stdio'))).toEqual({
      servers: {
        assay: {
          type: 'stdio',
          command: process.execPath,
          args: expect.arrayContaining(['stdio', '--attach', '--toolset', 'one', '--home', home]) as string[],
        },
      },
    });
    expect(
      at(
        clients.find((client) => textAt(client, 'id') === 'claude-desktop'),
        'http',
      ),
    ).toBe(undefined);
    expect(verdictOf(await reader.get('/snippets?toolset=none'))).toBe('404 TOOLSET_UNKNOWN');
  });
});

it('a killed server is down with its cause, also in its lines, and recovers', async () => {
  process.kill(await pidOf('telling'), 'SIGKILL');
  const patience = { timeout: 20_000 };
  await expect
    .poll(async () => (await linesOf('telling')).map(({ text }) => text), patience)
    .toContainEqual(expect.stringMatching(/^server is down: .*SIGKILL/));
  await expect
    .poll(async () => textAt((await admin.get('/gateways/telling')).json(), 'state'), patience)
    .toBe('up');
});
